"""``ingram embed``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.options import Draws, FeatureSeed, Graph, Json, Run, Threads, use_threads
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, error_console, print_json
from ingram.datasets import open_graph
from ingram.inference.applying import embedding_model, run_draws
from ingram.io.options import ReadOptions


@reads_a_graph
def embed_command(
    run: Run,
    graph: Graph,
    reading: ReadOptions,
    output: Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")],
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Write vectors of a graph's entities and relations, seen before or not.

    The table has the columns kind (entity or relation), label and vector. Several draws are
    concatenated, so the vectors are that many times as wide as the model's.
    """
    use_threads(threads)
    model = embedding_model(run)
    draws = draws or run_draws(run)
    with error_console.status("embedding"):
        embeddings = model.embed(open_graph(graph, reading), seed=seed or 0, draws=draws)
        embeddings.save(output)
    entities, relations = len(embeddings.entities), len(embeddings.relations)
    if as_json:
        print_json(
            {
                "output": str(output),
                "entities": entities,
                "relations": relations,
                "width": embeddings.width,
                **embeddings.made,
            }
        )
        return
    console.print(
        f"{entities:,} entities and {relations:,} relations, {embeddings.width} wide: {output}",
        highlight=False,
        soft_wrap=True,
    )
