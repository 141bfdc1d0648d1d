"""A floor that learns nothing: the answer that is given most often."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from ingram.answers import GraphScorer
from ingram.graph import Ids, KnowledgeGraph


class Popularity(GraphScorer):
    """An entity scores how often it stands in that role of that relation among the facts.

    What it reaches needs no understanding of the question's other end.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        heads, relations, tails = graph.triples.T
        ones = np.ones(len(relations), np.float32)
        shape = (graph.num_relations, graph.num_entities)
        self.counts = {
            side: csr_array((ones, (relations, ends)), shape=shape)
            for side, ends in (("head", heads), ("tail", tails))
        }

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n), the same for every anchor."""
        rows = self.counts[side][relations.cpu().numpy()].toarray()
        return torch.from_numpy(rows).to(anchors.device)

    def score(self, triples: Ids) -> Tensor:
        """(T,): both ends in their roles."""
        heads, relations, tails = triples.T
        both = self.counts["head"][relations, heads] + self.counts["tail"][relations, tails]
        return torch.from_numpy(np.asarray(both, np.float32).reshape(len(triples)))
