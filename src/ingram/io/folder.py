"""Datasets on disk: a folder of four files, or one file of triples."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ingram.errors import DatasetError
from ingram.graph import Dataset, Ids, KnowledgeGraph
from ingram.io.tabular import read_graph, read_triples
from ingram.splits import three_way_split

HELD_OUT_SHARE = 0.8
"""Of one file's triples, the part that is kept as facts; the rest is validation and test."""


def read_dataset(path: str | Path, *, seed: int = 0) -> Dataset:
    """A folder with train, msg, valid and test (``.txt`` or ``.txt.gz``), or one triples file.

    ``train`` is the training graph, ``msg`` the observed facts of the inference graph, ``valid``
    and ``test`` the triples to predict there. Of a single file, a part of the triples is held out
    on the same graph (drawn with ``seed``): the dataset is then not inductive.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    return hold_out(read_graph(path), path.name, seed=seed)


def hold_out(graph: KnowledgeGraph, name: str, *, seed: int = 0) -> Dataset:
    """Hold a part of a graph's triples out on the graph itself: not an inductive test."""
    facts, valid, test = three_way_split(graph, seed, HELD_OUT_SHARE)
    return Dataset(name, facts, facts, valid, test, inductive=False)


def _read_folder(folder: Path) -> Dataset:
    tables = {name: read_triples(_find(folder, name)) for name in ("train", "msg", "valid", "test")}
    inference = KnowledgeGraph.from_labels(tables["msg"], tables["valid"], tables["test"])
    return Dataset(
        folder.resolve().name,
        KnowledgeGraph.from_labels(tables["train"]),
        inference,
        _distinct(inference, tables["valid"]),
        _distinct(inference, tables["test"]),
    )


def _distinct(graph: KnowledgeGraph, table: pl.DataFrame) -> Ids:
    return graph.with_triples(graph.encode(table)).triples


def _find(folder: Path, name: str) -> Path:
    for suffix in (".txt", ".txt.gz"):
        if (folder / (name + suffix)).exists():
            return folder / (name + suffix)
    held = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    raise DatasetError(
        f"{folder}: want train, msg, valid and test as .txt or .txt.gz, "
        f"found no {name}.txt (the folder holds {held})"
    )
