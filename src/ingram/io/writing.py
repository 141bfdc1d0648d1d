"""Graphs to files: TSV, Parquet and N-Triples, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl
import zstandard

from ingram.errors import TriplesError
from ingram.graph import KnowledgeGraph
from ingram.io.atomic import replacing
from ingram.io.formats import STDIN, compression_of, format_of
from ingram.io.ntriples import write_ntriples
from ingram.io.tsv import write_tsv
from ingram.labels import label_frame

WRITERS: dict[str, Callable[[pl.DataFrame, IO[bytes]], None]] = {
    "tsv": write_tsv,
    "parquet": lambda table, file: table.write_parquet(file),
    "nt": write_ntriples,
}


def write_graph(graph: KnowledgeGraph, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a graph's triples, and their weights if it has any; see :func:`write_triples`.

    Reading the file again gives the same triples in the same order. Entities and relations that
    no triple names are not written.
    """
    write_triples(graph.labelled(), path, format=format)


def write_triples(table: pl.DataFrame, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write labelled triples (columns head, relation, tail, and weight if there) to a file.

    format: ``tsv``, ``parquet`` or ``nt``; without it the suffix decides. ``.gz``, ``.zst`` and
    ``.bz2`` compress. The file appears when it is whole; one that stood there stays until then.
    """
    kind = format_of(path, format)
    if kind not in WRITERS:
        raise TriplesError(f"{path}: want tsv, parquet or nt to write, got {kind}")
    if str(path) == STDIN:
        raise TriplesError("want a file to write to, got - for standard input")
    table = label_frame(table)
    with packed(Path(path)) as file:
        WRITERS[kind](table, file)


@contextmanager
def packed(path: Path) -> Iterator[Any]:
    """A file to write to that replaces ``path`` when all went well, compressed as its name says."""
    compression = compression_of(path)
    try:
        with replacing(path) as temporary, temporary.open("wb") as raw:
            if compression == "gzip":
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
                    yield file
            elif compression == "bzip2":
                with bz2.BZ2File(raw, "wb") as file:
                    yield file
            elif compression == "zstd":
                with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as file:
                    yield file
            else:
                yield raw
    except OSError as error:
        raise TriplesError(f"{path}: cannot be written: {error.strerror or error}") from error
