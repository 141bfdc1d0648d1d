"""Graphs from files: one call for every format."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ingram.errors import TriplesError
from ingram.graph import KnowledgeGraph
from ingram.io.csv_table import read_csv
from ingram.io.formats import RDF, STDIN, format_of
from ingram.io.json_lines import read_json_lines
from ingram.io.lines import line_blocks, lines_of
from ingram.io.options import AS_IT_IS, QueryOptions, ReadOptions
from ingram.io.parquet import read_parquet
from ingram.io.rdf import read_rdf
from ingram.io.source import Source, opened
from ingram.io.tsv import read_tsv
from ingram.labels import FIELDS

log = logging.getLogger(__name__)

READERS = {
    "tsv": read_tsv,
    "csv": read_csv,
    "parquet": read_parquet,
    "jsonl": read_json_lines,
}


def read_graph(path: str | Path, options: ReadOptions = AS_IT_IS, **changes: Any) -> KnowledgeGraph:
    """A graph from a file, or from standard input for ``-``.

    How it is read is a :class:`ReadOptions`, or keywords by the names of its fields, such as
    ``read_graph("export.csv", columns=("from", "kind", "to"), weight="times")``; they win over the
    options. A malformed file is an error that says where, what was wanted and what was found.
    """
    graph = KnowledgeGraph.from_labels(read_triples(path, options, **changes))
    if graph.duplicates:
        what = "dropped" if graph.weights is None else "added up the weights of"
        where = "standard input" if str(path) == STDIN else path
        log.warning("%s: %s %d duplicate triples", where, what, graph.duplicates)
    return graph


def read_triples(path: str | Path, options: ReadOptions = AS_IT_IS, **changes: Any) -> pl.DataFrame:
    """Labelled triples as they stand in a file: columns head, relation, tail, and weight if any.

    The arguments are those of :func:`read_graph`.
    """
    options = replace(options, **changes)
    kind = format_of(path, options.format)
    with opened(path, limit=options.limit) as source:
        options.insist_on_use(source.name, kind)
        if kind in RDF:
            blocks = read_rdf(source, kind, literals=options.literals, base=options.base)
        else:
            blocks = READERS[kind](source, options)
        frames = [block for block in blocks if len(block)]
        if not frames:
            raise _nothing(source, kind)
    return pl.concat(frames)


def read_queries(path: str | Path) -> pl.DataFrame:
    """Questions from a table: head, relation, tail, the part that is asked for empty or ``?``."""
    kind = format_of(path)
    if kind in RDF:
        raise TriplesError(f"{path}: want questions in {', '.join(READERS)}, got {kind}")
    return read_triples(path, QueryOptions(weight=False)).select(FIELDS)


def read_labels(path: str | Path) -> list[str]:
    """Labels from a text file, one a line."""
    with opened(path) as source:
        labels = [
            label
            for first, block in line_blocks(source)
            for label in lines_of(source.name, first, block)["line"]
        ]
        if not labels:
            raise TriplesError(f"{source.name}: want a label a line, got an empty file")
    return labels


def _nothing(source: Source, kind: str) -> TriplesError:
    what = "lines of head, relation, tail" if kind in ("tsv", "csv") else "triples"
    found = "none" if source.count and kind != "tsv" else "an empty file"
    return TriplesError(f"{source.name}: want {what}, got {found}")
