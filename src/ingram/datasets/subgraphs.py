"""Parts of a graph: components, neighbours, what a few sampled entities reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ingram.graph import Ids, distinct

Mask = npt.NDArray[np.bool_]


def components(triples: Ids, num_entities: int) -> Ids:
    """(n,) number of the connected component of each entity, direction ignored."""
    edges = np.ones(len(triples), dtype=np.int8)
    shape = (num_entities, num_entities)
    matrix = csr_array((edges, (triples[:, 0], triples[:, 2])), shape)
    numbers: Ids = connected_components(matrix, directed=False)[1].astype(np.int64)
    return numbers


def giant_component(triples: Ids, num_entities: int) -> Ids:
    """The triples of the component with most entities; of several, that of the lowest id."""
    if not len(triples):
        return triples
    component = components(triples, num_entities)
    giant = np.bincount(component).argmax()
    inside: Mask = component == giant
    return triples[inside[triples[:, 0]]]


def induced(triples: Ids, inside: Mask, relations: Mask | None = None) -> Ids:
    """The triples with both ends marked, and their relation too if relations are given."""
    heads, kinds, tails = triples.T
    chosen: Mask = inside[heads] & inside[tails]
    if relations is not None:
        chosen &= relations[kinds]
    return triples[chosen]


def marked(ids: Ids, count: int) -> Mask:
    """(count,) true at the ids."""
    mask = np.zeros(count, dtype=bool)
    mask[ids] = True
    return mask


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Who stands beside whom, direction, relation and loops ignored, each neighbour once.

    The neighbours of entity v are ``targets[pointers[v] : pointers[v + 1]]``, ascending.
    pointers: (n + 1,), targets: (E,).
    """

    pointers: Ids
    targets: Ids

    @classmethod
    def of(cls, triples: Ids, num_entities: int) -> Neighbours:
        heads, tails = triples[:, 0], triples[:, 2]
        apart = heads != tails
        heads, tails = heads[apart], tails[apart]
        both = np.concatenate([heads * num_entities + tails, tails * num_entities + heads])
        sources, targets = np.divmod(distinct(both), max(num_entities, 1))
        pointers = np.searchsorted(sources, np.arange(num_entities + 1))
        return cls(pointers.astype(np.int64), targets)

    def sample(self, nodes: Ids, limit: int, rng: np.random.Generator) -> Ids:
        """Neighbours of the nodes, at most ``limit`` of each, drawn without replacement.

        Sorted, each entity once, however many nodes chose it.
        """
        starts = self.pointers[nodes]
        counts = self.pointers[nodes + 1] - starts
        owners = np.repeat(np.arange(len(nodes)), counts)
        first = np.cumsum(counts) - counts
        place = np.arange(len(owners)) - first[owners]
        chosen = self.targets[starts[owners] + place]
        crowded = (counts > limit)[owners]
        if crowded.any():
            # Shuffled within each node by random sort keys; the first `limit` of it stay.
            order = np.lexsort((rng.random(len(owners)), owners))
            chosen = chosen[order][place < limit]
        return np.unique(chosen)


def two_hops(neighbours: Neighbours, nodes: Ids, limit: int, rng: np.random.Generator) -> Ids:
    """The nodes, their neighbours and those of the neighbours, at most ``limit`` a node and hop."""
    first = neighbours.sample(nodes, limit, rng)
    second = neighbours.sample(first, limit, rng)
    return np.unique(np.concatenate([nodes, first, second]))
