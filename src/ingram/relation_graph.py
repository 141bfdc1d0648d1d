"""The relation graph of section 4 and its affinity bins (Eq. 3)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from ingram.graph import Ids, KnowledgeGraph, Weights

Sparse = tuple[Ids, Ids, npt.NDArray[np.float64]]
"""A matrix's row pointers, columns and values."""
compiled = numba.njit(nogil=True, error_model="numpy", cache=True)

EARLY, FEW = 2, 2**17
"""So many calls about so few triples are done before the loop would have been compiled: the first
answer comes seconds sooner."""
_calls = itertools.count()

TIE = 1e-12
"""Affinities closer than this, relatively, are one value computed in another order of summation."""


@dataclass(frozen=True, eq=False)
class RelationGraph:
    """Weighted graph over 2m relations: r and r + m, its inverse, for each r.

    rows, cols: (E,) sorted by row, then column; weights: (E,) affinities a_ij > 0; bins: (E,) in
    [0, B), 0 for the strongest; pointers: (2m + 1,) where each row starts. Row i lists the
    neighbours of relation i, itself included.
    """

    rows: Ids
    cols: Ids
    weights: npt.NDArray[np.float64]
    bins: Ids
    pointers: Ids

    @property
    def num_relations(self) -> int:
        return len(self.pointers) - 1


def build_relation_graph(graph: KnowledgeGraph, num_bins: int) -> RelationGraph:
    """The relation graph of a graph's facts, inverse relations included."""
    return relation_graph_of(
        graph.triples, graph.num_entities, graph.num_relations, num_bins, graph.weights
    )


def relation_graph_of(
    triples: Ids,
    num_entities: int,
    num_relations: int,
    num_bins: int,
    weights: Weights | None = None,
) -> RelationGraph:
    """The same from bare facts (T, 3), without inverses: they are added here.

    weights: (T,) how often each fact counts in E_h and E_t; an inverse counts as its fact does.
    """
    affinity = affinities(triples, num_entities, num_relations, weights, inverses=True)
    pointers = affinity.indptr.astype(np.int64, copy=False)
    return RelationGraph(
        rows=np.repeat(np.arange(2 * num_relations), np.diff(pointers)),
        cols=affinity.indices.astype(np.int64, copy=False),
        weights=affinity.data,
        bins=affinity_bins(affinity.data, num_bins),
        pointers=pointers,
    )


SIDES = 2
"""Ways in which relations are near: they share heads, or tails."""


def relation_edges_by_side(
    triples: Ids,
    num_entities: int,
    num_relations: int,
    num_bins: int,
    weights: Weights | None = None,
) -> tuple[Ids, Ids, Ids]:
    """A_h and A_t kept apart: rows, columns and kinds (E,) of edges among 2m relations.

    From bare facts, as :func:`relation_graph_of`. A kind is ``side * num_bins + bin``; each side's
    affinities are binned among themselves. The heads of a relation are the tails of its inverse,
    so A_h is A_t with every relation replaced by its inverse.
    """
    near = head_affinities(triples, num_entities, num_relations, weights).tocoo()
    ends = np.stack(near.coords).astype(np.int64)
    bins = affinity_bins(near.data, num_bins)
    inverse = (ends + num_relations) % (2 * num_relations)
    rows, cols = np.concatenate([ends, inverse], axis=1)
    return rows, cols, np.concatenate([bins, num_bins + bins])


def head_affinities(
    triples: Ids, num_entities: int, num_relations: int, weights: Weights | None = None
) -> csr_array:
    """A_h, (2m, 2m), from bare facts: inverses are added here, and their heads are tails."""
    pointers, cols, values = _by_head(triples, num_entities, num_relations, weights)
    return csr_array((values, cols, pointers), (2 * num_relations, 2 * num_relations))


def affinities(
    triples: Ids,
    num_entities: int,
    num_relations: int,
    weights: Weights | None = None,
    *,
    inverses: bool = False,
) -> csr_array:
    """A = A_h + A_t, (m, m), or (2m, 2m) with the ``inverses`` of the triples among them.

    A_h = E_h^T D_h^-2 E_h, where E_h[v, r] counts v as head of r and D_h is E_h's row sum; A_t is
    the same for tails. A triple counts ``weights`` times, (T,), or once. Sparse throughout: memory
    follows the pairs of relations that meet. Columns are sorted.
    """
    if inverses:
        count = 2 * num_relations
        head = _by_head(triples, num_entities, num_relations, weights)
        # A head of r is a tail of its inverse, so A_t is A_h with each r and r + m exchanged.
        pointers, cols, values = _sum(head, head, num_relations)
    else:
        count = num_relations
        times = np.ones(len(triples)) if weights is None else weights
        heads, relations, tails = np.ascontiguousarray(triples.T)
        head = _meetings(heads, relations, times, num_entities, count)
        tail = _meetings(tails, relations, times, num_entities, count)
        pointers, cols, values = _sum(head, tail, 0)
    return csr_array((values, cols, pointers), (count, count))


def folded_affinities(graph: KnowledgeGraph) -> csr_array:
    """(m, m): affinities with each inverse folded into its relation, as people look at them."""
    m = graph.num_relations
    near = affinities(graph.triples, graph.num_entities, m, graph.weights, inverses=True).tocoo()
    rows, cols = near.coords
    return csr_array(coo_array((near.data, (rows % m, cols % m)), (m, m)))


def _by_head(
    triples: Ids, num_entities: int, num_relations: int, weights: Weights | None
) -> Sparse:
    """A_h of the triples and their inverses."""
    times = np.ones(len(triples)) if weights is None else weights
    heads, relations, tails = triples.T
    found: Sparse = _meetings(
        np.concatenate([heads, tails]),
        np.concatenate([relations, relations + num_relations]),
        np.concatenate([times, times]),
        num_entities,
        2 * num_relations,
    )
    return found


def _meetings(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    """E^T D^-2 E of one side, its columns in any order."""
    early = next(_calls) < EARLY and len(entities) < FEW
    found: Sparse = (_plain_meetings if early else _compiled_meetings)(
        entities, relations, times, num_entities, num_relations
    )
    return found


def _plain_meetings(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    """The same bits by scipy: every sum has its terms in the same order."""
    keys, places = np.unique(entities * num_relations + relations, return_inverse=True)
    members, kinds = np.divmod(keys, max(num_relations, 1))
    shares = np.bincount(places, times) / np.bincount(entities, times)[members]
    pointers = np.searchsorted(members, np.arange(num_entities + 1))
    table = csr_array((shares, kinds, pointers), (num_entities, num_relations))
    product = table.T.tocsr() @ table
    return product.indptr.astype(np.int64), product.indices.astype(np.int64), product.data


@compiled
def _compiled_meetings(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    pointers, kinds, shares = _shares(entities, relations, times, num_entities, num_relations)
    firsts, members, of_members = _transposed(pointers, kinds, shares, num_relations)
    rows = np.zeros(num_relations + 1, np.int64)
    cols, values = np.empty(num_relations, np.int64), np.empty(num_relations)
    sums, last = np.empty(num_relations), np.full(num_relations, -1)
    size = 0
    for r in range(num_relations):
        if len(cols) - size < num_relations:
            cols = np.concatenate((cols, np.empty(len(cols) + num_relations, np.int64)))
            values = np.concatenate((values, np.empty(len(values) + num_relations)))
        for i in range(firsts[r], firsts[r + 1]):
            v, share = members[i], of_members[i]
            for e in range(pointers[v], pointers[v + 1]):
                k = kinds[e]
                if last[k] != r:
                    last[k], sums[k], cols[size] = r, 0.0, k
                    size += 1
                sums[k] += share * shares[e]
        for i in range(rows[r], size):
            values[i] = sums[cols[i]]
        rows[r + 1] = size
    return rows, cols[:size], values[:size]


@compiled
def _shares(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    """D^-1 E: for each entity its relations, once each, and their part of its triples."""
    starts, places = _sorted(entities, num_entities)
    kinds, shares = np.empty(len(entities), np.int64), np.empty(len(entities))
    for i in range(len(entities)):
        kinds[places[i]], shares[places[i]] = relations[i], times[i]
    pointers = np.zeros(num_entities + 1, np.int64)
    place = np.full(num_relations, -1)
    size = 0
    for v in range(num_entities):
        first, total = size, 0.0
        for e in range(starts[v], starts[v + 1]):
            k, amount = kinds[e], shares[e]
            total += amount
            if place[k] >= first:
                shares[place[k]] += amount
            else:
                place[k], kinds[size], shares[size] = size, k, amount
                size += 1
        for e in range(first, size):  # a slice would take seconds to compile
            shares[e] /= total
        pointers[v + 1] = size
    return pointers, kinds[:size], shares[:size]


@compiled
def _transposed(pointers: Ids, kinds: Ids, shares: Weights, num_relations: int) -> Sparse:
    firsts, places = _sorted(kinds, num_relations)
    members, of_members = np.empty(len(kinds), np.int64), np.empty(len(kinds))
    for v in range(len(pointers) - 1):
        for e in range(pointers[v], pointers[v + 1]):
            members[places[e]], of_members[places[e]] = v, shares[e]
    return firsts, members, of_members


@compiled
def _sorted(keys: Ids, count: int) -> tuple[Ids, Ids]:
    """Where each of ``count`` keys begins when they are sorted, and the place of each, stably."""
    firsts = np.zeros(count + 1, np.int64)
    for k in keys:
        firsts[k + 1] += 1
    for k in range(count):
        firsts[k + 1] += firsts[k]
    free = firsts[:-1].copy()
    places = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        places[i] = free[keys[i]]
        free[keys[i]] += 1
    return firsts, places


@compiled
def _sum(one: Sparse, other: Sparse, turn: int) -> Sparse:
    """The sum of two sparse matrices, columns sorted; r of ``other`` stands for r + turn."""
    rows, cols, values = one
    other_rows, other_cols, other_values = other
    count = len(rows) - 1
    pointers = np.zeros(count + 1, np.int64)
    most = len(cols) + len(other_cols)
    found, totals = np.empty(most, np.int64), np.empty(most)
    sums, last = np.empty(count), np.full(count, -1)
    size = 0
    for r in range(count):
        for i in range(rows[r], rows[r + 1]):
            k = cols[i]
            last[k], sums[k], found[size] = r, values[i], k
            size += 1
        source = (r + turn) % count
        for i in range(other_rows[source], other_rows[source + 1]):
            k = (other_cols[i] + turn) % count
            if last[k] == r:
                sums[k] += other_values[i]
            else:
                last[k], sums[k], found[size] = r, other_values[i], k
                size += 1
        found[pointers[r] : size].sort()
        for i in range(pointers[r], size):
            totals[i] = sums[found[i]]
        pointers[r + 1] = size
    return pointers, found[:size], totals[:size]


def affinity_bins(weights: npt.NDArray[np.float64], num_bins: int) -> Ids:
    """Eq. (3), 0-based: ceil(rank * B / nnz) - 1, where rank 1 is the largest affinity.

    The paper leaves ties open. Here they share the lowest rank, so that relabelling changes
    nothing and s(i, j) = s(j, i). Two affinities tie when they differ by less than 1e-12
    relatively: sums of the same terms in another order differ in their last digits.
    """
    if len(weights) == 0:
        return np.empty(0, np.int64)
    order = np.argsort(-weights, kind="stable")
    descending = weights[order]
    new = np.concatenate([[True], descending[1:] < descending[:-1] * (1 - TIE)])
    ranks = np.empty(len(weights), np.int64)
    ranks[order] = (np.flatnonzero(new) + 1)[np.cumsum(new) - 1]
    return -(-ranks * num_bins // len(weights)) - 1
