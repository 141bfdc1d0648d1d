"""``ingram explain``."""

from __future__ import annotations

from typing import Annotated

import polars as pl
import typer

from ingram.cli.names import meant, short
from ingram.cli.options import (
    Draws,
    FeatureSeed,
    Html,
    Json,
    Svg,
    Threads,
    run_graph_and_triple,
    use_threads,
    want_folder,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, figure, note, plain_table, print_json, printable
from ingram.datasets import open_graph
from ingram.experiments.explanation_page import explanation_page, explanation_picture, verdict
from ingram.experiments.figures import svg
from ingram.inference.applying import explain_run
from ingram.inference.explanation import tables
from ingram.io.atomic import write_text
from ingram.io.options import ReadOptions


@reads_a_graph
def explain_command(
    words: Annotated[
        list[str],
        typer.Argument(
            help="A run, or nothing for the shipped weights; a graph; the labels of head, relation "
            "and tail.",
            metavar="[RUN] GRAPH HEAD RELATION TAIL",
        ),
    ],
    reading: ReadOptions,
    k: Annotated[int, typer.Option("-k", min=1, help="Paths and neighbours shown.")] = 5,
    html: Html = None,
    picture: Svg = None,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Say why HEAD RELATION TAIL is predicted, with facts that are in the graph.

    A run of ingram-q answers along paths: the strongest are shown. An embedding run shows where
    its last layers look, and which relations are near. Both say how often the same pattern of
    relations comes with RELATION elsewhere in the graph.
    """
    want_folder(html, picture)
    use_threads(threads)
    run, graph, head, relation, tail = run_graph_and_triple(words)
    facts = open_graph(graph, reading)
    triple = (
        meant(head, facts.entities),
        meant(relation, facts.relations),
        meant(tail, facts.entities),
    )
    found = explain_run(run, facts, *triple, count=k, draws=draws, seed=seed)
    if html is not None:
        write_text(html, explanation_page(found, short))
    if picture is not None:
        write_text(picture, svg(explanation_picture(found, short)))
    if as_json:
        print_json(found.as_dict())
        return
    console.print(printable(verdict(found, short)), soft_wrap=True)
    shown = tables(found, short)
    paths = shown.pop("paths", None)
    if paths is None:
        note("no path between the two carries it")
    else:
        _print_paths(paths)
    for title, table in shown.items():
        console.print(plain_table(title, table))


def _print_paths(paths: pl.DataFrame) -> None:
    """A path a line, as it is too long for a column; its figures below it."""
    for number, row in enumerate(paths.iter_rows(named=True), 1):
        path = printable(f"{number}. {row.pop('path')}")
        console.print(path, highlight=False, soft_wrap=True)
        values = [f"{k}: {v if isinstance(v, str) else figure(v)}" for k, v in row.items()]
        console.print(printable("   " + "; ".join(values)), style="dim", soft_wrap=True)
