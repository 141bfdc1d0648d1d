"""Writing files so that a reader, or a crash, never meets half of one.

What happens on the disk happens through ``os``, so that a test can let any single call fail.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ingram.errors import DatasetError, WriteError

REMEDIES = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room: the quota is used up",
    errno.EROFS: "choose a folder that can be written to",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.ENOENT: "its folder is gone",
    errno.ENOTDIR: "a part of its path is no folder",
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to; renamed over it when the block ends well.

    Once the block is left, the new file outlives a power cut.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)  # noqa: PTH105
    finally:
        with suppress(OSError):  # it is gone if all went well
            os.unlink(temporary)  # noqa: PTH108
    with suppress(OSError):  # not every file system can, and the file is in its place
        _sync(path.parent)


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file's content; a failure is one line and leaves the old content."""
    with _refusing(path), replacing(path) as temporary:
        _write(temporary, data, os.O_CREAT | os.O_TRUNC)


def write_text(path: Path, text: str) -> None:
    """Replace a file's text."""
    write_bytes(path, text.encode())


def append_line(path: Path, line: str) -> None:
    """Add a line at a file's end; a failure leaves the lines before it, and no part of this one."""
    with _refusing(path):
        size = os.stat(path).st_size  # noqa: PTH116
        try:
            _write(path, f"{line}\n".encode(), os.O_APPEND)
            _sync(path)
        except OSError:
            with suppress(OSError):
                os.truncate(path, size)
            raise


def make_folder(path: Path) -> None:
    """Make a folder where there is none; the one around it must be there."""
    with _refusing(path), suppress(FileExistsError):
        os.mkdir(path)  # noqa: PTH102


def make_folders(path: Path) -> None:
    """Make a folder and those around it, where there are none."""
    with _refusing(path):
        path.mkdir(parents=True, exist_ok=True)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with _refusing(path), suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108


def sweep(folder: Path) -> None:
    """Remove the temporary files that a killed process left. Nobody may be writing there."""
    for leftover in folder.glob(".*.tmp"):
        if leftover.is_file() and not leftover.is_symlink():
            remove(leftover)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = REMEDIES.get(error.errno or 0)
        reason = f"{path}: cannot be written: {error.strerror or error}"
        raise WriteError(f"{reason}; {remedy}" if remedy else reason) from error


def _write(path: Path, data: bytes, flags: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | flags, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def want_new_folder(path: Path) -> None:
    """Refuse a place to write a folder to that is taken; ask this before long work."""
    if path.is_dir() and any(path.iterdir()):
        raise DatasetError(f"{path}: want a new or empty folder to write to, got one with files")
    if path.exists() and not path.is_dir():
        raise DatasetError(f"{path}: want a new or empty folder to write to, got a file")


@contextmanager
def creating_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside ``path`` to fill; renamed to it when the block ends well.

    A folder that holds something already is refused before anything is written.
    """
    path = path.resolve()
    want_new_folder(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.mkdir()
        try:
            yield temporary
            for file in temporary.iterdir():
                _sync(file)
            temporary.rename(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written: {error.strerror or error}") from error
