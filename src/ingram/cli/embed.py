"""``ingram embed``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

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
from ingram.cli.screen import console, error_console, print_json, printable
from ingram.datasets import open_graph
from ingram.embeddings import Embeddings
from ingram.errors import ConfigError
from ingram.inference.applying import embedding_model, run_draws
from ingram.inference.updating import update
from ingram.io.options import ReadOptions
from ingram.io.vectors import FORMATS, want_vectors_path
from ingram.models.shipped import EMBEDDING


@reads_a_graph
def embed_command(
    first: VectorsRunOrGraph,
    reading: ReadOptions,
    second: GraphAfterRun = None,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", help=f"The file to write: {', '.join(FORMATS)}.")
    ],
    old: Annotated[
        Path | None,
        typer.Option(
            "--update",
            help="Keep this file's relation vectors, draws and seed; compute only what changed.",
            metavar="OLD",
        ),
    ] = None,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Write vectors of a graph's entities and relations, seen before or not.

    The suffix of the output chooses the format: Parquet (kind, label, vector), NumPy, safetensors
    or word2vec's text. Several draws are concatenated, so the vectors are that many times as wide
    as the model's.
    """
    use_threads(threads)
    run, graph = run_and_graph(first, second, shipped=EMBEDDING)
    want_vectors_path(output)
    if old is not None and (draws is not None or seed is not None):
        raise ConfigError("an update keeps the draws and the seed of OLD; leave out both")
    model = embedding_model(run)
    changes: dict[str, Any] = {}
    with error_console.status("embedding"):
        if old is None:
            draws = draws or run_draws(run)
            embeddings = model.embed(open_graph(graph, reading), seed=seed or 0, draws=draws)
        else:
            updated = update(model, open_graph(graph, reading), Embeddings.load(old))
            embeddings = updated.embeddings
            changes = {
                "changed": updated.changed,
                "recomputed": updated.recomputed,
                "new_relations": updated.new_relations,
            }
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
                **changes,
            }
        )
        return
    text = f"{entities:,} entities and {relations:,} relations, {embeddings.width} wide: {output}"
    if changes:
        text += (
            f"; facts changed about {changes['changed']:,} entities, {changes['recomputed']:,} "
            f"were recomputed, {changes['new_relations']:,} relations are new"
        )
    console.print(printable(text), soft_wrap=True)
