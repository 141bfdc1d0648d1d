"""``ingram calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import typer

from ingram.answers.calibration import Calibration
from ingram.cli.options import (
    AllowLeaks,
    Draws,
    FeatureSeed,
    Json,
    RunOrGraph,
    Threads,
    run_and_graph,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, error_console, figure, plain_table, print_json
from ingram.cli.soundness import insist_on_sound
from ingram.datasets import open_dataset
from ingram.experiments.reliability import renew_calibration
from ingram.experiments.report import write_report
from ingram.inference.calibrating import calibrate, own_run
from ingram.io.options import ReadOptions
from ingram.models.shipped import run_path
from ingram.training.checkpoints import RunDirectory


@reads_a_graph
def calibrate_command(
    first: RunOrGraph,
    reading: ReadOptions,
    second: Annotated[
        Path | None,
        typer.Argument(
            help="A dataset with validation triples: a folder, one triples file (a part of it is "
            "held out), a benchmark's name or [bold]world[/].",
            metavar="DATA",
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Keep it in a new run directory with a copy of the weights."
        ),
    ] = None,
    method: Annotated[
        Literal["auto", "platt", "isotonic"],
        typer.Option(help="How scores become probabilities; auto takes the one that does better."),
    ] = "auto",
    draws: Draws = None,
    seed: FeatureSeed = None,
    allow_leaks: AllowLeaks = False,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Learn on validation triples what a run's scores mean, and keep it with the run.

    Answers then have a probability: the chance that an answer is right, if the question has one
    that is not among the facts. `ingram train` does this at its end; do it anew for a graph of
    another kind. The weights stay as they are. Shipped weights are copied with -o.
    """
    use_threads(threads)
    run, data = run_and_graph(first, second)
    path = run_path(run) if output is not None else own_run(run)
    dataset = open_dataset(data, seed=RunDirectory(path).config().training.seed, options=reading)
    insist_on_sound(dataset, allow_leaks=allow_leaks)
    directory = RunDirectory(output or path)
    with error_console.status("calibrating"):
        found = calibrate(run, dataset, method=method, draws=draws, seed=seed, output=output)
        if not renew_calibration(directory):
            write_report(directory, [dataset])
    if as_json:
        print_json(found.model_dump(mode="json", exclude={"platt", "isotonic"}))
        return
    _print(found)


def _print(found: Calibration) -> None:
    table = pl.DataFrame(
        {
            "method": [f"{n} (used)" if n == found.method else n for n in found.reliability],
            "calibration error": [r.ece for r in found.reliability.values()],
            "Brier score": [r.brier for r in found.reliability.values()],
        }
    )
    console.print(plain_table(f"{found.questions:,} questions of {found.dataset}", table))
    console.print(
        f"true from a score of {figure(found.threshold)}: right of {found.accuracy:.1%} of as many "
        "true as false triples",
        highlight=False,
        soft_wrap=True,
    )
