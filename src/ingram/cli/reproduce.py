"""``ingram reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ingram.cli.options import AllowLeaks, Json, Threads, use_threads, want_folder
from ingram.cli.screen import console, note, plain_table, print_json, printable
from ingram.cli.soundness import insist_on_sound
from ingram.cli.train import STATUS
from ingram.cli.training_screen import TrainingScreen
from ingram.datasets import open_dataset
from ingram.datasets.registry import NAMES, cache_folder
from ingram.errors import ConfigError
from ingram.experiments.comparison import comparison_page
from ingram.experiments.environment import command_line
from ingram.experiments.methods import (
    Method,
    check_distinct,
    file_method,
    fixed_method,
    preset_method,
)
from ingram.experiments.plans import EXPERIMENTS, OF_THE_PAPER, cells_of, rows_of
from ingram.experiments.presenting import sections, title
from ingram.experiments.results import collect, collect_sizes, portable, stamped, write_results
from ingram.experiments.rows import measured
from ingram.experiments.sweep import Sweep
from ingram.graph import Dataset
from ingram.io.atomic import make_folders, write_text

CHOICES = (*EXPERIMENTS, "sizes", "all")


def reproduce_command(
    experiment: Annotated[str, typer.Argument(help=f"One of {', '.join(CHOICES)}.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Where runs are: DATASET/METHOD/seed-N in it."),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder of datasets; by default, those in the cache.", metavar="FOLDER"
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(
            help="With commas between; by default, the paper's that are there.", metavar="NAME,..."
        ),
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(
            help="Train and test this: [bold]paper[/] (if nothing else is asked for), "
            "[bold]default[/], [bold]ingram-q[/]; may be repeated."
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Train the presets from the weights of this run.", metavar="RUN"
        ),
    ] = None,
    settings: Annotated[
        list[Path] | None,
        typer.Option(
            "--config",
            help="Train and test settings from a file, such as the best.yaml of `ingram tune`; the "
            "row is called as the file is. May be repeated.",
            metavar="FILE",
        ),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            "--run",
            help="Test these weights as they are, shipped ones such as [bold]zero-shot[/] too; may "
            "be repeated.",
            metavar="RUN",
        ),
    ] = None,
    seeds: Annotated[str, typer.Option(help="With commas between.", metavar="N,...")] = "0,1,2",
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Of each run; by default, its preset's.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Of each run, at most.")] = None,
    no_train: Annotated[
        bool, typer.Option("--no-train", help="Test and gather the runs that are there.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            help="Put the results into this JSON, too; see `ingram runs page`.", metavar="FILE"
        ),
    ] = None,
    allow_leaks: AllowLeaks = False,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Reproduce the paper's tables and figures: train what is missing, test, compare.

    main: table 1; known-new: table 2; known-relations: table 3; ablation: table 4; bins: figure 4
    and B in 1, 5, 10; sizes: tables 5 and 6; all of these: all. cross: each dataset by a model
    trained on the others. A finished run is never trained again; after an interruption the same
    command goes on. --epochs or --minutes below the preset's give a short run, and it is called so.
    """
    use_threads(threads)
    if experiment not in CHOICES:
        raise ConfigError(f"no experiment {experiment!r}; known are {', '.join(CHOICES)}")
    names = list(OF_THE_PAPER) if experiment == "all" else [experiment]
    chosen = _chosen(preset, start, settings or [], runs or [])
    want_folder(write)
    places = _places(data, datasets)
    found = {name: _datasets_of(name, places, datasets, experiment == "all") for name in names}
    if not any(found.values()):
        wanted = ", ".join(EXPERIMENTS[names[0]].datasets if names[0] in EXPERIMENTS else NAMES)
        raise ConfigError(
            f"{experiment}: want datasets such as {wanted}, found none in "
            f"{data or cache_folder() / 'datasets'}; say where they are with --data"
        )

    def read(name: str, seed: int) -> Dataset:
        dataset = open_dataset(places[name], seed=seed)
        insist_on_sound(dataset, allow_leaks=allow_leaks)
        return dataset

    sweep = Sweep(
        output,
        places,
        read,
        lambda heading: TrainingScreen(quiet=as_json, title=heading),
        note,
        epochs,
        minutes,
        training=not no_train,
        words=() if threads is None else ("--threads", str(threads)),
    )
    numbers = _numbers(seeds)
    tables = {n: rows_of(EXPERIMENTS[n], found[n], chosen) for n in names if n in EXPERIMENTS}
    cells = list(
        dict.fromkeys(cell for rows in tables.values() for cell in cells_of(rows, numbers))
    )
    sweep.check(cells)
    if stopped := sweep.go(cells):
        note("stopped; the same command goes on")
        raise typer.Exit(STATUS[stopped])
    entries, tested = {}, {}
    for name in names:
        if name in tables:
            rows = tables[name]
            tested[name] = {d: measured(output, d, rows[d], numbers) for d in rows}
            entry = collect(name, output, rows, numbers)
        else:
            entry = collect_sizes(found[name], read)
        entries[name] = stamped(entry, command_line())
    make_folders(output)
    report = output / f"{experiment}.html"
    write_text(report, comparison_page(f"ingram reproduce {experiment}", entries, tested))
    write_results(output / f"{experiment}.json", entries)
    if write is not None:
        write_results(write, {name: portable(entry) for name, entry in entries.items()})
    _show(entries, report, as_json)


def _chosen(
    presets: Sequence[str] | None, start: Path | None, files: Sequence[Path], runs: Sequence[Path]
) -> list[Method]:
    """What was asked for; the paper's preset if nothing was."""
    if presets is None and not files and not runs:
        presets = ["paper" if start is None else "default"]
    methods = [preset_method(name, start) for name in presets or []]
    methods += [*map(file_method, files), *map(fixed_method, runs)]
    if start is not None and not presets:
        raise ConfigError("--from wants a --preset to train")
    check_distinct(methods)
    return methods


def _show(entries: dict[str, dict[str, Any]], report: Path, as_json: bool) -> None:
    if as_json:
        print_json(entries)
        return
    for name, entry in entries.items():
        console.print(printable(title(name)[0]), style="bold")
        for section in sections(name, entry):
            console.print(plain_table(section.title, section.table, whole=True))
            if section.text:
                console.print(section.text, markup=False, highlight=False)
    console.print(f"report: {report}", highlight=False, soft_wrap=True)


def _places(data: Path | None, datasets: str | None) -> dict[str, str]:
    """Each dataset's name and what opens it: a folder of that name wins over a known name."""
    folder = cache_folder() / "datasets" if data is None else data
    if data is not None and not data.is_dir():
        raise ConfigError(f"{data}: want a folder of datasets, found none")
    if datasets is not None:
        wanted = list(dict.fromkeys(n.strip() for n in datasets.split(",") if n.strip()))
    else:
        wanted = [name for name in NAMES if (folder / name).is_dir()]
    return {name: str(folder / name) if (folder / name).exists() else name for name in wanted}


def _datasets_of(name: str, places: dict[str, str], asked: str | None, among: bool) -> list[str]:
    """Those asked for; else, and always among all experiments, those of its own that are there."""
    if name == "sizes" or (asked is not None and not among):
        return list(places)
    return [dataset for dataset in EXPERIMENTS[name].datasets if dataset in places]


def _numbers(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not all(word.isdecimal() for word in words):
        raise ConfigError(f"--seeds: want whole numbers with commas between, got {text!r}")
    return list(dict.fromkeys(map(int, words)))
