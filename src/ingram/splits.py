"""Splitting triples so that what is kept still covers every entity and relation.

Section 5.4 re-splits the training triples every epoch; appendix A splits an inference graph 3:1:1
once. Both keep a spanning forest of the entities and one triple of each relation among the facts.
"""

from __future__ import annotations

import logging
import math
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ingram.errors import SplitError
from ingram.graph import Ids, KnowledgeGraph

log = logging.getLogger(__name__)

TRIES = 50
"""Splits drawn before one that leaves no targets is accepted."""


class Facts(Protocol):
    """Triples (T, 3) with the numbers of their entities and relations: a graph, labels or not."""

    @property
    def triples(self) -> Ids: ...
    @property
    def num_entities(self) -> int: ...
    @property
    def num_relations(self) -> int: ...


class CoveringSplit:
    """Draws splits of a graph's triples into facts and targets, anew at each :meth:`draw`.

    Facts hold a spanning forest of the entities (the tree is fixed; which of the parallel triples
    of a tree edge is taken is drawn), then a triple for each relation not covered yet, then random
    triples up to ``floor(share * T)``. Targets are the rest. In a tiny graph it may depend on the
    draw whether there is one: then it is drawn again.
    """

    def __init__(self, graph: Facts, share: float = 0.75) -> None:
        self.relations = np.ascontiguousarray(graph.triples[:, 1])
        self.in_use = np.bincount(self.relations, minlength=graph.num_relations) > 0
        self.size = math.floor(share * len(graph.triples))
        self._members, self._starts, self._counts = _tree_edges(graph)

    def draw(self, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """(T,) true for the facts."""
        for _ in range(TRIES):
            facts = self._draw(rng)
            if not facts.all():
                break
        return facts

    def _draw(self, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        facts = np.zeros(len(self.relations), dtype=bool)
        pick = (rng.random(len(self._starts)) * self._counts).astype(np.int64)
        facts[self._members[self._starts + pick]] = True

        order = rng.permutation(len(facts))
        bare = self.in_use.copy()
        bare[self.relations[facts]] = False
        waiting = order.compress(bare[self.relations.take(order)])
        first = np.unique(self.relations[waiting], return_index=True)[1]
        facts[waiting[first]] = True

        free = order.compress(~facts.take(order))
        facts[free[: max(0, self.size - np.count_nonzero(facts))]] = True
        return facts


def _tree_edges(graph: Facts) -> tuple[Ids, Ids, Ids]:
    """The triples along each edge of a spanning forest: members, and start and count per edge.

    Each tree grows breadth first, from its first entity. The public benchmarks seem to be split by
    such trees, and what training predicts should be like what is predicted in the end.
    """
    heads, tails = graph.triples[:, 0], graph.triples[:, 2]
    low, high = np.minimum(heads, tails), np.maximum(heads, tails)
    pairs = low * graph.num_entities + high
    members = np.argsort(pairs, kind="stable")
    keys, starts, counts = np.unique(pairs[members], return_index=True, return_counts=True)
    children, parents = _forest(*np.divmod(keys, graph.num_entities), graph.num_entities)
    ends = np.minimum(children, parents), np.maximum(children, parents)
    in_tree = np.isin(keys, ends[0] * graph.num_entities + ends[1])
    return members, starts[in_tree], counts[in_tree]


def _forest(rows: Ids, cols: Ids, count: int) -> tuple[Ids, Ids]:
    """Nodes with a parent, and their parents, in a graph of edges between ``count`` nodes."""
    joined = csr_array((np.ones(len(rows)), (rows, cols)), (count, count))
    _, parts = connected_components(joined, directed=False)
    roots = np.unique(parts, return_index=True)[1]
    rows, cols = np.append(rows, np.full(len(roots), count)), np.append(cols, roots)
    rooted = csr_array((np.ones(len(rows)), (rows, cols)), (count + 1, count + 1))
    _, parents = breadth_first_order(rooted, count, directed=False)
    children = np.flatnonzero(parents[:count] < count)
    return children, parents[children].astype(np.int64)


def check_targets(split: CoveringSplit) -> None:
    """Refuse a graph so sparse that the forest and the cover leave nothing to predict."""
    facts = split.draw(np.random.default_rng(0))
    if facts.all():
        raise SplitError(
            f"this graph is too sparse to train on: all of its {len(facts):,} triples are needed "
            "to reach every entity and relation, which leaves none to predict; add facts, or take "
            "weights that were trained elsewhere"
        )


def three_way_split(
    graph: KnowledgeGraph, seed: int, share: float = 0.6
) -> tuple[KnowledgeGraph, Ids, Ids]:
    """Facts, validation and test triples (appendix A: 3:1:1); the facts cover everything.

    Where covering everything takes more than the share, the facts are more, and a warning says so.
    """
    rng = np.random.default_rng(seed)
    facts = CoveringSplit(graph, share).draw(rng)
    rest = rng.permutation(np.flatnonzero(~facts))
    half = (len(rest) + 1) // 2
    if half == len(rest):
        raise SplitError(
            f"this graph is too sparse to hold triples out: its {graph.num_triples:,} triples "
            f"leave {len(rest)} once every entity and relation is covered; add facts"
        )
    if crowded := crowding(int(facts.sum()), graph.num_triples, share):
        log.warning("%s", crowded)
    valid, test = graph.triples[rest[:half]], graph.triples[rest[half:]]
    return graph.with_triples(graph.triples[facts]), valid, test


def crowding(facts: int, triples: int, share: float) -> str | None:
    """What to say if forest and cover took more than the facts' share of the triples."""
    if facts <= math.floor(share * triples):
        return None
    return (
        f"facts wanted to be {share:.0%} of the {triples:,} triples, but reaching every entity "
        f"and relation takes {facts:,} ({facts / triples:.0%}); {triples - facts:,} are held out"
    )
