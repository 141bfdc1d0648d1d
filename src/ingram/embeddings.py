"""Embeddings: vectors with their labels. What a user keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor

from ingram.errors import DivergedError, UnknownLabelError
from ingram.graph import Ids, KnowledgeGraph
from ingram.kernels.triple_scores import triple_scores


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Vectors of one graph's entities and relations, scored by DistMult (Eq. 5).

    entities: (n, width); relations: (m, width), already mapped by W-bar. With S random draws the
    width is S times the model's: the sum of S scores is one DistMult of the concatenation.
    ``made`` says how: model, seed, draws.
    """

    entities: Tensor
    relations: Tensor
    graph: KnowledgeGraph
    made: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, vectors in (("entity", self.entities), ("relation", self.relations)):
            if not vectors.isfinite().all():
                raise DivergedError(
                    f"{name} vectors hold NaN or infinity; a NaN would rank every answer first"
                )

    @property
    def width(self) -> int:
        return self.entities.shape[1]

    def score(self, triples: Ids) -> Tensor:
        """(T,) scores of triples (T, 3)."""
        return triple_scores(self.entities, self.relations, torch.from_numpy(np.array(triples)))

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n): every entity as the answer. DistMult treats both sides alike."""
        return (self.entities[anchors] * self.relations[relations]) @ self.entities.T

    def predict(
        self,
        *,
        head: str | None = None,
        relation: str,
        tail: str | None = None,
        k: int = 10,
        known: str = "mark",
    ) -> pl.DataFrame:
        """The k best answers to (head, relation, ?) or (?, relation, tail).

        ``known``: ``mark`` the answers that are facts already, or ``hide`` them. Columns: head,
        relation, tail, score, rank, known.
        """
        if (head is None) == (tail is None):
            raise UnknownLabelError("give a head or a tail, and leave the other to be predicted")
        side = "tail" if tail is None else "head"
        anchor = self.graph.entities.id(head if head is not None else str(tail))
        kind = self.graph.relations.id(relation)
        scores = self.candidate_scores(torch.tensor([anchor]), torch.tensor([kind]), side)[0]
        return answer_table(self.graph, scores, anchor, kind, side, k=k, known=known)


def answer_table(
    graph: KnowledgeGraph,
    scores: Tensor,
    anchor: int,
    relation: int,
    side: str,
    *,
    k: int,
    known: str,
) -> pl.DataFrame:
    """One query's best answers as a tidy table; equal scores keep the order of ids."""
    facts = graph.triples
    given, asked = (0, 2) if side == "tail" else (2, 0)
    of_query = (facts[:, given] == anchor) & (facts[:, 1] == relation)
    is_known = torch.zeros(graph.num_entities, dtype=torch.bool)
    is_known[torch.from_numpy(facts[of_query, asked].copy())] = True
    if known == "hide":
        scores = scores.masked_fill(is_known, -torch.inf)
    best, order = torch.sort(scores, descending=True, stable=True)
    order = order[best > -torch.inf][:k]
    answers = graph.entities.take(order.numpy())
    fixed = [graph.entities.take([anchor])[0]] * len(answers)
    heads, tails = (fixed, answers) if side == "tail" else (answers, fixed)
    return pl.DataFrame(
        {
            "head": heads,
            "relation": [graph.relations.take([relation])[0]] * len(answers),
            "tail": tails,
            "score": scores[order].double().numpy(),
            "rank": np.arange(1, len(answers) + 1),
            "known": is_known[order].numpy(),
        }
    )
