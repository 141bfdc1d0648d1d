"""Datasets by name or by path."""

from __future__ import annotations

from pathlib import Path

from ingram.datasets.checks import Finding, check, ensure_sound
from ingram.datasets.registry import EMBEDDED, NAMES, located
from ingram.graph import Dataset, KnowledgeGraph
from ingram.io.folder import read_dataset
from ingram.io.reading import read_graph

__all__ = [
    "EMBEDDED",
    "NAMES",
    "Finding",
    "check",
    "ensure_sound",
    "open_dataset",
    "open_graph",
    "open_source",
]


def open_dataset(name: str | Path, *, seed: int = 0) -> Dataset:
    """The embedded dataset ``world``, a benchmark such as ``NL-100``, or the dataset at a path.

    A folder or file of that name wins. Nothing is fetched: a benchmark that is not in the cache is
    an error that says how to get it.
    """
    with located(name) as path:
        return read_dataset(path, seed=seed)


def open_graph(name: str | Path) -> KnowledgeGraph:
    """The graph in a triples file; of a dataset, the observed facts of its inference graph."""
    return open_dataset(name).inference if _is_dataset(name) else read_graph(name)


def open_source(name: str | Path) -> KnowledgeGraph:
    """The graph in a triples file, whole; of a dataset, its training graph."""
    return open_dataset(name).train if _is_dataset(name) else read_graph(name)


def _is_dataset(name: str | Path) -> bool:
    path = Path(name)
    return path.is_dir() or (str(name) in (*EMBEDDED, *NAMES) and not path.exists())
