"""A floor that learns nothing: rules of at most two steps, counted on the facts.

With the inverses among the relations, a rule is one of::

                           r(x, y)      y is the answer, whatever x is: popularity
    s(x, y)            =>  r(x, y)      equivalent; inverse where s is one; symmetric where s = r^-1
    s(x, v), t(v, y)   =>  r(x, y)      composition

The confidence is the share of the pairs (x, y) of its body that r holds for (of the first kind: the
share of r's facts that y answers), with a few pairs added that it does not hold for, so that two
lucky hits are not certainty. An answer that several rules give is as likely as their noisy-or says:
one minus the product of their doubts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array
from torch import Tensor

from ingram.answers import GraphScorer
from ingram.graph import Ids, KnowledgeGraph, with_inverses
from ingram.relation_graph import DOUBT, LEAST_SUPPORT

MOST_RULES = 100
"""Of a relation: the most confident are kept."""
PATHS = 10**7
"""Two-step paths that are held at once."""
UNSPECIFIC = 10**6
"""A body with more paths says too little to be worth counting."""
ROWS = 2**22
"""Scores computed at once for single triples."""

Floats = npt.NDArray[np.float64]
Found = tuple[Ids, Ids, Ids, Ids, Ids]


@dataclass(frozen=True, eq=False)
class RulesOf:
    """What leads to one relation. first, second: (K,) relations in [0, 2m), second -1 for a rule of
    one step; confidence: (K,), falling.
    """

    first: Ids
    second: Ids
    confidence: Floats


class Rules(GraphScorer):
    """Rules of a graph, counted on its own facts and applied to them. Nothing is tuned."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.n, self.kinds = graph.num_entities, 2 * graph.num_relations
        edges = with_inverses(graph.triples, graph.num_relations)
        heads, relations, tails = edges.T
        # A step along relation r from x is row r * n + x of the one, column block r of the other.
        self.steps = _counts(relations * self.n + heads, tails, (self.kinds * self.n, self.n))
        self.wide = _counts(heads, relations * self.n + tails, (self.n, self.kinds * self.n))
        self.rules = self._mine(edges)

    def of(self, relation: int) -> RulesOf:
        """The rules of a relation in [0, 2m), the most confident first."""
        relations, first, second, confidence = self.rules
        some = slice(*np.searchsorted(relations, [relation, relation + 1]))
        return RulesOf(first[some], second[some], confidence[some])

    def _mine(self, edges: Ids) -> tuple[Ids, Ids, Ids, Floats]:
        """(relation, first, second, confidence) of the best rules, by relation."""
        pairs, place = np.unique(edges[:, 0] * self.n + edges[:, 2], return_inverse=True)
        holds = _counts(place, edges[:, 1], (len(pairs), self.kinds))
        found = [self._one_step(edges, holds)]
        for step, seconds in self._bodies(edges):
            found.append(self._two_steps(step, seconds, pairs, holds))
        relation, first, second, support, body = map(np.concatenate, zip(*found, strict=True))
        confidence = support / (body + DOUBT)
        order = np.lexsort((second, first, -confidence, relation))
        order = order[support[order] >= LEAST_SUPPORT]
        ordered = relation[order]
        place = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        order = order[place < MOST_RULES]
        return relation[order], first[order], second[order], confidence[order]

    def _one_step(self, edges: Ids, holds: csr_array) -> Found:
        """(relation, first, second, support, body) of each rule."""
        sizes = np.bincount(edges[:, 1], minlength=self.kinds)
        first, relation, support = _entries(holds.T @ holds)
        other = first != relation  # that r leads to r says nothing
        first, relation, support = first[other], relation[other], support[other]
        return relation, first, np.full_like(first, -1), support, sizes[first]

    def _bodies(self, edges: Ids) -> Iterator[tuple[int, Ids]]:
        """First relations with the second ones to try, in groups of bounded paths."""
        arriving = _counts(edges[:, 1], edges[:, 2], (self.kinds, self.n))
        leaving = _counts(edges[:, 1], edges[:, 0], (self.kinds, self.n))
        paths = arriving @ leaving.T
        for first in range(self.kinds):
            row = paths[[first]].tocoo()
            worth = row.data <= UNSPECIFIC
            seconds, many = row.coords[1][worth].astype(np.int64), row.data[worth]
            group = np.cumsum(many) // PATHS
            for number in np.unique(group):
                yield first, seconds[group == number]

    def _two_steps(self, first: int, seconds: Ids, pairs: Ids, holds: csr_array) -> Found:
        columns = (seconds[:, None] * self.n + np.arange(self.n)).ravel()
        body = (self._step(first) @ self.wide[:, columns]).tocoo()
        heads, (which, tails) = body.coords[0], np.divmod(body.coords[1], self.n)
        sizes = np.bincount(which, minlength=len(seconds))
        keys = heads.astype(np.int64) * self.n + tails
        place = np.searchsorted(pairs, keys).clip(max=len(pairs) - 1)
        stated = pairs[place] == keys
        hits = _counts(which[stated], place[stated], (len(seconds), len(pairs)))
        row, relation, support = _entries(hits @ holds)
        return relation, np.full_like(row, first), seconds[row], support, sizes[row]

    def _step(self, relation: int) -> csr_array:
        return self.steps[relation * self.n : (relation + 1) * self.n]

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n): minus the logarithm of the doubt that the rules leave."""
        asked = relations.cpu().numpy()
        asked = asked + self.graph.num_relations if side == "head" else asked
        starts = anchors.cpu().numpy()
        scores = np.zeros((len(asked), self.n), np.float32)
        for relation in np.unique(asked):
            here = np.flatnonzero(asked == relation)
            scores[here] = self._scores(starts[here], int(relation))
        return torch.from_numpy(scores).to(anchors.device)

    def _scores(self, starts: Ids, relation: int) -> npt.NDArray[np.float32]:
        rules = self.of(relation)
        weights = -np.log1p(-rules.confidence)
        facts = self._step(relation)
        answers = np.bincount(facts.indices, minlength=self.n)
        total = np.tile(-np.log1p(-answers / (facts.nnz + DOUBT)), len(starts))
        for first in np.unique(rules.first):
            reached = self._step(int(first))[starts]
            table = np.zeros(self.kinds + 1)
            table[rules.second[rules.first == first]] = weights[rules.first == first]
            if table[-1]:  # second -1: a rule of one step
                rows, ends = reached.nonzero()
                total += table[-1] * np.bincount(rows * self.n + ends, minlength=len(total))
            if table[:-1].any():
                paths = (reached @ self.wide).tocoo()
                second, ends = np.divmod(paths.coords[1].astype(np.int64), self.n)
                places = paths.coords[0].astype(np.int64) * self.n + ends
                total += np.bincount(places, table[second], minlength=len(total))
        return total.reshape(-1, self.n).astype(np.float32)

    def score(self, triples: Ids) -> Tensor:
        """(T,): each triple as the answer to its tail question."""
        ids = torch.from_numpy(triples.copy())
        rows = max(1, ROWS // max(self.n, 1))
        parts = [
            self.candidate_scores(some[:, 0], some[:, 1], "tail").gather(1, some[:, 2:])
            for some in ids.split(rows)
        ]
        return torch.cat(parts).flatten()


def _counts(rows: Ids, columns: Ids, shape: tuple[int, int]) -> csr_array:
    """How often each place is named."""
    return csr_array((np.ones(len(rows), np.int64), (rows, columns)), shape=shape)


def _entries(matrix: csr_array) -> tuple[Ids, Ids, Ids]:
    entries = matrix.tocoo()
    rows, columns = entries.coords
    return rows.astype(np.int64), columns.astype(np.int64), entries.data
