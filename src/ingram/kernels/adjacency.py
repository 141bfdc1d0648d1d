"""Edges grouped by their destination, and by their source: the orders in which loops walk them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ingram.graph import Ids
from ingram.kernels.parallel import compiled, inlined_fast
from ingram.kernels.vectors import get
from ingram.relation_graph import RelationGraph


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Incoming edges of N nodes. pointers: (N + 1,) long; sources, kinds: (E,) int, by destination.

    The edges into node v are ``pointers[v] : pointers[v + 1]``. A kind is a relation in a
    knowledge graph and a bin in a relation graph. Where edges of one kind follow each other, loops
    may read the kind once.
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

    @cached_property
    def outgoing(self) -> Outgoing:
        """The same edges by their sources, of a whole graph; made when first asked for."""
        pointers, sources, kinds = (t.numpy() for t in (self.pointers, self.sources, self.kinds))
        starts = _starts(sources, self.num_nodes)
        columns = np.empty((3, self.num_edges), np.int32)
        _turn(pointers, sources, kinds, starts[:-1].copy(), columns)
        return Outgoing(*map(torch.from_numpy, (starts, *columns)))

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


@dataclass(frozen=True, eq=False)
class Outgoing:
    """Outgoing edges of N nodes, by source: pointers as in :class:`Adjacency`.

    destinations, kinds, places: (E,) int, the last where an edge stands among the incoming ones.
    """

    pointers: Tensor
    destinations: Tensor
    kinds: Tensor
    places: Tensor


BYTES_A_TRIPLE = 250
"""While the edges between entities, those between relations and what implies what are made."""


def entity_adjacency(
    triples: Ids, num_entities: int, num_relations: int, *, self_loops: bool = False
) -> Adjacency:
    """Edges head -> tail of the facts and of their inverses, kinds in [0, 2m).

    ``self_loops`` adds an edge of kind 2m from each entity to itself.
    """
    pointers = np.zeros(num_entities + 1, np.int64)
    edges = 2 * len(triples) + (num_entities if self_loops else 0)
    ordered = np.empty((2, edges), np.int32)
    _lay_out(np.ascontiguousarray(triples), num_relations, self_loops, pointers, ordered)
    return Adjacency(*map(torch.from_numpy, (pointers, *ordered)))


def relation_adjacency(graph: RelationGraph) -> Adjacency:
    """Edges of the relation graph, kinds = bins. Row i of A lists the neighbours of i."""
    return Adjacency(
        torch.from_numpy(graph.pointers),
        torch.from_numpy(graph.cols.astype(np.int32)),
        torch.from_numpy(graph.bins.astype(np.int32)),
    )


def group_by_destination(destinations: Ids, sources: Ids, kinds: Ids, num_nodes: int) -> Adjacency:
    """Sort edges by destination, within one by kind, else keeping their order (counting sorts)."""
    pointers = _starts(destinations, num_nodes)
    ordered = np.empty((2, len(sources)), np.int32)
    first = _starts(kinds, int(kinds.max(initial=-1)) + 1)
    order = np.empty(len(kinds), np.int32 if len(kinds) < 2**31 else np.int64)
    _scatter(destinations, sources, kinds, order, first, pointers[:-1].copy(), ordered)
    return Adjacency(*map(torch.from_numpy, (pointers, *ordered)))


def _starts(keys: npt.NDArray[np.integer[Any]], count: int) -> Ids:
    """(count + 1,): where each key begins once they are sorted."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=starts[1:])
    return starts


@compiled
def _lay_out(triples, num_relations, self_loops, pointers, ordered):
    """As :func:`group_by_destination` would the facts, their inverses and the loops.

    Inverses are sorted by kind as the facts are.
    """
    count = len(pointers) - 1
    first = np.zeros(num_relations + 1, np.int64)
    for i in range(len(triples)):
        pointers[triples[i, 0] + 1] += 1
        first[triples[i, 1] + 1] += 1
        pointers[triples[i, 2] + 1] += 1
    for k in range(num_relations):
        first[k + 1] += first[k]
    for v in range(count):
        pointers[v + 1] += pointers[v] + (1 if self_loops else 0)
    order, free = np.empty(len(triples), np.int64), pointers[:-1].copy()
    for i in range(len(triples)):
        slot = first[triples[i, 1]]
        first[triples[i, 1]] = slot + 1
        order[slot] = i
    for tail, inverse in ((2, 0), (0, num_relations)):
        for k in range(len(order)):
            i = order[k]
            slot = free[triples[i, tail]]
            free[triples[i, tail]] = slot + 1
            ordered[0, slot], ordered[1, slot] = triples[i, 2 - tail], triples[i, 1] + inverse
    if self_loops:
        for v in range(count):
            ordered[0, free[v]], ordered[1, free[v]] = v, 2 * num_relations


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


@compiled
def _turn(pointers, sources, kinds, free, columns):
    for v in range(len(pointers) - 1):
        for e in range(pointers[v], pointers[v + 1]):
            slot = free[sources[e]]
            free[sources[e]] = slot + 1
            columns[0, slot] = v
            columns[1, slot] = kinds[e]
            columns[2, slot] = e


@inlined_fast
def end_of_run(kinds, e, last):
    """Where the edges of the kind of edge e end, no later than at ``last``."""
    stop = e + 1
    while stop < last and get(kinds, stop) == get(kinds, e):
        stop += 1
    return stop
