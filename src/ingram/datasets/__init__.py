"""Datasets by name or by path."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from ingram.graph import Dataset, KnowledgeGraph
from ingram.io.folder import read_dataset
from ingram.io.tabular import read_graph

EMBEDDED = ("world",)


def open_dataset(name: str | Path, *, seed: int = 0) -> Dataset:
    """The embedded dataset ``world``, or the dataset at a path.

    A folder or file of that name wins over the embedded one.
    """
    if str(name) in EMBEDDED and not Path(name).exists():
        with as_file(files("ingram.datasets") / str(name)) as folder:
            return read_dataset(folder, seed=seed)
    return read_dataset(name, seed=seed)


def open_graph(name: str | Path) -> KnowledgeGraph:
    """The graph in a triples file; of a dataset, the observed facts of its inference graph."""
    if str(name) in EMBEDDED or Path(name).is_dir():
        return open_dataset(name).inference
    return read_graph(name)
