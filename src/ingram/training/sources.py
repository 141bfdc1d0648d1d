"""The graphs that a run learns on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ingram.errors import ConfigError, RunError
from ingram.graph import Dataset, Ids, KnowledgeGraph
from ingram.training.config import Config, QueryConfig
from ingram.training.streams import CHOICE, stream


@dataclass(frozen=True, eq=False)
class Source:
    """A graph to learn on, by name."""

    name: str
    graph: KnowledgeGraph

    def describe(self, *more: Ids) -> dict[str, Any]:
        """What a run records of it: name, sizes, and a sum over its triples and ``more``."""
        weights = [] if self.graph.weights is None else [self.graph.weights]
        parts = [array.tobytes() for array in (self.graph.triples, *weights, *more)]
        return {
            "name": self.name,
            "entities": self.graph.num_entities,
            "relations": self.graph.num_relations,
            "triples": self.graph.num_triples,
            "sum": hashlib.sha256(b"".join(parts)).hexdigest()[:16],
        }


class Choice:
    """Of several graphs an epoch takes one: all alike, or a graph of twice the triples twice as
    often.
    """

    def __init__(self, graphs: Sequence[KnowledgeGraph], config: Config | QueryConfig) -> None:
        self.graphs, self.seed = len(graphs), config.training.seed
        self.shares: list[float] | None = None
        if config.training.sources == "triples":
            if self.graphs == 1:
                raise ConfigError("training.sources=triples is of several graphs; there is but one")
            counts = np.array([graph.num_triples for graph in graphs])
            self.shares = (counts / counts.sum()).tolist()

    def of_epoch(self, number: int) -> int:
        """Which one epoch ``number`` takes."""
        rng = stream(self.seed, CHOICE, number)
        if self.shares is None:
            return int(rng.integers(self.graphs))
        return int(rng.choice(self.graphs, p=self.shares))


def describe_data(graphs: Sequence[Source], datasets: Sequence[Dataset]) -> dict[str, Any]:
    """What a run records of all its graphs, by use."""
    return {
        "graphs": [source.describe() for source in graphs],
        "validation": [Source(d.name, d.inference).describe(d.valid) for d in datasets],
    }


def want_same_data(run: Path, begun: dict[str, Any], data: dict[str, Any]) -> None:
    """Refuse to go on with other graphs than a run was begun with, as far as it recorded them."""
    for use, graphs in data.items():
        if begun.get(use, graphs) != graphs:
            names = [str(g.get("name"))[:60] for g in begun[use] if isinstance(g, dict)]
            raise RunError(
                f"{run}: this run was begun with other {use} ({', '.join(names[:9])}); resume it "
                "with the same, or train anew elsewhere"
            )
