"""``ingram train``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.options import (
    AllowLeaks,
    Json,
    SaveError,
    SaveErrors,
    Several,
    Threads,
    changes_of,
    use_threads,
)
from ingram.cli.reading import reads_a_graph, spelled
from ingram.cli.screen import console, describe, figure, note, print_json, printable
from ingram.cli.soundness import insist_on_sound
from ingram.cli.training_screen import TrainingScreen
from ingram.datasets import open_dataset
from ingram.errors import ConfigError
from ingram.experiments.environment import command_line
from ingram.experiments.report import write_report
from ingram.experiments.runs import record_outcome
from ingram.experiments.trackers import TRACKERS, tracking
from ingram.graph import Dataset
from ingram.inference.calibrating import calibrate_if_possible
from ingram.io.options import ReadOptions
from ingram.models import load_model
from ingram.training import config_from, load_config, preset_config, train
from ingram.training.checkpoints import RunDirectory
from ingram.training.listener import Outcome
from ingram.training.loop import resume_config

STATUS = {"interrupted": 130, "terminated": 143}
"""What the process says at its end, as a shell would: 128 and the signal's number."""


@reads_a_graph
def train_command(
    data: Several,
    reading: ReadOptions,
    output: Annotated[Path, typer.Option("-o", "--output", help="The run directory to write.")],
    preset: Annotated[
        str,
        typer.Option(
            help="[bold]default[/], the embedding model, stable; [bold]paper[/], the same by the "
            "paper's protocol; [bold]ingram-q[/], the query-conditioned model, which ranks better."
        ),
    ] = "default",
    settings_file: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="Settings from a file in place of a preset's, such as a run's config.yaml or the "
            "best.yaml of `ingram tune`. What it leaves out takes that setting's own default.",
            metavar="FILE",
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Start from the weights of this run, or shipped ones; they decide the model.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Tasks, or fresh splits of the graph.")
    ] = None,
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
    trackers: Annotated[
        list[str] | None,
        typer.Option(
            "--tracker",
            help=f"Report to {' or '.join(TRACKERS)} too; may be repeated.",
            metavar="NAME",
        ),
    ] = None,
    allow_leaks: AllowLeaks = False,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Train on one dataset, or on several together, and write a run directory.

    Learns on the training graph, validates on the inference graph, and keeps the weights that
    were best there. Ctrl-C and SIGTERM save; --resume continues with the same result as if never
    stopped, also after a crash. At the end the scores are calibrated, as by `ingram calibrate`.
    """
    use_threads(threads)
    run = RunDirectory(output)
    first = None if start is None else load_model(start)
    if resume:
        if (
            settings
            or settings_file
            or preset != "default"
            or seed is not None
            or start is not None
        ):
            raise ConfigError(
                "a resumed run keeps its preset, seed, settings and first weights; only --epochs "
                "may change"
            )
        config = resume_config(run, epochs)
    else:
        changes = changes_of(settings, epochs, seed)
        if settings_file is not None:
            if preset != "default" or first is not None:
                raise ConfigError("--config holds all settings; leave out --preset and --from")
            config = load_config(settings_file).with_settings(changes)
        elif first is None:
            config = preset_config(preset, changes)
        else:
            config = config_from(first, preset, changes)
    datasets = [open_dataset(one, seed=config.training.seed, options=reading) for one in data]
    for dataset in datasets:
        insist_on_sound(dataset, allow_leaks=allow_leaks)
        note(describe(dataset))
    with (
        TrainingScreen(quiet=as_json) as screen,
        tracking(trackers or [], run, config, screen) as listener,
    ):
        outcome = train(
            datasets,
            config,
            run,
            resume=resume,
            minutes=minutes,
            start=first,
            listener=listener,
            on_save_error=on_save_error.value,
        )
    if outcome.best and outcome.stopped not in STATUS:
        calibrate_if_possible(run.path, datasets, note)
    finish(outcome, run, datasets, ["train", *map(str, data), *spelled(reading)], as_json)


def finish(
    outcome: Outcome,
    run: RunDirectory,
    datasets: Sequence[Dataset],
    words: list[str],
    as_json: bool,
) -> None:
    """Record how a run ended, write its report and say so.

    ``words``: the verb and what it was given.
    """
    record_outcome(run, outcome, command_line())
    write_report(run, datasets)
    if as_json:
        print_json(
            {
                "run": str(run.path),
                "stopped": outcome.stopped,
                "epoch": outcome.epoch,
                "seconds": round(outcome.seconds, 3),
                "best": outcome.best,
                "collapses": outcome.collapses,
            }
        )
    else:
        _print_outcome(outcome, run, words)
    if outcome.stopped in STATUS:
        raise typer.Exit(STATUS[outcome.stopped])


def _print_outcome(outcome: Outcome, run: RunDirectory, words: list[str]) -> None:
    best = outcome.best
    ended = f"{outcome.stopped} at epoch {outcome.epoch:,} after {outcome.seconds:,.0f} s"
    console.print(ended, highlight=False)
    if best:
        console.print(
            f"weights of epoch {best['epoch']:,} kept: validation MRR {figure(best['mrr'])}, "
            f"Hits@10 {figure(best['hits@10'])}",
            highlight=False,
        )
    if outcome.stopped in (*STATUS, "out of time"):
        command = shlex.join(["ingram", *words, "-o", str(run.path), "--resume"])
        console.print(f"go on with: {command}", markup=False, highlight=False, soft_wrap=True)
    console.print(printable(f"report: {run.path / 'report.html'}"), soft_wrap=True)
