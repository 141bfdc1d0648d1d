"""``ingram evaluate``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from ingram.cli.options import (
    AllowLeaks,
    Data,
    Draws,
    Json,
    Run,
    Threads,
    With,
    WithWeight,
    runs_beside,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, describe, metrics_table, name_known, note, print_json
from ingram.cli.soundness import insist_on_sound
from ingram.datasets import open_dataset
from ingram.errors import ConfigError
from ingram.evaluation import TIES, metrics
from ingram.experiments.report import write_report
from ingram.experiments.saved import Protocol, save_test, weights_id
from ingram.graph import Dataset
from ingram.inference.testing import Beside, document, rank_split
from ingram.io.options import ReadOptions
from ingram.models import load_model
from ingram.models.shipped import FOLDER, run_path
from ingram.training.checkpoints import RunDirectory

BREAKDOWNS = ("side", "relation", "known")


@reads_a_graph
def evaluate_command(
    run: Run,
    data: Data,
    reading: ReadOptions,
    split: Annotated[str, typer.Option(help="[bold]test[/] or [bold]valid[/].")] = "test",
    beside: With = None,
    with_weight: WithWeight = None,
    draws: Draws = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of fresh features; by default, the run's protocol.")
    ] = None,
    ties: Annotated[str | None, typer.Option(help=f"One of {', '.join(TIES)}.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(help=f"Break down by {', '.join(BREAKDOWNS)}.")
    ] = None,
    hits: Annotated[list[int] | None, typer.Option(help="k of Hits@k.", min=1)] = None,
    save: Annotated[
        bool,
        typer.Option(
            "--save", help="Keep figures and ranks in the run, and put them into its report."
        ),
    ] = False,
    allow_leaks: AllowLeaks = False,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Rank the triples of a split against all entities of the inference graph.

    Filtered: other answers known from the facts, validation and test are left out. Without
    --seed or --draws a run is tested by its own protocol: `paper` with the features chosen on
    validation, `default` with fresh ones.
    """
    use_threads(threads)
    run = run_path(run)
    config = RunDirectory(run).config()
    ties = ties or config.evaluation.ties
    if ties not in TIES:
        raise ConfigError(f"no tie policy {ties!r}; known are {', '.join(TIES)}")
    if split not in ("test", "valid"):
        raise ConfigError(f"no split {split!r}; known are test, valid")
    if bad := set(by or []) - set(BREAKDOWNS):
        raise ConfigError(f"no breakdown {min(bad)!r}; known are {', '.join(BREAKDOWNS)}")
    if save:
        odd = {
            "--split": split != "test",
            "--seed": seed is not None,
            "--by": by,
            "--hits": hits,
            "--ties": ties != config.evaluation.ties,
            "--with": beside,
        }
        _insist_on_plain(run, [name for name, given in odd.items() if given])
    others = [
        Beside(load_model(other), RunDirectory(other).config(), weight)
        for other, weight in runs_beside(beside, with_weight)
    ]
    dataset = open_dataset(data, seed=config.training.seed, options=reading)
    insist_on_sound(dataset, allow_leaks=allow_leaks)
    started = time.perf_counter()
    result = rank_split(
        load_model(run), dataset, split, config=config, draws=draws, seed=seed, beside=others
    )
    seconds = time.perf_counter() - started
    k = tuple(hits or (1, 3, 10))
    tables = {"both": metrics(result.ranks, ties=ties, hits=k)}
    for name in by or []:
        tables[name] = _named(metrics(result.ranks, ties=ties, hits=k, by=[name]), name, dataset)
    if save:
        save_test(result, dataset, run, ties, seconds, Protocol(draws), weights_id(run))
        write_report(RunDirectory(run), [dataset])
    if as_json:
        print_json(document(result, split, ties, seconds, tables))
        return
    note(describe(dataset))
    title = f"{dataset.name} {split}, {ties} ties"
    if result.draws is not None:
        times = "draw" if result.draws == 1 else "draws"
        title += f", {result.draws} {result.features} {times}"
    if beside:
        title += f", with {' and '.join(map(str, beside))}"
    console.print(metrics_table(title, tables.pop("both"), labels=0))
    for name, table in tables.items():
        console.print(metrics_table(f"by {name}", table, labels=1))


def _insist_on_plain(run: Path, odd: list[str]) -> None:
    """What is kept can be compared with other runs: no options but --draws."""
    if run.parent == FOLDER:
        raise ConfigError(f"--save: {run.name} is part of the package; it keeps no tests")
    if odd:
        raise ConfigError(f"--save keeps tests as other runs have them; leave out {odd[0]}")


def _named(table: pl.DataFrame, name: str, dataset: Dataset) -> pl.DataFrame:
    if name == "relation":
        labels = dataset.inference.relations.take(table["relation"].to_numpy())
        return table.with_columns(relation=pl.Series(labels))
    if name == "known":
        return name_known(table)
    return table
