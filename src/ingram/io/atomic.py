"""Writing files so that a reader, or a crash, never meets half of one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingram.errors import DatasetError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to; renamed over it when the block ends well."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


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
                with file.open("rb") as written:
                    os.fsync(written.fileno())
            temporary.rename(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Replace a file's text."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
