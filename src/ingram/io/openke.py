"""OpenKE's ``*2id.txt``: triples as numbers, in the order head, tail, relation.

Every file begins with a line that counts the others. ``entity2id`` and ``relation2id`` hold a label
and its number a line.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from ingram.errors import TriplesError
from ingram.io.lines import line_blocks, lines_of
from ingram.io.source import opened

COUNT = re.compile(r"\s*[0-9]{1,18}\s*")
LABELLED = r"^(?P<label>.*\S)\s+(?P<id>\d+)\s*$"
NUMBERED = r"^\s*(?P<head>\d+)\s+(?P<tail>\d+)\s+(?P<relation>\d+)\s*$"


def read_dictionary(path: Path, limit: int | None = None) -> pl.DataFrame:
    """Columns id and label of ``entity2id`` or ``relation2id``."""
    table = _read(path, LABELLED, "a label and its number", limit)
    table = table.cast({"id": pl.Int64}, strict=False)
    for column in ("id", "label"):
        twice = table.filter(pl.col(column).is_duplicated() | pl.col(column).is_null())
        if len(twice):
            number, value = twice["number"][-1], twice[column][-1]
            raise TriplesError(f"{path}:{number}: want each {column} once, got {value!r} again")
    return table.select("id", "label")


def read_numbered(
    path: Path, entities: pl.DataFrame, relations: pl.DataFrame, limit: int | None = None
) -> pl.DataFrame:
    """Labelled triples, columns head, relation, tail, of a file of numbers."""
    numbers = _read(path, NUMBERED, "the numbers of head, tail and relation", limit)
    columns = []
    for column, names in (("head", entities), ("relation", relations), ("tail", entities)):
        ids = numbers.select(pl.col(column).cast(pl.Int64, strict=False).alias("id"))
        labels = ids.join(names, on="id", how="left", maintain_order="left")["label"]
        if labels.null_count():
            row = numbers.filter(labels.is_null()).row(0, named=True)
            raise TriplesError(
                f"{path}:{row['number']}: want a {column} that the dictionary names, "
                f"got number {row[column]}"
            )
        columns.append(labels.alias(column))
    return pl.DataFrame(columns)


def _read(path: Path, pattern: str, wanted: str, limit: int | None) -> pl.DataFrame:
    """The pattern's groups as columns, and the line's number."""
    with opened(path, limit=limit) as source:
        blocks = [lines_of(source.name, first, block) for first, block in line_blocks(source)]
    lines = pl.concat(blocks) if blocks else pl.DataFrame(schema={"line": pl.String})
    lines = lines.filter(pl.col("line").str.strip_chars() != "")
    if not len(lines) or not COUNT.fullmatch(lines["line"][0]):
        first = lines["line"][0][:60] if len(lines) else "an empty file"
        raise TriplesError(f"{path}:1: want the number of lines that follow, got {first!r}")
    count, body = int(lines["line"][0]), lines[1:]
    table = body.select("number", "line", pl.col("line").str.extract_groups(pattern).alias("g"))
    table = table.unnest("g")
    bad = table.filter(pl.any_horizontal(pl.all().is_null()))
    if len(bad):
        number, line = bad["number"][0], bad["line"][0][:60]
        raise TriplesError(f"{path}:{number}: want {wanted}, got {line!r}")
    if count != len(body):
        raise TriplesError(f"{path}: want {count:,} lines, as line 1 says, got {len(body):,}")
    return table.drop("line")
