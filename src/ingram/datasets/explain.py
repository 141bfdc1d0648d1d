"""What a dataset's files are, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ingram.graph import KnowledgeGraph
from ingram.io.folder import HELD_OUT_SHARE, read_parts
from ingram.io.formats import name_of
from ingram.io.layouts import recognise
from ingram.io.options import AS_IT_IS, ReadOptions
from ingram.io.reading import read_graph

TITLES = {
    "train": "training graph",
    "facts": "observed facts of the inference graph",
    "valid": "validation triples",
    "test": "test triples",
}
INDUCTIVE = {
    "train": "The model learns its weights here and nowhere else. In every pass it hides some of "
    "these triples and learns to predict them from the others.",
    "facts": "What is known of the second graph when the model is applied to it: the graph that "
    "messages pass along, hence `msg`. It is input, never predicted. It is made by splitting all "
    "triples of that graph 3:1:1 into facts, validation and test, such that every entity and "
    "every relation still occurs among the facts.",
    "valid": "Triples of the second graph that are hidden from the model; how well it predicts "
    "them chooses the weights that are kept.",
    "test": "Triples of the second graph that are hidden until the end; the reported figures are "
    "about these.",
}
TRANSDUCTIVE = {
    "train": "The model learns here, and is then applied to the same graph: these triples are "
    "also the observed facts. There is no second graph, so nothing is shown about new entities.",
    "valid": "Triples of the same graph that are hidden from the model; how well it predicts them "
    "chooses the weights that are kept.",
    "test": "Triples of the same graph that are hidden until the end; the reported figures are "
    "about these.",
}


@dataclass(frozen=True)
class Part:
    """One file and what it is for. triples counts each triple once."""

    part: str
    title: str
    file: Path
    triples: int
    entities: int
    relations: int
    meaning: str


@dataclass(frozen=True)
class Explanation:
    """A dataset's layout in words. Counts of entities and relations: see :func:`explain`."""

    name: str
    layout: str
    title: str
    inductive: bool
    parts: tuple[Part, ...]
    shared_entities: int
    new_relations: int
    inference_relations: int
    unused: tuple[Path, ...]


def explain(path: Path, options: ReadOptions = AS_IT_IS) -> Explanation:
    """Which file of a folder is which.

    shared_entities: entities of the training graph that the inference graph has too.
    new_relations: relations of the inference graph (facts, validation, test) that training lacks.
    """
    if not path.is_dir():
        return _explain_file(path, options)
    layout = recognise(path)
    tables = read_parts(layout, options)
    meanings = INDUCTIVE if layout.inductive else TRANSDUCTIVE
    parts = tuple(_part(p, layout.parts[p], tables[p], meanings[p]) for p in tables)
    return Explanation(
        layout.name,
        layout.kind,
        layout.title,
        layout.inductive,
        parts,
        *_compared(tables),
        layout.unused,
    )


def _part(part: str, file: Path, table: pl.DataFrame, meaning: str) -> Part:
    graph = KnowledgeGraph.from_labels(table)
    sizes = (graph.num_triples, graph.num_entities, graph.num_relations)
    return Part(part, TITLES[part], file, *sizes, meaning)


def _compared(tables: dict[str, pl.DataFrame]) -> tuple[int, int, int]:
    first = KnowledgeGraph.from_labels(tables["train"])
    facts = tables.get("facts", tables["train"])
    second = KnowledgeGraph.from_labels(facts, tables["valid"], tables["test"])
    shared = first.entities.ids(second.entities.labels).is_not_null().sum()
    new = first.relations.ids(second.relations.labels).null_count()
    return int(shared), new, second.num_relations


def _explain_file(path: Path, options: ReadOptions) -> Explanation:
    graph = read_graph(path, options)
    sizes = (graph.num_triples, graph.num_entities, graph.num_relations)
    meaning = (
        f"All triples are one graph. When it is trained on, {HELD_OUT_SHARE:.0%} of them stay as "
        "facts, which cover every entity and relation; the rest is hidden, half for validation "
        "and half for test, drawn with the seed. To make a dataset of two graphs of it: ingram "
        "data generate; to keep one split for good: ingram data split."
    )
    part = Part("train", "one graph", path, *sizes, meaning)
    return Explanation(
        name_of(path),
        "file",
        "one file of triples",
        inductive=False,
        parts=(part,),
        shared_entities=graph.num_entities,
        new_relations=0,
        inference_relations=graph.num_relations,
        unused=(),
    )
