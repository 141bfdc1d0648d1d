"""Tab-separated triples, plain or gzipped."""

from __future__ import annotations

import gzip
import logging
import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from ingram.errors import TriplesError
from ingram.graph import KnowledgeGraph

FIELDS = ("head", "relation", "tail")

log = logging.getLogger(__name__)


def read_graph(path: str | Path) -> KnowledgeGraph:
    """A graph from a file of ``head <tab> relation <tab> tail`` lines, UTF-8, also ``.gz``."""
    graph = KnowledgeGraph.from_labels(read_triples(path))
    if graph.duplicates:
        log.warning("%s: dropped %d duplicate triples", path, graph.duplicates)
    return graph


def read_triples(path: str | Path) -> pl.DataFrame:
    """Labelled triples: columns head, relation, tail. Blank lines are skipped.

    A bad line is an error that names file, line, what was wanted and what was found.
    """
    path = Path(path)
    lines = _lines(path).with_row_index("number", offset=1)
    line = pl.col("line").str.strip_suffix("\r")
    first = pl.col("number") == 1  # where a byte order mark may stand
    line = pl.when(first).then(line.str.strip_prefix("\ufeff")).otherwise(line)
    lines = lines.with_columns(line).filter(pl.col("line") != "")
    if not len(lines):
        raise TriplesError(f"{path}: want lines of head, relation, tail, got an empty file")
    tabs = lines["line"].str.count_matches("\t", literal=True)
    _refuse(
        path,
        lines.filter(tabs != 2),
        lambda line: f"want 3 tab-separated fields, got {line.count(chr(9)) + 1}",
    )
    fields = pl.col("line").str.split_exact("\t", 2).struct.rename_fields(list(FIELDS))
    table = lines.select("number", "line", fields.alias("fields")).unnest("fields")
    _refuse(
        path,
        table.filter(pl.any_horizontal(pl.col(FIELDS) == "")),
        lambda line: f"want a label in each field, got none for the {_empty_field(line)}",
    )
    return table.select(FIELDS)


def _lines(path: Path) -> pl.DataFrame:
    if path.is_dir():  # of which polars would read every file
        raise TriplesError(f"{path}: want a file of triples, got a folder")
    try:
        return pl.read_lines(path, glob=False)
    except FileNotFoundError as error:
        raise TriplesError(f"{path}: no such file") from error
    except (PolarsError, OSError) as error:
        raise _reading_error(path, error) from error


def _reading_error(path: Path, error: Exception) -> TriplesError:
    """What went wrong, with the line if a line is to blame: read slowly, only to find it."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    line.decode()
                except UnicodeDecodeError as bad:
                    return TriplesError(
                        f"{path}:{number}: want UTF-8, got byte 0x{line[bad.start]:02x} "
                        f"at column {bad.start + 1}: {line[:60]!r}"
                    )
    except (EOFError, zlib.error, gzip.BadGzipFile) as bad:
        return TriplesError(f"{path}: want a gzip file, got a broken one: {bad}")
    except OSError as bad:
        return TriplesError(f"{path}: cannot be read: {bad.strerror or bad}")
    return TriplesError(f"{path}: cannot be read: {str(error).splitlines()[0]}")


def _refuse(path: Path, bad: pl.DataFrame, say: Callable[[str], str]) -> None:
    if len(bad):
        number, line = bad["number"][0], bad["line"][0]
        shown = line if len(line) <= 80 else line[:77] + "..."
        raise TriplesError(f"{path}:{number}: {say(line)}: {shown!r}")


def _empty_field(line: str) -> str:
    return next(name for name, label in zip(FIELDS, line.split("\t"), strict=True) if not label)
