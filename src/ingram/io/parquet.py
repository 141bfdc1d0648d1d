"""Parquet: a table with its own column names and types."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial

import polars as pl
from polars.exceptions import PolarsError

from ingram.errors import TriplesError
from ingram.io.columns import FIELDS, Wanted, checked, no_columns, pick
from ingram.io.lines import chunks, short
from ingram.io.source import Source

ROWS = 2**18
LEAST = 6
"""Bytes of the shortest triple in text: a row is counted as no less against the limit."""


def read_parquet(source: Source, wanted: Wanted) -> Iterator[pl.DataFrame]:
    """Blocks of labelled triples, from columns of text or whole numbers."""
    try:
        yield from _read(source, wanted)
    except (PolarsError, OSError, OverflowError, pl.exceptions.PanicException) as error:
        raise TriplesError(f"{source.name}: want Parquet, got {short(str(error))}") from error


def _read(source: Source, wanted: Wanted) -> Iterator[pl.DataFrame]:
    if source.plain_path is not None:
        size = source.plain_path.stat().st_size
        table = pl.scan_parquet(source.plain_path, glob=False)
    else:
        data = b"".join(chunks(source))
        size = len(data)
        table = pl.scan_parquet(io.BytesIO(data))
    schema = table.collect_schema()
    picked = pick(source.name, wanted, len(schema), schema.names())
    if picked is None:
        raise no_columns(source.name, schema.names())
    for name in [schema.names()[i] for i in picked.triple]:
        _check_type(source.name, name, schema[name])
    count = table.select(pl.len()).collect().item()
    source.check(LEAST * count, size)

    table = table.select(picked.take(schema.names())).with_columns(pl.col(FIELDS).cast(pl.String))
    rows = text = 0
    for block in table.collect_batches(chunk_size=ROWS):
        text += sum(int(block[name].str.len_bytes().sum()) for name in FIELDS) + 3 * len(block)
        source.check(text, size)
        yield checked(block, partial(_trouble, source.name, rows))
        rows += len(block)


def _trouble(name: str, before: int, row: int, what: str) -> TriplesError:
    return TriplesError(f"{name}: row {before + row + 1}: {what}")


def _check_type(where: str, name: str, dtype: pl.DataType) -> None:
    textual = dtype in (pl.String, pl.Categorical, pl.Binary) or isinstance(dtype, pl.Enum)
    if not (textual or dtype.is_integer()):
        raise TriplesError(f"{where}: want text or whole numbers in column {name!r}, got {dtype}")
