"""``ingram tune``."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.options import AllowLeaks, Json, Several, Threads, parse_settings, use_threads
from ingram.cli.screen import console, describe, note, print_json
from ingram.cli.soundness import insist_on_sound
from ingram.cli.train import STATUS
from ingram.cli.training_screen import TrainingScreen
from ingram.datasets import open_dataset
from ingram.errors import ConfigError
from ingram.experiments.environment import command_line
from ingram.experiments.tuning import Hearing, Search, run_trials, write_best
from ingram.experiments.tuning_page import write_tuning_report
from ingram.graph import Dataset
from ingram.io.atomic import make_folders
from ingram.training import preset_config
from ingram.training.locks import locked


def tune_command(
    data: Several,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the study.")],
    preset: Annotated[
        str,
        typer.Option(help="Where to start: [bold]paper[/], [bold]default[/], [bold]ingram-q[/]."),
    ] = "paper",
    trials: Annotated[
        int, typer.Option(min=1, help="Stop at so many, those of earlier calls included.")
    ] = 20,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Of a trial; by default, a tenth of the preset's.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of every trial, and of the search.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Change a setting that the search starts from.",
            metavar="SECTION.KEY=VALUE",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that try at the same time.")] = 1,
    allow_leaks: AllowLeaks = False,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Search for better settings by validation; needs the extra `tune`.

    The space is appendix C of the paper for the embedding model, and its own for ingram-q. Trials
    that fall behind are ended early. Kill it at any time: the same command goes on. The best
    settings are in best.yaml, with the preset's epochs: `ingram train DATA --config best.yaml`.
    """
    changes = parse_settings(settings or [])
    if "training.seed" in changes:
        raise ConfigError("training.seed: every trial has the search's own; give --seed")
    config = preset_config(preset, changes)
    epochs = epochs or max(1, config.training.epochs // 10)
    search = Search(output, config, trials, epochs, seed)
    make_folders(output)
    command = command_line()
    datasets = _datasets(data, seed, allow_leaks)
    for dataset in datasets:
        note(describe(dataset))
    with locked(output):
        search.prepare()
        if workers == 1:
            use_threads(threads)
            stopped = run_trials(search, datasets, _screen(quiet=as_json), note, command)
        else:
            stopped = _together(search, workers, (data, seed, allow_leaks, threads, command))
        study = search.study()
        best = write_best(search, study, command)
        write_tuning_report(search, study, command)
    if as_json:
        about = {"best": best and str(best), "ended": search.ended(study), "stopped": stopped}
        value = study.best_trial.value if best else None
        print_json({**about, "mrr": value, "params": study.best_trial.params if best else None})
    else:
        if best:
            console.print(f"best settings: {best}", highlight=False, soft_wrap=True)
        console.print(f"report: {output / 'report.html'}", highlight=False, soft_wrap=True)
    if stopped:
        note("stopped; the same command goes on")
        raise typer.Exit(STATUS[stopped])


def _screen(*, quiet: bool) -> Hearing:
    return lambda title: TrainingScreen(quiet=quiet, title=title)


Given = tuple[list[Path], int, bool, int | None, str]


def _together(search: Search, workers: int, given: Given) -> str | None:
    """Several processes on one study; each reads the data for itself."""
    start_anew = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=start_anew) as pool:
        ways = [pool.submit(_work, search, number, given) for number in range(workers)]
        return next((stopped for way in ways if (stopped := way.result())), None)


def _work(search: Search, number: int, given: Given) -> str | None:
    data, seed, allow_leaks, threads, command = given
    use_threads(threads or 1)
    datasets = _datasets(data, seed, allow_leaks)
    return run_trials(search, datasets, _screen(quiet=True), note, command, number)


def _datasets(data: list[Path], seed: int, allow_leaks: bool) -> list[Dataset]:
    datasets = [open_dataset(one, seed=seed) for one in data]
    for dataset in datasets:
        insist_on_sound(dataset, allow_leaks=allow_leaks)
    return datasets
