"""What the verbs print: tables, progress, one-line notes. No label can be markup or a command."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from ingram.cli.names import short
from ingram.graph import Dataset
from ingram.labels import FIELDS, visible

console = Console()
error_console = Console(stderr=True)

ROWS = 50
"""Rows of a long table that are printed."""
LABEL = 200
"""Characters that are shown of a label."""
NAMES = {"queries": "queries", "mr": "MR", "mrr": "MRR", "amri": "AMRI"}


def print_json(value: Any) -> None:
    """One JSON document on standard output; what could command a terminal is escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not text.isprintable():  # such characters stand in strings only
        text = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    print(text)


def note(text: str) -> None:
    """A remark on standard error, beside the results."""
    error_console.print(visible(text), markup=False, highlight=False, soft_wrap=True)


def printable(text: str) -> Text:
    """Text as it is: no markup, and control characters made visible."""
    return Text(visible(text))


def named(label: str) -> Text:
    """A label, printable; an IRI in short."""
    return Text(visible(short(label), LABEL))


def figure(value: Any) -> str:
    """A figure as people write it: 0.309, 92.6, 1,586."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def cell(value: Any) -> str:
    """A figure, or yes for what is so."""
    if isinstance(value, bool):
        return "yes" if value else ""
    return figure(value)


def written(path: Path, counts: dict[str, int], *, as_json: bool) -> None:
    """What was written where."""
    if as_json:
        print_json({"output": str(path), **counts})
        return
    listed = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    console.print(f"{listed}: {path}", markup=False, highlight=False, soft_wrap=True)


def metrics_table(title: str, table: pl.DataFrame, labels: int) -> Table:
    """Figures as a table; the first ``labels`` columns are names of groups."""
    shown = Table(title=printable(title), title_justify="left", header_style="bold")
    for i, column in enumerate(table.columns):
        name = NAMES.get(column, column.replace("hits", "Hits"))
        shown.add_column(name, justify="left" if i < labels else "right")
    for row in table.iter_rows():
        names = [named(str(v)) for v in row[:labels]]
        shown.add_row(*names, *(figure(v) for v in row[labels:]))
    return shown


def plain_table(title: str, table: pl.DataFrame, *, whole: bool = False) -> Table:
    """Any table: text to the left, numbers to the right.

    whole: figures are not broken where the screen is narrow, and lines between columns left out.
    """
    shown = Table(
        title=printable(title),
        title_justify="left",
        header_style="bold",
        min_width=min(len(title), 60),  # a title breaks at the table's width
    )
    if whole:
        shown.box, shown.pad_edge, shown.collapse_padding = SIMPLE_HEAD, False, True
    for i, (name, kind) in enumerate(table.schema.items()):
        lines = [name, *table[name].cast(pl.String).fill_null("")]
        longest = max(len(word) for line in lines for word in [*line.split(), ""])
        shown.add_column(
            printable(name),
            justify="right" if kind.is_numeric() else "left",
            overflow="fold",
            min_width=(longest if i else min(longest, 12)) if whole else None,
        )
    for row in table.iter_rows():
        shown.add_row(*(printable(v) if isinstance(v, str) else cell(v) for v in row))
    return shown


def print_rows(title: str, table: pl.DataFrame) -> None:
    """The first rows of a table of triples; IRIs in short."""
    first = table.head(ROWS).with_columns(
        pl.col(FIELDS).map_elements(short, return_dtype=pl.String)
    )
    console.print(plain_table(title, first))
    if len(table) > ROWS:
        note(f"{len(table) - ROWS:,} more; -o FILE writes all")


def name_known(table: pl.DataFrame) -> pl.DataFrame:
    """The groups of ``known`` in words."""
    return table.with_columns(
        known=pl.when("known").then(pl.lit("known relations")).otherwise(pl.lit("new relations"))
    )


def answers_table(title: str, answers: pl.DataFrame, asked: str) -> Table:
    """Ranked answers with a bar for the score."""
    shown = Table(title=printable(title), title_justify="left", header_style="bold")
    shown.add_column("rank", justify="right")
    shown.add_column(asked, overflow="fold")
    shown.add_column("score", justify="right")
    shown.add_column("", justify="left")
    more = [name for name in ("probability", "known") if name in answers.columns]
    for name in more:
        shown.add_column(name, justify="right" if name == "probability" else "center")
    scores = answers["score"].to_list()
    low, high = (min(scores), max(scores)) if scores else (0.0, 0.0)
    for row in answers.iter_rows(named=True):
        width = round(20 * (row["score"] - low) / (high - low)) if high > low else 20
        rest = [cell(row[name]) for name in more]
        shown.add_row(str(row["rank"]), named(row[asked]), figure(row["score"]), "█" * width, *rest)
    return shown


def describe(dataset: Dataset) -> str:
    """One line on a dataset; says when it tests nothing new."""
    train, inference = dataset.train, dataset.inference
    if not dataset.inductive:
        return (
            f"{dataset.name}: {train.num_entities:,} entities, {train.num_relations:,} relations, "
            f"{train.num_triples:,} facts; {len(dataset.valid):,} triples held out for validation "
            f"and {len(dataset.test):,} for test on the same graph: this is not an inductive test"
        )
    new = int((~dataset.known_relations).sum())
    return (
        f"{dataset.name}: train on {train.num_entities:,} entities, {train.num_relations:,} "
        f"relations, {train.num_triples:,} triples; apply to {inference.num_entities:,} entities, "
        f"{inference.num_relations:,} relations ({new:,} new), {inference.num_triples:,} facts"
    )


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time that remains; what it yields hears how much is done, and of how much."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=error_console, disable=quiet, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
