"""Graphs from files: one call for every format."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ingram.errors import TriplesError
from ingram.graph import KnowledgeGraph
from ingram.io.columns import Wanted
from ingram.io.csv_table import read_csv
from ingram.io.formats import format_of
from ingram.io.json_lines import read_json_lines
from ingram.io.parquet import read_parquet
from ingram.io.rdf import RDF_FORMATS, read_rdf
from ingram.io.source import Source, opened
from ingram.io.tsv import read_tsv

log = logging.getLogger(__name__)

TABLES = {
    "tsv": read_tsv,
    "csv": read_csv,
    "parquet": read_parquet,
    "jsonl": read_json_lines,
}


def read_graph(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    weight: str | int | bool | None = None,
    literals: bool = False,
    base: str | None = None,
    limit: int | None = None,
) -> KnowledgeGraph:
    """A graph from a file, or from standard input for ``-``.

    format: ``tsv``, ``csv``, ``parquet``, ``jsonl``, ``nt``, ``nq``, ``ttl``, ``rdfxml`` or
    ``trig``; without it the suffix decides, and no known suffix means TSV. Any of them may be
    compressed: ``.gz``, ``.zst``, ``.bz2``.

    Of a table: ``columns`` are the names or positions (from 0) of head, relation and tail;
    ``header`` says whether the first record names the columns (CSV finds out by itself);
    ``weight`` is the column of how often a triple counts in the relation graph (one named
    ``weight`` is found by itself; False ignores it).

    Of RDF: ``literals`` keeps triples whose object is a literal, ``base`` is what relative IRIs
    are relative to.

    ``limit``: the most bytes that the input may unpack to, in place of a hundred times its size.
    """
    table = read_triples(
        path,
        format=format,
        columns=columns,
        header=header,
        weight=weight,
        literals=literals,
        base=base,
        limit=limit,
    )
    graph = KnowledgeGraph.from_labels(table)
    if graph.duplicates:
        what = "dropped" if graph.weights is None else "added up the weights of"
        log.warning("%s: %s %d duplicate triples", path, what, graph.duplicates)
    return graph


def read_triples(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[str | int] | None = None,
    header: bool | None = None,
    weight: str | int | bool | None = None,
    literals: bool = False,
    base: str | None = None,
    limit: int | None = None,
) -> pl.DataFrame:
    """Labelled triples as they stand in a file: columns head, relation, tail, and weight if any.

    The arguments are those of :func:`read_graph`. A malformed file is an error that says where,
    what was wanted and what was found.
    """
    kind = format_of(path, format)
    wanted = Wanted(columns, weight, header)
    with opened(path, limit=limit) as source:
        if kind in RDF_FORMATS:
            if columns is not None or header is not None or weight not in (None, False):
                raise TriplesError(
                    f"{source.name}: columns=, header= and weight= are for tables, got RDF"
                )
            blocks: Iterator[pl.DataFrame] = read_rdf(source, kind, literals=literals, base=base)
        else:
            blocks = TABLES[kind](source, wanted)
        frames = [block for block in blocks if len(block)]
        if not frames:
            raise _nothing(source, kind)
    return pl.concat(frames)


def _nothing(source: Source, kind: str) -> TriplesError:
    what = "lines of head, relation, tail" if kind in ("tsv", "csv") else "triples"
    found = "none" if source.count and kind != "tsv" else "an empty file"
    return TriplesError(f"{source.name}: want {what}, got {found}")
