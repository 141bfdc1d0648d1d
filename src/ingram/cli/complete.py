"""``ingram complete``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.names import meant
from ingram.cli.options import (
    Draws,
    FeatureSeed,
    GraphAfterRun,
    Json,
    RunOrGraph,
    Threads,
    run_and_graph,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import print_json, print_rows, progress_bar, written
from ingram.datasets import open_graph
from ingram.inference.applying import apply_run
from ingram.inference.completing import complete, want_triples_file, write_completion
from ingram.io.options import ReadOptions


@reads_a_graph
def complete_command(
    first: RunOrGraph,
    reading: ReadOptions,
    second: GraphAfterRun = None,
    *,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many triples.")] = 1_000,
    per_relation: Annotated[
        int | None, typer.Option(min=1, help="At most so many of each relation.", metavar="N")
    ] = None,
    relation: Annotated[
        list[str] | None, typer.Option(help="Complete this relation only; may be repeated.")
    ] = None,
    all_heads: Annotated[
        bool,
        typer.Option(
            "--all-heads",
            help="Ask for every entity as a head, not only those that are heads of the relation "
            "among the facts.",
        ),
    ] = False,
    typed: Annotated[
        bool,
        typer.Option("--typed", help="Only tails that are tails of the relation among the facts."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write the triples to a file that can be read as a graph: TSV or N-Triples, best "
            "first; Parquet or JSON Lines with their scores.",
        ),
    ] = None,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Find the most plausible missing triples of a whole graph.

    Asks every (HEAD, RELATION, ?) and keeps the best of all answers that are no facts yet.
    """
    use_threads(threads)
    if output is not None:
        want_triples_file(output)
    run, graph = run_and_graph(first, second)
    scorer = apply_run(run, open_graph(graph, reading), draws=draws, seed=seed)
    with progress_bar("completing", quiet=as_json) as progress:
        found = complete(
            scorer,
            count,
            per_relation=per_relation,
            relations=relation and [meant(r, scorer.graph.relations) for r in relation],
            all_heads=all_heads,
            typed=typed,
            progress=progress,
        )
    if output is not None:
        write_completion(found, output)
        written(output, {"triples": len(found)}, as_json=as_json)
    elif as_json:
        print_json(found.to_dicts())
    else:
        print_rows("most plausible missing triples", found)
