"""What a graph itself says about a pattern of relations: how often it comes with another relation.

No model is asked. For the pattern (borders, borders) and the relation ``borders``: of the pairs of
entities that a path borders, borders joins, how many border each other?
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ingram.graph import Ids, KnowledgeGraph, with_inverses

BUDGET = 200_000
"""Unfinished paths that are held at once; of more, so many are drawn."""


@dataclass(frozen=True)
class Evidence:
    """``joined`` pairs of entities elsewhere have such a path; of these, ``holding`` the relation.

    ``sampled``: only some of the paths were followed.
    """

    joined: int
    holding: int
    sampled: bool

    @property
    def share(self) -> float:
        return self.holding / self.joined if self.joined else 0.0


class Patterns:
    """The patterns of one graph. A kind in [0, m) is a relation, r + m is r walked backwards."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.n = graph.num_entities
        heads, kinds, tails = with_inverses(graph.triples, graph.num_relations).T
        keys = kinds * self.n + heads
        order = np.argsort(keys, kind="stable")
        self.keys, self.tails = keys[order], tails[order]

    def evidence(
        self, pattern: tuple[int, ...], relation: int, apart_from: tuple[int, int]
    ) -> Evidence:
        """Pairs joined by the pattern, and by the relation too, but for one pair of entities.

        Paths visit no entity twice, so none can go through the fact that it is to speak for.
        """
        rng = np.random.default_rng(0)
        paths = np.unique(self._heads(pattern[0]))[:, None]
        sampled = False
        for kind in pattern:
            paths, cut = self._followed(paths, kind, rng)
            sampled = sampled or cut
        pairs = np.unique(paths[:, 0] * self.n + paths[:, -1])
        pairs = pairs[pairs != apart_from[0] * self.n + apart_from[1]]
        holding = np.isin(pairs, self._heads(relation) * self.n + self._tails(relation))
        return Evidence(len(pairs), int(holding.sum()), sampled)

    def _followed(self, paths: Ids, kind: int, rng: np.random.Generator) -> tuple[Ids, bool]:
        """Paths (P, l) one step longer along a kind; whether some were left out."""
        low = np.searchsorted(self.keys, kind * self.n + paths[:, -1])
        high = np.searchsorted(self.keys, kind * self.n + paths[:, -1], side="right")
        stops = np.cumsum(high - low)
        total = int(stops[-1]) if len(stops) else 0
        places = np.arange(total)
        if total > BUDGET:
            places = np.unique(rng.integers(0, total, BUDGET))
        row = np.searchsorted(stops, places, side="right")
        edge = high[row] - (stops[row] - places)
        ends = self.tails[edge]
        new = (paths[row] != ends[:, None]).all(axis=1)
        return np.concatenate([paths[row], ends[:, None]], axis=1)[new], total > BUDGET

    def _range(self, kind: int) -> slice:
        return slice(*np.searchsorted(self.keys, [kind * self.n, (kind + 1) * self.n]).tolist())

    def _heads(self, kind: int) -> Ids:
        heads: Ids = self.keys[self._range(kind)] - kind * self.n
        return heads

    def _tails(self, kind: int) -> Ids:
        tails: Ids = self.tails[self._range(kind)]
        return tails
