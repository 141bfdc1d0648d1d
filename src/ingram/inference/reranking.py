"""Two models together: a fast one proposes, a careful one ranks what was proposed anew."""

from __future__ import annotations

from torch import Tensor

from ingram.answers import GraphScorer
from ingram.graph import Ids


class Reranked(GraphScorer):
    """The best ``candidates`` of ``proposer`` in the order of ``ranker``, then the rest as before.

    Scores of the proposed are the ranker's. All others stand below them, in the proposer's order,
    by scores that mean nothing beyond that order.
    """

    def __init__(self, proposer: GraphScorer, ranker: GraphScorer, candidates: int) -> None:
        self.proposer, self.ranker, self.candidates = proposer, ranker, candidates
        self.graph = proposer.graph

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n)."""
        proposed = self.proposer.candidate_scores(anchors, relations, side)
        ranked = self.ranker.candidate_scores(anchors, relations, side)
        count = min(self.candidates, proposed.shape[1])
        best = proposed.topk(count, dim=1).indices
        chosen = ranked.gather(1, best)
        low = chosen.min(dim=1, keepdim=True).values
        top = proposed.max(dim=1, keepdim=True).values
        scores = low - 1 - (top - proposed)
        return scores.scatter(1, best, chosen)

    def score(self, triples: Ids) -> Tensor:
        """(T,): the ranker's own, since nothing is left to propose."""
        return self.ranker.score(triples)
