"""Tab-separated triples: one a line, fields as they stand.

A backslash and a quotation mark are characters like any other, as in every benchmark's files, so a
label with a tab or a line end in it cannot be written: it is refused (Parquet and N-Triples take
it).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import polars as pl

from ingram.errors import TriplesError
from ingram.graph import FIELDS
from ingram.io.columns import WEIGHT, Picked, Wanted, checked, named, no_columns, pick
from ingram.io.lines import line_blocks, lines_of, shown
from ingram.io.source import Source

log = logging.getLogger(__name__)


def read_tsv(source: Source, wanted: Wanted) -> Iterator[pl.DataFrame]:
    """Blocks of labelled triples. A bad line is an error that names it."""
    picked = None
    for first, block in line_blocks(source):
        lines = lines_of(source.name, first, block)
        if picked is None and len(lines):
            picked, lines = _begin(source.name, lines, wanted)
        if picked is not None:
            yield _split(source.name, lines, picked)


def _begin(name: str, lines: pl.DataFrame, wanted: Wanted) -> tuple[Picked, pl.DataFrame]:
    """Which columns the first line stands for, and the lines that hold triples."""
    number, line = lines.row(0)
    fields = line.split("\t")
    if wanted.header or (wanted.header is None and _is_header(fields, wanted)):
        picked = pick(name, wanted, len(fields), fields)
        if picked is None:
            raise no_columns(name, fields)
        return picked, lines[1:]
    picked = pick(name, wanted, len(fields), None)
    if picked is None:
        raise _ragged(name, number, line, 3 if wanted.weight in (None, False) else 4)
    if wanted.header is None and named(fields):
        log.warning("%s:%d: read as a triple; if it is a header, say header=True", name, number)
    return picked, lines


def _is_header(fields: list[str], wanted: Wanted) -> bool:
    """Names were asked for; or the line is the one that is written over weighted triples."""
    return wanted.by_name or (wanted.silent and fields == [*FIELDS, WEIGHT])


def _split(name: str, lines: pl.DataFrame, picked: Picked) -> pl.DataFrame:
    tabs = lines["line"].str.count_matches("\t", literal=True)
    bad = lines.filter(tabs != picked.width - 1)
    if len(bad):
        number, line = bad.row(0)
        raise _ragged(name, number, line, picked.width)
    names = [f"field_{i}" for i in range(picked.width)]
    fields = pl.col("line").str.split_exact("\t", picked.width - 1).struct.rename_fields(names)
    table = lines.select(fields.alias("fields")).unnest("fields").select(picked.take(names))

    def trouble(row: int, what: str) -> TriplesError:
        number, line = lines.row(row)
        return TriplesError(f"{name}:{number}: {what}: {shown(line)}")

    return checked(table, trouble)


def _ragged(name: str, number: int, line: str, width: int) -> TriplesError:
    found = line.count("\t") + 1
    return TriplesError(
        f"{name}:{number}: want {width} tab-separated fields, got {found}: {shown(line)}"
    )


def tsv_lines(table: pl.DataFrame) -> bytes:
    """Triples as lines. A label that would break its line is an error."""
    for field in FIELDS:
        bad = table[field].filter(table[field].str.contains(r"[\t\n\r]"))
        if len(bad):
            raise TriplesError(
                f"TSV has no way to write a tab or a line end, got the label {shown(bad[0])}; "
                "write Parquet or N-Triples"
            )
    return table.write_csv(separator="\t", include_header=False, quote_style="never").encode()
