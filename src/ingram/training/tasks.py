"""Inductive tasks cut out of a training graph.

A few graphs become thousands: each task is what some random entities reach in two hops, with a
random part of the relations. What helps on all of them is how to read a graph, not what stands in
one; and a step costs the same whatever the size of the graph it is cut from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ingram.datasets.subgraphs import Mask, Neighbours, components, two_hops
from ingram.graph import Ids, KnowledgeGraph, Weights
from ingram.training.task_config import TaskConfig

TRIES = 20
"""Before a graph is taken whole, because nothing large enough was cut out of it."""


@dataclass(frozen=True, eq=False)
class Task:
    """A graph without labels. triples: (T, 3), ids below the counts; weights: (T,) or None."""

    triples: Ids
    num_entities: int
    num_relations: int
    weights: Weights | None = None

    @classmethod
    def whole(cls, graph: KnowledgeGraph) -> Task:
        return cls(graph.triples, graph.num_entities, graph.num_relations, graph.weights)


class TaskSampler:
    """Draws tasks from one graph."""

    def __init__(self, whole: Task, config: TaskConfig) -> None:
        self.whole = whole
        self.config = config
        self.neighbours = Neighbours.of(whole.triples, whole.num_entities)

    def draw(self, rng: np.random.Generator) -> Task:
        """A connected task with enough triples; the whole graph if it is too small to cut."""
        for _ in range(TRIES):
            places = self._cut(rng)
            if len(places) >= self.config.least_triples:
                return self._renumbered(places)
        return self.whole

    def _cut(self, rng: np.random.Generator) -> Ids:
        """Which triples make up a task, before it is known whether they are enough."""
        config, triples = self.config, self.whole.triples
        kept = rng.random(self.whole.num_relations) < rng.uniform(*config.relations)
        least, most = config.entities
        most = max(least, min(most, 2 * self.whole.num_entities))  # small graphs are cut too
        inside = self._reached(int(rng.integers(least, most, endpoint=True)), rng)
        heads, relations, tails = triples.T
        places: Ids = np.flatnonzero(inside[heads] & inside[tails] & kept[relations])
        count = min(config.most_triples, round(rng.uniform(*config.density) * len(places)))
        if count < len(places):
            places = np.sort(rng.choice(places, count, replace=False))
        if not len(places):
            return places
        component = components(triples[places], self.whole.num_entities)[triples[places, 0]]
        giant: Mask = component == np.bincount(component).argmax()
        return places[giant]

    def _reached(self, size: int, rng: np.random.Generator) -> Mask:
        """Entities within two hops of random ones, joined until there are ``size``."""
        limit = int(rng.integers(*self.config.neighbours, endpoint=True))
        inside = np.zeros(self.whole.num_entities, dtype=bool)
        seeds, used = rng.permutation(self.whole.num_entities), 0
        while used < len(seeds) and inside.sum() < size:
            more = seeds[used : max(1, 2 * used)]  # twice as many each time: few rounds
            inside[two_hops(self.neighbours, more, limit, rng)] = True
            used += len(more)
        return inside

    def _renumbered(self, places: Ids) -> Task:
        triples, weights = self.whole.triples[places], self.whole.weights
        entities, ends = np.unique(triples[:, [0, 2]], return_inverse=True)
        relations, kinds = np.unique(triples[:, 1], return_inverse=True)
        ends = ends.reshape(-1, 2)
        return Task(
            np.stack([ends[:, 0], kinds, ends[:, 1]], axis=1),
            len(entities),
            len(relations),
            None if weights is None else weights[places],
        )
