"""``ingram drift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.table import Table

from ingram.cli.options import Json, Threads, use_threads
from ingram.cli.screen import console, figure, named, note, print_json
from ingram.datasets import open_graph
from ingram.embeddings import Embeddings
from ingram.inference.drift import Drift, drift

Vectors = Annotated[Path, typer.Argument(help="A file that `ingram embed` wrote.")]


def drift_command(
    old: Vectors,
    new: Vectors,
    k: Annotated[int, typer.Option("-k", min=1, help="Best answers compared.")] = 10,
    questions: Annotated[int, typer.Option(min=1, help="Questions asked, at most.")] = 1_000,
    graph: Annotated[
        Path | None, typer.Option(help="Ask what the facts of this graph answer, not any pair.")
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="Entities and relations listed.")] = 10,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Say how far vectors and best answers moved from OLD to NEW, and for whom."""
    use_threads(threads)
    facts = None if graph is None else open_graph(graph)
    found = drift(Embeddings.load(old), Embeddings.load(new), k=k, questions=questions, graph=facts)
    if as_json:
        print_json(_plain(found, show))
        return
    console.print(
        f"{len(found.entities):,} entities and {len(found.relations):,} relations are in both; "
        f"{found.new[0]:,} and {found.new[1]:,} are new, {found.gone[0]:,} and {found.gone[1]:,} "
        f"gone",
        highlight=False,
        soft_wrap=True,
    )
    console.print(
        f"of the {k} best answers to {found.questions:,} questions, {found.kept:.0%} stayed; the "
        f"first one in {found.first:.0%}",
        highlight=False,
        soft_wrap=True,
    )
    if found.incomparable is None:
        console.print(f"mean move (1 - cosine): {_mean(found.entities)} for entities, "
                      f"{_mean(found.relations)} for relations", highlight=False)  # fmt: skip
    else:
        note(f"vectors cannot be compared: {found.incomparable}")
    for name, table in (("entity", found.entities), ("relation", found.relations)):
        console.print(_furthest(name, table.head(show)))


def _mean(table: pl.DataFrame) -> str:
    return figure(table["moved"].mean())


def _furthest(name: str, table: pl.DataFrame) -> Table:
    shown = Table(header_style="bold")
    shown.add_column(name, overflow="fold")
    for column in table.columns[1:]:
        shown.add_column(column, justify="right")
    for label, *values in table.iter_rows():
        shown.add_row(named(label), *map(figure, values))
    return shown


def _plain(found: Drift, show: int) -> dict[str, object]:
    return {
        "entities": {"both": len(found.entities), "new": found.new[0], "gone": found.gone[0],
                     "moved": found.entities["moved"].mean(),
                     "furthest": found.entities.head(show).to_dicts()},
        "relations": {"both": len(found.relations), "new": found.new[1], "gone": found.gone[1],
                      "moved": found.relations["moved"].mean(),
                      "furthest": found.relations.head(show).to_dicts()},
        "questions": found.questions,
        "kept": found.kept,
        "first": found.first,
        "incomparable": found.incomparable,
    }  # fmt: skip
