"""Parquet: a table with its own column names and types."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import polars as pl
from polars.exceptions import PanicException, PolarsError

from ingram.errors import TriplesError
from ingram.io.columns import checked, no_columns, pick
from ingram.io.lines import chunks, short
from ingram.io.options import ReadOptions
from ingram.io.source import Source
from ingram.labels import FIELDS

ROWS = 2**18
LEAST = 6
"""Bytes of the shortest triple in text: a row is counted as no less against the limit."""


def read_parquet(source: Source, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """Blocks of labelled triples, from columns of text or whole numbers."""
    try:
        with muted():
            blocks = list(_read(source, options))
    except (PolarsError, OSError, OverflowError, PanicException) as error:
        raise TriplesError(f"{source.name}: want Parquet, got {short(str(error))}") from error
    yield from blocks


def _read(source: Source, options: ReadOptions) -> Iterator[pl.DataFrame]:
    if source.plain_path is not None:
        size = source.plain_path.stat().st_size
        table = pl.scan_parquet(source.plain_path, glob=False)
    else:
        data = b"".join(chunks(source))
        size = len(data)
        table = pl.scan_parquet(io.BytesIO(data))
    schema = table.collect_schema()
    picked = pick(source.name, options, len(schema), schema.names())
    if picked is None:
        raise no_columns(source.name, schema.names())
    for name in [schema.names()[i] for i in picked.triple]:
        if not (options.asked and schema[name] == pl.Null):
            _check_type(source.name, name, schema[name])
    count = table.select(pl.len()).collect().item()
    source.check(LEAST * count, size)

    table = table.select(picked.take(schema.names())).with_columns(pl.col(FIELDS).cast(pl.String))
    rows = text = 0
    for block in table.collect_batches(chunk_size=ROWS):
        text += sum(int(block[name].str.len_bytes().sum() or 0) for name in FIELDS) + 3 * len(block)
        source.check(text, size)
        yield checked(block, partial(_trouble, source.name, rows), asked=picked.asked)
        rows += len(block)
    if rows != count:  # a parser's thread that died says nothing else
        raise TriplesError(
            f"{source.name}: want {count:,} rows of Parquet, got {rows:,} that can be read"
        )


@contextmanager
def muted() -> Iterator[None]:
    """Keep what is printed meanwhile until all went well.

    A damaged file can make the parser panic, which prints pages that no user should meet; what
    there is to say is in the error.
    """
    try:
        screen = os.dup(2)
    except OSError:
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(screen, 2)
            os.close(screen)
        held.seek(0)
        while said := held.read(2**16):
            os.write(2, said)


def _trouble(name: str, before: int, row: int, what: str) -> TriplesError:
    return TriplesError(f"{name}: row {before + row + 1}: {what}")


def _check_type(where: str, name: str, dtype: pl.DataType) -> None:
    textual = dtype in (pl.String, pl.Categorical, pl.Binary) or isinstance(dtype, pl.Enum)
    if not (textual or dtype.is_integer()):
        raise TriplesError(f"{where}: want text or whole numbers in column {name!r}, got {dtype}")
