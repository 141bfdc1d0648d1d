"""``ingram similar``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table

from ingram.cli.names import meant, short
from ingram.cli.options import (
    Draws,
    FeatureSeed,
    GraphAfterRun,
    Json,
    Threads,
    VectorsRunOrGraph,
    run_and_graph,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, figure, named, print_json, printable
from ingram.datasets import open_graph
from ingram.errors import ConfigError
from ingram.inference.applying import embedding_model, run_draws
from ingram.inference.similar import Neighbourhood
from ingram.io.options import ReadOptions
from ingram.models.shipped import EMBEDDING


@reads_a_graph
def similar_command(
    first: VectorsRunOrGraph,
    reading: ReadOptions,
    second: GraphAfterRun = None,
    *,
    entity: Annotated[str | None, typer.Option(help="Entities like this one.")] = None,
    relation: Annotated[str | None, typer.Option(help="Relations like this one.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many.")] = 10,
    approximate: Annotated[
        bool,
        typer.Option("--approximate", help="Search an index of usearch: for millions of vectors."),
    ] = False,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """List the entities or relations whose vectors are nearest, by cosine."""
    if entity is not None and relation is None:
        what: Literal["entity", "relation"] = "entity"
        label = entity
    elif relation is not None and entity is None:
        what, label = "relation", relation
    else:
        raise ConfigError("give --entity or --relation, and one of them only")
    use_threads(threads)
    run, graph = run_and_graph(first, second, shipped=EMBEDDING)
    model = embedding_model(run)
    facts = open_graph(graph, reading)
    label = meant(label, facts.entities if what == "entity" else facts.relations)
    embeddings = model.embed(facts, seed=seed or 0, draws=draws or run_draws(run))
    found = Neighbourhood(embeddings, what, approximate=approximate).near(label, k)
    if as_json:
        print_json(found.to_dicts())
        return
    shown = Table(
        title=printable(f"like {short(label)}"), title_justify="left", header_style="bold"
    )
    shown.add_column("rank", justify="right")
    shown.add_column(what, overflow="fold")
    shown.add_column("cosine", justify="right")
    for row in found.iter_rows(named=True):
        shown.add_row(str(row["rank"]), named(row["near"]), figure(row["cosine"]))
    console.print(shown)
