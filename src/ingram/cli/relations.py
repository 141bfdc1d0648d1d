"""``ingram relations``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from ingram.cli.names import short
from ingram.cli.options import Graph, Html, Json, Svg, Threads, use_threads, want_folder
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, note, plain_table, print_json
from ingram.datasets import open_graph, open_source
from ingram.errors import ConfigError
from ingram.experiments.figures import relation_picture, svg
from ingram.experiments.pages import html_table, page
from ingram.inference.applying import embedding_model
from ingram.inference.relations import affinity_table, resembling
from ingram.io.atomic import write_text
from ingram.io.options import ReadOptions
from ingram.io.relation_files import FORMATS, want_relations_path, write_relation_graph


@reads_a_graph
def relations_command(
    graph: Graph,
    reading: ReadOptions,
    k: Annotated[int, typer.Option("-k", min=1, help="Strongest affinities listed.")] = 20,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help=f"Write the whole relation graph: {', '.join(FORMATS)}."
        ),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            help="Say which relations of this graph the new ones are like.", metavar="OTHER"
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="With --train: compare by this run's relation vectors."),
    ] = None,
    html: Html = None,
    picture: Svg = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Show the relation graph: relations that share entities are near.

    With --train, the relations that the other graph does not have are compared with those it
    has: by the vectors of an embedding run if one is given, else by how their affinity is spread
    over the relations that both graphs have.
    """
    if run is not None and train is None:
        raise ConfigError("--run compares the relations of two graphs; give the other by --train")
    if output is not None:
        want_relations_path(output)
    want_folder(html, picture)
    use_threads(threads)
    found = open_graph(graph, reading)
    table, likeness, known = affinity_table(found), None, None
    if train is not None:
        other = open_source(train, reading)
        model = None if run is None else embedding_model(run)
        likeness = resembling(found, other, model)
        known = found.relations.labels.is_in(other.relations.labels.implode()).to_list()
    if output is not None:
        write_relation_graph(output, found.relations, table)
    shown = _shown(table.head(k), likeness, "vectors" if run is not None else "affinities")
    if html is not None or picture is not None:
        drawn = svg(relation_picture(found, known))
        if picture is not None:
            write_text(picture, drawn)
        if html is not None:
            parts = [f"<h1>Relation graph</h1><div class='scroll'>{drawn}</div>"]
            parts += [f"<h2>{title.capitalize()}</h2>{html_table(t)}" for title, t in shown.items()]
            write_text(html, page("Relation graph", "\n".join(parts)))
    if as_json:
        print_json(
            {
                "affinities": table.head(k).to_dicts(),
                **({} if likeness is None else {"resembling": likeness.to_dicts()}),
            }
        )
        return
    for title, part in shown.items():
        console.print(plain_table(title, part))
    if likeness is not None and not len(likeness):
        note("the other graph has all relations of this one")


def _shown(
    affinities: pl.DataFrame, likeness: pl.DataFrame | None, by: str
) -> dict[str, pl.DataFrame]:
    """Tables with the inverses in words."""
    parts = {"strongest affinities": _in_words(affinities, "other")}
    if likeness is not None:
        parts[f"new relations and the known ones they are like, by {by}"] = _in_words(
            likeness, "known"
        )
    return parts


def _in_words(table: pl.DataFrame, name: str) -> pl.DataFrame:
    mark = pl.when("inverse").then(pl.lit(", read backwards")).otherwise(pl.lit(""))
    labels = pl.col("relation", name).map_elements(short, pl.String)
    return table.with_columns(labels).with_columns(pl.col(name) + mark).drop("inverse")
