"""Models together: one ranks anew what the other proposed, or their scores are added."""

from __future__ import annotations

import torch
from torch import Tensor

from ingram.answers import GraphScorer, refuse_diverged
from ingram.embeddings import Embeddings
from ingram.errors import ConfigError
from ingram.graph import Ids

ALIKE, VECTORS = 1.0, 0.2
"""How much the scores of another run count: of ``ingram-q``, and of vectors. Chosen on validation,
for the shipped weights."""


class Reranked(GraphScorer):
    """The best ``candidates`` of ``proposer`` in the order of ``ranker``, then the rest as before.

    Scores of the proposed are the ranker's. All others stand below them, in the proposer's order,
    by scores that mean nothing beyond that order.
    """

    def __init__(self, proposer: GraphScorer, ranker: GraphScorer, candidates: int) -> None:
        if candidates < 1:
            raise ConfigError(f"want at least one candidate to rank anew, got {candidates}")
        self.proposer, self.ranker, self.candidates = proposer, ranker, candidates
        self.graph = proposer.graph

    @property
    def stated_loops(self) -> bool:
        return self.proposer.stated_loops or self.ranker.stated_loops

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n)."""
        proposed = self.proposer.candidate_scores(anchors, relations, side)
        refuse_diverged(proposed)
        self.lower_loops(proposed, anchors, relations)
        ranked = self.ranker.candidate_scores(anchors, relations, side)
        ordered, order = proposed.sort(dim=1, descending=True, stable=True)
        best = order[:, : self.candidates]
        chosen = ranked.gather(1, best)
        # Places, not differences of scores: those would be rounded away beside a large score.
        lower = ordered.diff(dim=1, prepend=ordered[:, :1]) < 0
        places = lower.cumsum(dim=1)
        scores = chosen.amin(dim=1, keepdim=True) - 1 - places
        joined = torch.empty_like(ranked).scatter(1, order, scores).scatter(1, best, chosen)
        return self.lower_loops(joined, anchors, relations)

    def score(self, triples: Ids) -> Tensor:
        """(T,): the ranker's own, since nothing is left to propose."""
        return self.lower_loop_triples(self.ranker.score(triples), triples)


class Added(GraphScorer):
    """The scores of ``first`` and ``weight`` times those of ``second``, by its kind if None.

    Both learn by cross-entropy, so a score is the logarithm of a probability but for a constant,
    and their sum ranks by the product of the two. Vectors count by the mean over their draws.
    """

    def __init__(
        self, first: GraphScorer, second: GraphScorer, weight: float | None = None
    ) -> None:
        if weight is None:
            weight = VECTORS if isinstance(second, Embeddings) else ALIKE
        if not 0 < weight < float("inf"):
            raise ConfigError(f"want a weight above 0, got {weight}")
        self.first, self.second = first, second
        self.weight = weight / _draws(second) * _draws(first)
        self.graph = first.graph

    @property
    def stated_loops(self) -> bool:
        return self.first.stated_loops or self.second.stated_loops

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n)."""
        scores = self.first.candidate_scores(anchors, relations, side)
        scores.add_(self.second.candidate_scores(anchors, relations, side), alpha=self.weight)
        return self.lower_loops(scores, anchors, relations)

    def score(self, triples: Ids) -> Tensor:
        """(T,)."""
        scores = self.first.score(triples).add(self.second.score(triples), alpha=self.weight)
        return self.lower_loop_triples(scores, triples)


def _draws(scorer: GraphScorer) -> int:
    """How many times over its scores are a sum."""
    if isinstance(scorer, Added):
        return _draws(scorer.first)
    return int(scorer.made.get("draws", 1)) if isinstance(scorer, Embeddings) else 1
