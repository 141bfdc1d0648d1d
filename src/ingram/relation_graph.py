"""The relation graph of section 4 and its affinity bins (Eq. 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from ingram.graph import Ids, KnowledgeGraph, Weights, with_inverses
from ingram.meetings import Sparse, meetings, total

DOUBT, LEAST_SUPPORT = 5, 2
"""Pairs added to a rule's body that it fails on; pairs it must hold for to be one."""
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
    """A_h, (2m, 2m), from bare facts: inverses are added here, and their heads are tails.

    Columns are sorted, so that what is summed along a row is summed in the same order every time.
    """
    pointers, cols, values = _by_head(triples, num_entities, num_relations, weights)
    found = csr_array((values, cols, pointers), (2 * num_relations, 2 * num_relations))
    found.sort_indices()
    return found


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
        pointers, cols, values = total(head, head, num_relations)
    else:
        count = num_relations
        times = np.ones(len(triples)) if weights is None else weights
        heads, relations, tails = np.ascontiguousarray(triples.T)
        head = meetings(heads, relations, times, num_entities, count)
        tail = meetings(tails, relations, times, num_entities, count)
        pointers, cols, values = total(head, tail, 0)
    return csr_array((values, cols, pointers), (count, count))


def implied_relations(
    triples: Ids, num_entities: int, num_relations: int
) -> tuple[Ids, Ids, npt.NDArray[np.float64]]:
    """Relations r, relations k and how far k implies r: (E,) each, from bare facts.

    That is the share of the pairs (x, y) joined by k that r joins too, with ``DOUBT`` pairs added
    that it does not, so that two lucky hits are not certainty. Inverses are among both: if r joins
    y to x wherever it joins x to y, its inverse implies it. Sorted by r, then k.
    """
    heads, relations, tails = with_inverses(triples, num_relations).T
    keys = heads * num_entities + tails
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    same = keys[1:] == keys[:-1]
    several = np.zeros(len(keys), np.bool_)  # of pairs that only one relation joins there are most
    several[1:] |= same
    several[:-1] |= same
    joining, keys = relations[order[several]], keys[several]
    pairs = np.cumsum(np.diff(keys, prepend=-1) > 0) - 1
    shape = (int(pairs[-1]) + 1 if len(pairs) else 0, 2 * num_relations)
    holds = csr_array((np.ones(len(pairs), np.int64), (pairs, joining)), shape=shape)
    together = (holds.T @ holds).tocoo()
    implied, implying = (axis.astype(np.int64) for axis in together.coords)
    worth = (implied != implying) & (together.data >= LEAST_SUPPORT)
    implied, implying = implied[worth], implying[worth]
    joined = np.bincount(relations, minlength=2 * num_relations)
    confidence = together.data[worth] / (joined[implying] + DOUBT)
    order = np.lexsort((implying, implied))
    return implied[order], implying[order], confidence[order]


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
    found: Sparse = meetings(
        np.concatenate([heads, tails]),
        np.concatenate([relations, relations + num_relations]),
        np.concatenate([times, times]),
        num_entities,
        2 * num_relations,
    )
    return found


def affinity_bins(weights: npt.NDArray[np.float64], num_bins: int) -> Ids:
    """Eq. (3), 0-based: ceil(rank * B / nnz) - 1, where rank 1 is the largest affinity.

    The paper leaves ties open. Here they share the lowest rank, so that relabelling changes
    nothing and s(i, j) = s(j, i). Two affinities tie when they differ by less than 1e-12
    relatively: sums of the same terms in another order differ in their last digits.
    """
    if len(weights) == 0:
        return np.empty(0, np.int64)
    order = np.argsort(-weights)  # ties in any order: they share a rank
    descending = weights[order]
    new = np.concatenate([[True], descending[1:] < descending[:-1] * (1 - TIE)])
    ranks = np.empty(len(weights), np.int64)
    ranks[order] = (np.flatnonzero(new) + 1)[np.cumsum(new) - 1]
    return -(-ranks * num_bins // len(weights)) - 1
