"""Two models together: a fast one proposes, a careful one ranks what was proposed anew."""

from __future__ import annotations

import torch
from torch import Tensor

from ingram.answers import GraphScorer, refuse_diverged
from ingram.errors import ConfigError
from ingram.graph import Ids


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
