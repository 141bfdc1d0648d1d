"""Tab-separated triples: one a line, fields as they stand.

A backslash and a quotation mark are characters like any other, as in every benchmark's files, so a
label with a tab or a line end in it cannot be written: it is refused (Parquet and N-Triples take
it).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import IO

import polars as pl

from ingram.errors import TriplesError
from ingram.io.columns import Picked, checked, named, no_columns, pick
from ingram.io.lines import BOM, ROWS, line_blocks, lines_of, shown
from ingram.io.options import ReadOptions
from ingram.io.source import Source
from ingram.labels import FIELDS, WEIGHT

log = logging.getLogger(__name__)


def read_tsv(source: Source, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """Blocks of labelled triples. A bad line is an error that names it."""
    picked = None
    for first, block in line_blocks(source):
        lines = lines_of(source.name, first, block)
        if picked is None and len(lines):
            picked, lines = _begin(source.name, lines, options)
        if picked is not None:
            yield _split(source.name, lines, picked)


def _begin(name: str, lines: pl.DataFrame, options: ReadOptions) -> tuple[Picked, pl.DataFrame]:
    """Which columns the first line stands for, and the lines that hold triples."""
    number, line = lines.row(0)
    fields = line.split("\t")
    if options.header or (options.header is None and _is_header(fields, options)):
        picked = pick(name, options, len(fields), fields)
        if picked is None:
            raise no_columns(name, fields)
        return picked, lines[1:]
    picked = pick(name, options, len(fields), None)
    if picked is None:
        raise _ragged(name, number, line, 4 if options.weighted else 3, first=True)
    if options.header is None and named(fields):
        log.warning(
            "%s:%d: read as a triple; if it is a header, say so with the option header",
            name,
            number,
        )
    return picked, lines


def _is_header(fields: list[str], options: ReadOptions) -> bool:
    """Names were asked for; or it is the line over weighted triples, or over questions."""
    if options.columns is None and (
        fields == [*FIELDS, WEIGHT] or (options.asked and named(fields))
    ):
        return True
    return options.by_name


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

    return checked(table, trouble, asked=picked.asked)


def _ragged(name: str, number: int, line: str, width: int, *, first: bool = False) -> TriplesError:
    found, hint = line.count("\t") + 1, ""
    if first and found > width:
        hint = "; the option columns chooses among more"
    elif first and found == 1:
        hint = "; if it is another format, the option format says so"
    return TriplesError(
        f"{name}:{number}: want {width} tab-separated fields, got {found}: {shown(line)}{hint}"
    )


def write_tsv(table: pl.DataFrame, file: IO[bytes]) -> None:
    """Triples as lines, under a header if they have weights.

    A label that would break its line is an error; what was written until then is not taken back.
    """
    if WEIGHT in table.columns:
        file.write(("\t".join((*FIELDS, WEIGHT)) + "\n").encode())
    elif len(table) and table["head"][0].encode().startswith(BOM):
        file.write(BOM)  # a file that begins with one loses it in reading
    for rows in table.iter_slices(ROWS):
        write_tsv_rows(rows, file)


def write_tsv_rows(rows: pl.DataFrame, file: IO[bytes]) -> None:
    """Rows with the columns of a triple, and maybe others, without a header."""
    for field in FIELDS:
        bad = rows[field].filter(rows[field].str.contains(r"[\t\n\r]"))
        if len(bad):
            raise TriplesError(
                f"TSV has no way to write a tab or a line end, got one in the {field} "
                f"{shown(bad[0])}; rename it, or write Parquet or N-Triples"
            )
    rows.write_csv(file, separator="\t", include_header=False, quote_style="never")
