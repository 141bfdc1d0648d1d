"""``ingram pretrain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.options import (
    Json,
    SaveError,
    SaveErrors,
    Threads,
    changes_of,
    use_threads,
)
from ingram.cli.reading import reads_a_graph, spelled
from ingram.cli.screen import note
from ingram.cli.train import finish
from ingram.cli.training_screen import TrainingScreen
from ingram.datasets import open_dataset, open_source
from ingram.errors import ConfigError
from ingram.experiments.trackers import tracking
from ingram.io.formats import name_of
from ingram.io.options import ReadOptions
from ingram.training import preset_config, train
from ingram.training.checkpoints import RunDirectory
from ingram.training.loop import resume_config
from ingram.training.sources import Source


@reads_a_graph
def pretrain_command(
    graphs: Annotated[
        list[Path],
        typer.Argument(
            help="Graphs to learn on: triples files, or dataset folders, of which the training "
            "graph is taken.",
            metavar="GRAPH...",
        ),
    ],
    reading: ReadOptions,
    output: Annotated[Path, typer.Option("-o", "--output", help="The run directory to write.")],
    validate: Annotated[
        list[Path] | None,
        typer.Option(
            help="A dataset to validate on; may be repeated. With training.keep=best it chooses "
            "the weights: take other domains than the graphs'. By default the embedded "
            "[bold]world[/], which chooses nothing: the presets keep the last.",
            metavar="DATA",
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="Whose settings to start from: [bold]pretrain[/] for ingram-q, "
            "[bold]pretrain-embedding[/] for vectors."
        ),
    ] = "pretrain",
    epochs: Annotated[int | None, typer.Option(min=1, help="Tasks to learn on.")] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after so long; --resume goes on.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of everything random; 0.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the run stopped.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change one setting.", metavar="SECTION.KEY=VALUE"),
    ] = None,
    on_save_error: SaveError = SaveErrors.stop,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Train one set of weights on many graphs, to be applied to any other without training.

    Every epoch cuts a small inductive task out of one of the graphs: what random entities reach
    in two hops, with a random part of the relations, split anew.
    """
    use_threads(threads)
    run = RunDirectory(output)
    if resume:
        if settings or preset != "pretrain" or seed is not None:
            raise ConfigError("a resumed run keeps its seed and settings; only --epochs may change")
        config = resume_config(run, epochs)
    else:
        config = preset_config(preset, changes_of(settings, epochs, seed))
    sources = [Source(name_of(path), open_source(path, reading)) for path in graphs]
    for source in sources:
        note(f"{source.name}: {source.graph!r}")
    datasets = [open_dataset(one, seed=config.training.seed) for one in validate or [Path("world")]]
    with (
        TrainingScreen(quiet=as_json) as screen,
        tracking((), run, config, screen) as listener,
    ):
        outcome = train(
            datasets,
            config,
            run,
            graphs=sources,
            resume=resume,
            minutes=minutes,
            listener=listener,
            on_save_error=on_save_error.value,
        )
    validated = [word for one in validate or [] for word in ("--validate", str(one))]
    words = ["pretrain", *map(str, graphs), *spelled(reading), *validated]
    finish(outcome, run, datasets, words, as_json)
