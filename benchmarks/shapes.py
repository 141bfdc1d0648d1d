"""Graphs to measure on: random ones of the benchmarks' sizes, or the real ones from a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from ingram.graph import Ids, KnowledgeGraph
from ingram.io.reading import read_graph
from ingram.labels import Vocabulary

SIZES = {
    "NL-100": (1_258, 55, 7_832),
    "FB-100": (4_659, 134, 62_809),
    "WK-100": (9_784, 67, 49_875),
}
"""Entities, relations and triples of the training graphs (the paper's table 5)."""


def training_graph(name: str, folder: Path | None) -> KnowledgeGraph:
    """The real training graph if ``folder`` holds it, else a random one of its size."""
    if folder is not None:
        return read_graph(folder / name / "train.txt")
    return random_graph(*SIZES[name], seed=0)


def random_graph(entities: int, relations: int, triples: int, seed: int) -> KnowledgeGraph:
    """A connected graph with hubs: a few entities and relations take much, as in real ones."""
    rng = np.random.default_rng(seed)
    chain = np.stack(
        [
            np.arange(1, entities),
            _skewed(rng, relations, entities - 1),
            (rng.random(entities - 1) ** 3 * np.arange(1, entities)).astype(np.int64),
        ],
        axis=1,
    )
    extra = max(0, triples - len(chain))
    rest = np.stack(
        [
            rng.permutation(entities)[_skewed(rng, entities, extra)],
            _skewed(rng, relations, extra),
            rng.permutation(entities)[_skewed(rng, entities, extra)],
        ],
        axis=1,
    )
    graph = KnowledgeGraph(
        np.empty((0, 3), np.int64), _names("e", entities), _names("r", relations)
    )
    return graph.with_triples(np.concatenate([chain, rest])[:triples])


def _skewed(rng: np.random.Generator, count: int, size: int) -> Ids:
    return (rng.random(size) ** 2 * count).astype(np.int64)


def _names(prefix: str, count: int) -> Vocabulary:
    numbers = pl.int_range(count, eager=True).cast(pl.String)
    return Vocabulary((prefix + numbers).rename("label"))
