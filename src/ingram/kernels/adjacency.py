"""Edges grouped by their destination: the order in which the loops walk a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ingram.graph import Ids, with_inverses
from ingram.kernels.parallel import compiled
from ingram.relation_graph import RelationGraph


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Incoming edges of N nodes. pointers: (N + 1,) long; sources, kinds: (E,) int, by destination.

    The edges into node v are ``pointers[v] : pointers[v + 1]``. A kind is a relation in a
    knowledge graph and a bin in a relation graph. Where edges of one kind follow each other, the
    loops read the kind once.
    """

    pointers: Tensor
    sources: Tensor
    kinds: Tensor

    @property
    def num_nodes(self) -> int:
        return len(self.pointers) - 1

    @property
    def num_edges(self) -> int:
        return len(self.sources)

    def degree_scale(self, like: Tensor, loops: int = 0) -> Tensor:
        """(N,): 1 / sqrt(degree), ``loops`` edges of each node not counted."""
        return (self.pointers.diff() - loops).clamp(min=1).to(like).rsqrt()

    def rows(self, start: int, stop: int) -> Adjacency:
        """The edges into nodes ``start : stop`` only."""
        first, last = int(self.pointers[start]), int(self.pointers[stop])
        return Adjacency(
            self.pointers[start : stop + 1] - first,
            self.sources[first:last],
            self.kinds[first:last],
        )

    def to(self, device: torch.device) -> Adjacency:
        return Adjacency(self.pointers.to(device), self.sources.to(device), self.kinds.to(device))


BYTES_A_TRIPLE = 150
"""While the edges between entities and between relations are made."""


def entity_adjacency(
    triples: Ids, num_entities: int, num_relations: int, *, self_loops: bool = False
) -> Adjacency:
    """Edges head -> tail of the facts and of their inverses, kinds in [0, 2m).

    ``self_loops`` adds an edge of kind 2m from each entity to itself.
    """
    heads, relations, tails = with_inverses(triples, num_relations).T
    if self_loops:
        loops = np.arange(num_entities)
        heads, tails = np.concatenate([heads, loops]), np.concatenate([tails, loops])
        relations = np.concatenate([relations, np.full(num_entities, 2 * num_relations)])
    return group_by_destination(tails, heads, relations, num_entities)


def relation_adjacency(graph: RelationGraph) -> Adjacency:
    """Edges of the relation graph, kinds = bins. Row i of A lists the neighbours of i."""
    return Adjacency(
        torch.from_numpy(graph.pointers),
        torch.from_numpy(graph.cols.astype(np.int32)),
        torch.from_numpy(graph.bins.astype(np.int32)),
    )


def group_by_destination(destinations: Ids, sources: Ids, kinds: Ids, num_nodes: int) -> Adjacency:
    """Sort edges by destination, within one by kind, else keeping their order (counting sorts)."""
    pointers = np.zeros(num_nodes + 1, np.int64)
    np.cumsum(np.bincount(destinations, minlength=num_nodes), out=pointers[1:])
    ordered = np.empty((2, len(sources)), np.int32)
    first = np.zeros(int(kinds.max(initial=-1)) + 2, np.int64)
    np.cumsum(np.bincount(kinds), out=first[1:])
    order = np.empty(len(kinds), np.int32 if len(kinds) < 2**31 else np.int64)
    _scatter(destinations, sources, kinds, order, first, pointers[:-1].copy(), ordered)
    return Adjacency(torch.from_numpy(pointers), *map(torch.from_numpy, ordered))


@compiled
def _scatter(destinations, sources, kinds, order, first, free, ordered):
    for e in range(len(kinds)):
        slot = first[kinds[e]]
        first[kinds[e]] = slot + 1
        order[slot] = e
    for e in order:
        slot = free[destinations[e]]
        free[destinations[e]] = slot + 1
        ordered[0, slot] = sources[e]
        ordered[1, slot] = kinds[e]
