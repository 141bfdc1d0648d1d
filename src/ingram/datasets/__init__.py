"""Datasets by name or by path."""

from __future__ import annotations

from pathlib import Path

from ingram.datasets.checks import Finding, check, ensure_sound
from ingram.datasets.registry import EMBEDDED, NAMES, located
from ingram.graph import Dataset, KnowledgeGraph
from ingram.io.folder import read_dataset
from ingram.io.formats import STDIN
from ingram.io.options import AS_IT_IS, ReadOptions
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


def open_dataset(name: str | Path, *, seed: int = 0, options: ReadOptions = AS_IT_IS) -> Dataset:
    """The embedded dataset ``world``, a benchmark such as ``NL-100``, or the dataset at a path.

    A folder or file of that name wins. Nothing is fetched: a benchmark that is not in the cache is
    an error that says how to get it. ``options`` hold for each file of a folder.
    """
    with located(name) as path:
        return read_dataset(path, seed=seed, options=options)


def open_graph(name: str | Path, options: ReadOptions = AS_IT_IS) -> KnowledgeGraph:
    """The graph in a triples file; of a dataset, the observed facts of its inference graph."""
    if _is_file(name):
        return read_graph(name, options)
    return open_dataset(name, options=options).inference


def open_source(name: str | Path, options: ReadOptions = AS_IT_IS) -> KnowledgeGraph:
    """The graph in a triples file, whole; of a dataset, its training graph."""
    if _is_file(name):
        return read_graph(name, options)
    return open_dataset(name, options=options).train


def _is_file(name: str | Path) -> bool:
    path = Path(name)
    return str(name) == STDIN or (path.exists() and not path.is_dir())
