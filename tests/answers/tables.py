"""A scorer whose scores stand in a table, so that every answer can be worked out by hand."""

from __future__ import annotations

import numpy as np
import torch

from ingram.answers import GraphScorer
from ingram.graph import KnowledgeGraph


class TableScorer(GraphScorer):
    """scores: (n, m, n), the score of each triple; few levels, so that many tie."""

    def __init__(self, graph: KnowledgeGraph, seed: int = 0, levels: int = 5) -> None:
        self.graph = graph
        n, m = graph.num_entities, graph.num_relations
        drawn = np.random.default_rng(seed).integers(0, levels, (n, m, n))
        self.scores = torch.from_numpy(drawn.astype(np.float32))

    def candidate_scores(self, anchors, relations, side):
        table = self.scores if side == "tail" else self.scores.permute(2, 1, 0)
        return table[anchors, relations].clone()

    def score(self, triples):
        heads, relations, tails = torch.from_numpy(triples.copy()).T
        return self.scores[heads, relations, tails]
