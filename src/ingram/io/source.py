"""Opening what a graph is read from: a file or standard input, plain or compressed.

A small file can unpack to more than any memory holds. So compressed input is unpacked as it is read
and counted, and may not grow beyond ``FLOOR`` bytes or ``RATIO`` times what was read of it,
whichever is more. Real triples shrink to a twentieth or so. ``limit`` sets another bound, in bytes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from ingram.errors import TriplesError
from ingram.io.formats import STDIN, compression_of

RATIO = 100
FLOOR = 64 * 2**20
BUFFER = 2**20

MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bzip2": re.compile(rb"BZh[1-9]1AY&SY"),
}
"""How compressed files begin. No text and no table begins so."""


class Source(io.RawIOBase):
    """The unpacked bytes of an input, read once from the start to the end.

    ``name`` is what messages call it. Whatever goes wrong while reading is a TriplesError.
    """

    def __init__(
        self, path: Path | None, packed: _Counted, compression: str | None, limit: int | None
    ) -> None:
        super().__init__()
        name = "standard input" if path is None else str(path)
        self.name = name
        self.count = 0
        self.path = path
        self._packed, self._limit = packed, limit
        buffered = io.BufferedReader(packed, BUFFER)
        try:
            self._compression = compression or _by_magic(buffered.peek(16))
        except OSError as error:
            raise TriplesError(f"{name}: cannot be read: {_reason(error)}") from error
        self._inner = UNPACK[self._compression](buffered) if self._compression else buffered

    @property
    def plain_path(self) -> Path | None:
        """The file, for a parser that reads files itself; None if it must be unpacked first."""
        return None if self._compression else self.path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            count = self._inner.readinto(buffer)
        except (EOFError, zlib.error, zstandard.ZstdError, OSError) as error:
            raise self._trouble(error) from error
        self.count += count
        self._check()
        return count

    def _check(self) -> None:
        if self._limit is not None or self._compression:
            self.check(self.count, self._packed.count)

    def check(self, unpacked: int, packed: int) -> None:
        """Refuse what has grown beyond the limit in unpacking."""
        allowed = max(FLOOR, RATIO * packed) if self._limit is None else self._limit
        if unpacked > allowed:
            raise TriplesError(
                f"{self.name}: unpacks to more than {allowed:,} bytes, from {packed:,}; "
                "if it may, say how many with the option limit"
            )

    def _trouble(self, error: Exception) -> TriplesError:
        if self._compression and (not isinstance(error, OSError) or error.errno is None):
            said = str(error).splitlines()[0] if str(error) else "it ends too early"
            return TriplesError(
                f"{self.name}: want a {self._compression} file, got a broken one: {said}"
            )
        return TriplesError(f"{self.name}: cannot be read: {_reason(error)}")


class _Counted(io.RawIOBase):
    """A stream that knows how many bytes were taken from it."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count: int = self._file.readinto1(buffer)  # type: ignore[attr-defined]
        self.count += count
        return count


class _Zstd(io.RawIOBase):
    """The unpacked bytes of zstd frames, one after the other.

    The library's own reader takes a file that was cut off for a whole one. Input goes in by small
    pieces because a piece can unpack to 32,768 times its size at once.
    """

    PIECE = 1024

    def __init__(self, packed: BinaryIO) -> None:
        super().__init__()
        self._packed = packed
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._begun = False
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            piece = self._frame.unused_data if self._frame.eof else b""
            piece = piece or self._packed.read(self.PIECE)
            if not piece:
                if self._begun and not self._frame.eof:
                    raise EOFError("it ends before its last frame does")
                return 0
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._begun = True
            self._rest = memoryview(self._frame.decompress(piece))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


UNPACK: dict[str, Callable[[Any], io.RawIOBase | io.BufferedIOBase]] = {
    "gzip": lambda packed: gzip.GzipFile(fileobj=packed),
    "bzip2": bz2.BZ2File,
    "zstd": _Zstd,
}


@contextmanager
def opened(path: str | Path, *, limit: int | None = None) -> Iterator[Source]:
    """Open a file, or standard input for ``-``, and unpack it.

    The suffix says how it is packed; without one of the three, its first bytes do.
    """
    with ExitStack() as stack:
        if str(path) == STDIN:
            yield Source(None, _Counted(sys.stdin.buffer), None, limit)
        else:
            file = stack.enter_context(_open(Path(path)))
            yield Source(Path(path), _Counted(file), compression_of(path), limit)


def _open(path: Path) -> io.BufferedReader:
    if path.is_dir():
        raise TriplesError(f"{path}: want a file of triples, got a folder")
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise TriplesError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        raise TriplesError(f"{path}: cannot be read: {_reason(error)}") from error


def _by_magic(start: bytes) -> str | None:
    return next((kind for kind, magic in MAGIC.items() if magic.match(start)), None)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error).splitlines()[0]
