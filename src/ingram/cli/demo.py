"""``ingram demo``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from ingram.answers import GraphScorer
from ingram.cli.options import Threads, use_threads
from ingram.cli.screen import (
    answers_table,
    console,
    describe,
    metrics_table,
    name_known,
    note,
    printable,
)
from ingram.cli.train import STATUS
from ingram.cli.training_screen import TrainingScreen
from ingram.datasets import open_dataset
from ingram.errors import RunError
from ingram.evaluation import metrics
from ingram.experiments.environment import command_line
from ingram.experiments.pages import Section
from ingram.experiments.report import write_report
from ingram.experiments.runs import record_outcome
from ingram.experiments.trackers import tracking
from ingram.graph import Dataset
from ingram.inference.testing import rank_split
from ingram.models import load_model
from ingram.models.shipped import ZERO_SHOT
from ingram.training import config_from, train
from ingram.training.checkpoints import RunDirectory

QUESTIONS = (
    ("Nairobi", "capital_of"),
    ("Kenya", "borders"),
    ("Egypt", "uses_currency"),
    ("Lima", "in_time_zone"),
    ("Kinshasa", "nearest_capital"),
    ("Benghazi", "in_latitude_zone"),
    ("Kenya", "has_largest_city"),
)
EPOCHS = 40


def demo_command(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The run directory to write.")
    ] = Path("demo-run"),
    epochs: Annotated[int, typer.Option(min=1, help="Tasks to train on.")] = EPOCHS,
    threads: Threads = None,
) -> None:
    """Answer questions about continents never seen, at once, and again after some training.

    The shipped weights answer first. Then they are trained on Europe, Asia and North America of
    the embedded dataset `world`; Africa, South America and Oceania, with their own entities and
    some relations of their own, are the test.
    """
    use_threads(threads)
    dataset = open_dataset("world")
    note(describe(dataset))
    run = RunDirectory(output)
    _clear(run)
    first = load_model(ZERO_SHOT)
    config = config_from(
        first,
        "default",
        {"training.epochs": epochs, "training.validate_every": max(1, epochs // 8)},
    )
    before = rank_split(first, dataset, "test", config=config).ranks
    console.print(metrics_table("unseen continents, test, before any training", metrics(before), 0))
    _answers(dataset, first.scorer(dataset.inference), "before any training")
    with TrainingScreen() as screen, tracking((), run, config, screen) as listener:
        outcome = train(dataset, config, run, start=first, listener=listener)
    if outcome.stopped in STATUS:
        raise typer.Exit(STATUS[outcome.stopped])

    after = rank_split(outcome.model, dataset, "test", config=config).ranks
    stages = {"no training": before, "trained on other continents": after}
    both = _staged({stage: metrics(ranks) for stage, ranks in stages.items()})
    by_known = _staged(
        {stage: name_known(metrics(ranks, by=["known"])) for stage, ranks in stages.items()}
    )
    console.print(metrics_table("unseen continents, test", both, labels=1))
    console.print(metrics_table("by whether training saw the relation", by_known, labels=2))
    sections = [
        Section("Test", both, "Filtered ranking of the held-out triples of the unseen continents."),
        Section("Known and new relations", by_known),
        *_answers(dataset, outcome.model.scorer(dataset.inference), "after it"),
    ]
    record_outcome(run, outcome, command_line())
    write_report(run, [dataset], sections)
    console.print(printable(f"report: {output / 'report.html'}"), soft_wrap=True)


def _staged(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(
        table.select(pl.lit(stage).alias("weights"), pl.all()) for stage, table in tables.items()
    )


def _answers(dataset: Dataset, scorer: GraphScorer, when: str) -> list[Section]:
    """A few questions, printed and as sections of the report."""
    console.print(f"[bold]A few questions {when}[/]; answers stated in the facts are left out:")
    held_out = dataset.inference.decode(np.concatenate([dataset.test, dataset.valid]))
    sections = []
    for head, relation in QUESTIONS:
        answers = scorer.predict(head=head, relation=relation, k=5, known="hide")
        right = held_out.filter(head=head, relation=relation)["tail"].to_list()
        truth = f"held out: {', '.join(right)}" if right else "nothing was held out"
        title = f"({head}, {relation}, ?)"
        console.print(answers_table(f"{title}  {truth}", answers, "tail"))
        sections.append(Section(title, answers, truth))
    return sections


def _clear(run: RunDirectory) -> None:
    """Remove an earlier demo's run, and nothing else."""
    if not run.path.exists():
        return
    if not (run.path / "config.yaml").exists() and any(run.path.iterdir()):
        raise RunError(f"{run.path} holds something else than a run; choose another with -o")
    with run.locked():
        shutil.rmtree(run.path)
