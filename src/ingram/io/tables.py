"""Tables of triples with more columns, such as scores, written as they come."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl

from ingram.errors import TriplesError
from ingram.io.formats import STDIN, format_of
from ingram.io.tsv import write_tsv_rows
from ingram.io.writing import packed

Write = Callable[[pl.DataFrame], None]

TABLE_FORMATS = ("tsv", "parquet", "jsonl")


@contextmanager
def writing_table(path: str | Path) -> Iterator[Write]:
    """What takes the blocks of a table, one after the other, and writes them to a file.

    ``tsv`` with a header, ``parquet`` or ``jsonl``, by the suffix; ``.gz``, ``.zst`` and ``.bz2``
    compress. Memory follows a block. The file appears when all went well, and an error in what
    can be known beforehand comes before the first block.
    """
    kind = format_of(path)
    if str(path) == STDIN:
        raise TriplesError("want a file to write to, got - for standard input")
    if kind not in TABLE_FORMATS:
        raise TriplesError(f"{path}: want {', '.join(TABLE_FORMATS)} to write, got {kind}")
    with packed(Path(path)) as file:
        if kind == "parquet":
            with _parquet(file, Path(path).parent) as write:
                yield write
        else:
            yield _Lines(file, kind).write


def write_tables(blocks: Iterable[pl.DataFrame], path: str | Path) -> int:
    """Write the blocks of a table as they are made; returns the number of rows."""
    rows = 0
    with writing_table(path) as write:
        for block in blocks:
            write(block)
            rows += len(block)
    return rows


class _Lines:
    def __init__(self, file: IO[bytes], kind: str) -> None:
        self.file, self.kind, self.begun = file, kind, False

    def write(self, block: pl.DataFrame) -> None:
        if self.kind == "jsonl":
            block.write_ndjson(self.file)
            return
        if not self.begun:
            self.file.write(("\t".join(block.columns) + "\n").encode())
            self.begun = True
        write_tsv_rows(block, self.file)


@contextmanager
def _parquet(file: Any, folder: Path) -> Iterator[Write]:
    """Parts beside the file, joined at the end: a Parquet file cannot grow."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".parts-") as parts:
        paths: list[Path] = []

        def write(block: pl.DataFrame) -> None:
            paths.append(Path(parts) / f"{len(paths)}.parquet")
            block.write_parquet(paths[-1])

        yield write
        if paths:
            pl.scan_parquet(paths, glob=False).sink_parquet(file, maintain_order=True)
