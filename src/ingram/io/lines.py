"""Text in blocks of whole lines, so that memory follows a block and not the file."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from polars.exceptions import PolarsError

from ingram.errors import TriplesError
from ingram.io.source import Source

BLOCK = 16 * 2**20
LINE = 16 * 2**20
"""Bytes of the longest line that is read; a file without line ends is not a file of triples."""

BOM = b"\xef\xbb\xbf"

ROWS = 2**20
"""Triples that are turned into text together."""


def line_blocks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, each with its first line's number; without a byte order mark."""
    number, rest = 1, b""
    for index, chunk in enumerate(chunks(source)):
        if index == 0:
            chunk = chunk.removeprefix(BOM)
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest += chunk
            refuse_long(source.name, number, len(rest))
            continue
        block = rest + chunk[:cut]
        yield number, block
        number += block.count(b"\n")
        rest = chunk[cut:]
        refuse_long(source.name, number, len(rest))
    if rest:
        yield number, rest


def chunks(source: Source) -> Iterator[bytes]:
    """The bytes of a source by full chunks; only the last is smaller."""
    while True:
        chunk = bytearray()
        while len(chunk) < BLOCK and (part := source.read(min(2**20, BLOCK - len(chunk)))):
            chunk += part
        if chunk:
            yield bytes(chunk)
        if len(chunk) < BLOCK:
            return


def lines_of(name: str, first: int, block: bytes) -> pl.DataFrame:
    """The lines of a block without their ends: columns number and line. Blank ones are left out."""
    try:
        lines = pl.read_lines(block).with_row_index("number", offset=first)
    except PolarsError as error:
        raise not_utf8(name, first, block, error) from error
    if b"\r" in block:
        lines = lines.with_columns(pl.col("line").str.strip_suffix("\r"))
    lengths = lines["line"].str.len_bytes()
    if lengths.len() and lengths.max() > LINE:  # type: ignore[operator]
        at = lengths.arg_max() or 0
        refuse_long(name, lines["number"][at], lengths[at])
    return lines.filter(lengths > 0)


def not_utf8(name: str, first: int, block: bytes, error: Exception) -> TriplesError:
    """Which byte of a block is no UTF-8, and where it stands."""
    try:
        block.decode()
    except UnicodeDecodeError as bad:
        start = block.rfind(b"\n", 0, bad.start) + 1
        end = block.find(b"\n", bad.start)
        number = first + block.count(b"\n", 0, start)
        line = block[start : end + 1 if end >= 0 else None]
        return TriplesError(
            f"{name}:{number}: want UTF-8, got byte 0x{block[bad.start]:02x} "
            f"at column {bad.start - start + 1}: {line[:60]!r}"
        )
    return TriplesError(f"{name}: cannot be read: {short(str(error))}")


def refuse_long(name: str, number: int, length: int) -> None:
    """A line longer than any honest one is an error."""
    if length > LINE:
        raise TriplesError(
            f"{name}:{number}: want lines of at most {LINE:,} bytes, got a longer one"
        )


def shown(line: str) -> str:
    """A line as an error quotes it."""
    return repr(line if len(line) <= 80 else line[:77] + "...")


def short(message: str) -> str:
    """The gist of another library's message: its first line, not too long."""
    first = " ".join(message.split("\n", 1)[0].split())
    return first if len(first) <= 160 else first[:157] + "..."
