"""Datasets by name or by path."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from ingram.graph import Dataset
from ingram.io.folder import read_dataset

EMBEDDED = ("world",)


def open_dataset(name: str | Path, *, seed: int = 0) -> Dataset:
    """The embedded dataset ``world``, or the dataset at a path.

    A folder or file of that name wins over the embedded one.
    """
    if str(name) in EMBEDDED and not Path(name).exists():
        with as_file(files("ingram.datasets") / str(name)) as folder:
            return read_dataset(folder, seed=seed)
    return read_dataset(name, seed=seed)
