"""What a file of vectors promises is held against its size before anything is allocated.

A few bytes can promise more numbers than any memory holds: a header with a large shape, a column of
one value a billion times. Vectors do not shrink when packed, so an honest file is about as large as
what is in it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ingram.io.source import FLOOR, RATIO

FIRST_LINE = 100
"""Characters of the line that announces a text's vectors, at most."""


def want_possible(path: Path, promised: int) -> None:
    """A ValueError if a file is too small for so many bytes of numbers and labels."""
    size = path.stat().st_size
    if promised > max(FLOOR, RATIO * size):
        raise ValueError(f"{size:,} bytes that promise {promised:,}")


def check_parquet(path: Path, table: pl.LazyFrame) -> None:
    """Columns kind, label and vector, and no more rows than the file can hold."""
    schema = table.collect_schema()
    if any(schema.get(name) != pl.String for name in ("kind", "label")):
        raise ValueError("no columns kind and label of text")
    vector = schema.get("vector")
    if not isinstance(vector, pl.Array) or vector.inner != pl.Float32:
        raise ValueError(f"a column vector of {vector}")
    widths = [t.size for t in schema.values() if isinstance(t, pl.Array)]
    rows: int = table.select(pl.len()).collect().item()
    want_possible(path, rows * (8 * len(schema) + 4 * sum(widths)))


def check_numpy(path: Path) -> None:
    """Every array is as large as its header says, and there are no objects, which are pickles."""
    with zipfile.ZipFile(path) as archive:
        want_possible(path, sum(entry.file_size for entry in archive.infolist()))
        for entry in archive.infolist():
            with archive.open(entry) as file:
                count, dtype = _header(file)
            if dtype.hasobject or dtype.itemsize * count > entry.file_size:
                raise ValueError(f"an array {entry.filename[:60]!r} that is not what it says")


def _header(file: IO[bytes]) -> tuple[int, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in read:
        raise ValueError(f"an array of version {version}")
    shape, _, dtype = read[version](file)
    count = 1
    for length in shape:
        count *= max(0, length)
    return count, dtype


def announced(path: Path, line: bytes) -> tuple[int, int]:
    """How many vectors of which width the first line of a text announces."""
    count, width = map(int, line.split())
    if not (count >= 0 and 0 < width < path.stat().st_size):
        raise ValueError(f"{count} vectors of width {width} announced")
    want_possible(path, 4 * count * width)
    return count, width


def words(text: bytes, ends: npt.NDArray[Any]) -> list[str]:
    """Labels that stand in one text, by where each one ends."""
    if ends.dtype != np.int64 or ends.ndim != 1:
        raise ValueError(f"ends of labels as {ends.dtype}")
    borders = np.concatenate([[0], ends])
    if (np.diff(borders) < 0).any() or borders[-1] != len(text):
        raise ValueError("labels that overlap")
    return [text[a:b].decode() for a, b in zip(borders[:-1], ends, strict=True)]


def want_tables(labels: Sequence[pl.Series], vectors: Sequence[npt.NDArray[Any]]) -> None:
    """Vectors of one width, as many as there are labels, and every label once."""
    for names, values in zip(labels, vectors, strict=True):
        if values.ndim != 2 or values.dtype != np.float32:
            raise ValueError(f"vectors of shape {values.shape} and type {values.dtype}")
        if len(names) != len(values):
            raise ValueError("another number of labels than of vectors")
        if names.null_count() or (names == "").any() or names.is_duplicated().any():
            raise ValueError("labels that are missing or stand twice")
    widths = {values.shape[1] for values in vectors}
    if len(widths) != 1:
        raise ValueError(f"vectors of widths {sorted(widths)}")
