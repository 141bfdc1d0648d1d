"""``ingram demo``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.options import Threads, use_threads
from ingram.cli.screen import (
    TrainingScreen,
    answers_table,
    console,
    describe,
    metrics_table,
    name_known,
    note,
)
from ingram.datasets import open_dataset
from ingram.errors import RunError
from ingram.evaluation import metrics
from ingram.experiments.report import Section, write_report
from ingram.inference.applying import apply_run
from ingram.inference.testing import rank_split
from ingram.training import PRESETS, train
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
EPOCHS = 700
LEARNING_RATE = 0.002  # learns more in a minute than the default, by validation


def demo_command(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The run directory to write.")
    ] = Path("demo-run"),
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training graph.")] = EPOCHS,
    threads: Threads = None,
) -> None:
    """Train on some continents, then answer questions about the others.

    The embedded dataset `world` teaches on Europe, Asia and North America; Africa, South America
    and Oceania, with their own entities and some relations of their own, are the test.
    """
    use_threads(threads)
    dataset = open_dataset("world")
    note(describe(dataset))
    run = RunDirectory(output)
    _clear(run)
    config = PRESETS["default"].with_settings(
        {
            "training.epochs": epochs,
            "training.validate_every": max(1, epochs // 20),
            "training.learning_rate": LEARNING_RATE,
        }
    )
    with TrainingScreen() as screen:
        outcome = train(dataset, config, run, listener=screen)
    if outcome.stopped == "interrupted":
        raise typer.Exit(130)

    ranks = rank_split(outcome.model, dataset, "test", config=config).ranks
    both, by_known = metrics(ranks), name_known(metrics(ranks, by=["known"]))
    console.print(metrics_table("unseen continents, test", both, labels=0))
    console.print(metrics_table("by whether training saw the relation", by_known, labels=1))

    embeddings = apply_run(output, dataset.inference)
    sections = [
        Section("Test", both, "Filtered ranking of the held-out triples of the unseen continents."),
        Section("Known and new relations", by_known),
    ]
    console.print("[bold]A few questions[/], with answers stated in the facts left out:")
    held_out = dataset.inference.decode(dataset.test).vstack(
        dataset.inference.decode(dataset.valid)
    )
    for head, relation in QUESTIONS:
        answers = embeddings.predict(head=head, relation=relation, k=5, known="hide")
        right = held_out.filter(head=head, relation=relation)["tail"].to_list()
        truth = f"held out: {', '.join(right)}" if right else "nothing was held out"
        title = f"({head}, {relation}, ?)"
        console.print(answers_table(f"{title}  {truth}", answers.drop("known"), "tail"))
        sections.append(Section(title, answers.drop("known"), truth))
    write_report(run, [dataset], sections)
    console.print(f"report: {output / 'report.html'}", highlight=False, soft_wrap=True)


def _clear(run: RunDirectory) -> None:
    """Remove an earlier demo's run, and nothing else."""
    if not run.path.exists():
        return
    if not (run.path / "config.yaml").exists() and any(run.path.iterdir()):
        raise RunError(f"{run.path} holds something else than a run; choose another with -o")
    shutil.rmtree(run.path)
