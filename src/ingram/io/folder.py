"""Datasets on disk: a folder in one of the known layouts, or one file of triples."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ingram.errors import DatasetError
from ingram.graph import Dataset, KnowledgeGraph, Repeats
from ingram.io.formats import WITH_PREFIXES, format_of, name_of
from ingram.io.layouts import Layout, recognise
from ingram.io.openke import read_dictionary, read_numbered
from ingram.io.options import AS_IT_IS, ReadOptions
from ingram.io.rdf import read_prefixes
from ingram.io.reading import read_graph, read_triples
from ingram.splits import three_way_split

HELD_OUT_SHARE = 0.8
"""Of one file's triples, the part that is kept as facts; the rest is validation and test."""


def read_dataset(path: str | Path, *, seed: int = 0, options: ReadOptions = AS_IT_IS) -> Dataset:
    """The dataset of a folder in any layout of :mod:`ingram.io.layouts`, or of one triples file.

    Of a single file, a part of the triples is held out on the same graph (drawn with ``seed``):
    the dataset is then not inductive. ``options`` hold for each file of a folder.
    """
    path = Path(path)
    if path.is_dir():
        layout = recognise(path)
        return _dataset(layout, read_parts(layout, options))
    return hold_out(read_graph(path, options), name_of(path), seed=seed)


def hold_out(graph: KnowledgeGraph, name: str, *, seed: int = 0) -> Dataset:
    """Hold a part of a graph's triples out on the graph itself: not an inductive test."""
    facts, valid, test = three_way_split(graph, seed, HELD_OUT_SHARE)
    repeats = (Repeats("train", graph.duplicates, ()),) if graph.duplicates else ()
    return Dataset(name, facts, facts, valid, test, inductive=False, repeats=repeats)


def read_parts(layout: Layout, options: ReadOptions = AS_IT_IS) -> dict[str, pl.DataFrame]:
    """Part to labelled triples; no ``facts`` where they are the training graph itself."""
    if layout.dictionaries is None:
        return {part: read_triples(path, options) for part, path in layout.parts.items()}
    limit = options.limit
    if other := [name for name in options.given if name != "limit"]:
        raise DatasetError(
            f"{layout.train.parent}: {layout.title} is always read alike, got the option {other[0]}"
        )
    entities, relations = (read_dictionary(path, limit) for path in layout.dictionaries)
    return {p: read_numbered(path, entities, relations, limit) for p, path in layout.parts.items()}


def declared_prefixes(path: str | Path, options: ReadOptions = AS_IT_IS) -> dict[str, str]:
    """The prefixes of a triples file or a dataset folder; none of what can be read but once."""
    path = Path(path)
    if path.is_dir():
        files = list(recognise(path).parts.values())
    else:
        files = [path] if path.is_file() else []
    kinds = {file: format_of(file, options.format) for file in files}
    return {
        prefix: namespace
        for file, kind in kinds.items()
        if kind in WITH_PREFIXES
        for prefix, namespace in read_prefixes(file, format=kind).items()
    }


def _dataset(layout: Layout, tables: dict[str, pl.DataFrame]) -> Dataset:
    facts = tables.get("facts", tables["train"])
    inference = KnowledgeGraph.from_labels(facts, tables["valid"], tables["test"])
    train = KnowledgeGraph.from_labels(tables["train"])
    sizes = [(graph.num_entities, graph.num_relations) for graph in (train, inference)]
    if not layout.inductive and sizes[0] == sizes[1]:
        train = inference
    held_out = {
        part: inference.with_triples(inference.encode(tables[part])) for part in ("valid", "test")
    }
    graphs = {"train": train, "facts": inference, **held_out}
    return Dataset(
        layout.name,
        train,
        inference,
        held_out["valid"].triples,
        held_out["test"].triples,
        layout.inductive,
        tuple(
            _repeats(part, graphs[part].duplicates, tables[part])
            for part in tables
            if graphs[part].duplicates
        ),
    )


def _repeats(part: str, count: int, table: pl.DataFrame) -> Repeats:
    triples = table.select("head", "relation", "tail")
    twice = triples.filter(triples.is_duplicated()).unique(maintain_order=True)
    return Repeats(part, count, tuple(twice.head(3).iter_rows()))
