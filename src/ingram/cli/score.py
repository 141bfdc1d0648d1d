"""``ingram score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from ingram.cli.options import (
    Draws,
    FeatureSeed,
    Json,
    Threads,
    run_graph_and_triples,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import note, print_json, print_rows, progress_bar, written
from ingram.datasets import open_graph
from ingram.inference.applying import apply_run
from ingram.inference.scoring import score_triples
from ingram.io.options import ReadOptions
from ingram.io.reading import read_triples
from ingram.io.tables import write_tables


@reads_a_graph
def score_command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="A run, or nothing for the shipped weights; a graph; the triples to score, in any "
            "format that a graph can have.",
            metavar="[RUN] GRAPH TRIPLES",
        ),
    ],
    reading: ReadOptions,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write a file: TSV, Parquet or JSON Lines."),
    ] = None,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Score given triples, and say which are true.

    Their labels must be in the graph. If the run is calibrated (`ingram calibrate`), each triple
    has a probability, and is called true if its score reaches the threshold that parted true from
    false best on validation.
    """
    use_threads(threads)
    run, graph, triples = run_graph_and_triples(paths)
    asked = read_triples(triples)
    scorer = apply_run(run, open_graph(graph, reading), draws=draws, seed=seed)
    if scorer.calibration is None:
        note("no probabilities: this run is not calibrated; see `ingram calibrate --help`")
    with progress_bar("scoring", quiet=as_json) as progress:
        tables = score_triples(scorer, asked, str(triples), progress)
        if output is not None:
            count = write_tables(tables, output)
        else:
            table = pl.concat(tables)
    if output is not None:
        written(output, {"triples": count}, as_json=as_json)
    elif as_json:
        print_json(table.to_dicts())
    else:
        print_rows("scores", table)
