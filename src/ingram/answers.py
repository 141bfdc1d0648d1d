"""Answers to questions about a graph: tidy tables, from whatever can score its entities."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import polars as pl
import torch
from torch import Tensor

from ingram.errors import DivergedError, UnknownLabelError
from ingram.graph import Ids, KnowledgeGraph

ANSWERS = {
    "head": pl.String,
    "relation": pl.String,
    "tail": pl.String,
    "score": pl.Float64,
    "rank": pl.Int64,
    "known": pl.Boolean,
}
"""Columns of a table of answers."""


class GraphScorer(ABC):
    """A model applied to one graph: it scores triples and every entity as an answer."""

    graph: KnowledgeGraph

    @abstractmethod
    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n) for queries (anchor, relation, ?), or (?, relation, anchor) if side is head."""

    @abstractmethod
    def score(self, triples: Ids) -> Tensor:
        """(T,) scores of triples (T, 3)."""

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
        anchor, kind, side = query_ids(self.graph, head, relation, tail)
        scores = self.candidate_scores(torch.tensor([anchor]), torch.tensor([kind]), side)[0]
        refuse_diverged(scores)
        return answer_table(self.graph, scores, anchor, kind, side, k=k, known=known)


def refuse_diverged(scores: Tensor) -> None:
    """Raise an error if there is a NaN or infinity among the scores."""
    # One pass, and NaN is passed on.
    if scores.numel() and not torch.stack(scores.aminmax()).isfinite().all():
        raise DivergedError("scores hold NaN or infinity; a NaN would rank every answer first")


def query_ids(
    graph: KnowledgeGraph, head: str | None, relation: str, tail: str | None
) -> tuple[int, int, str]:
    """Anchor, relation and the side that is asked for, of a question in labels."""
    if (head is None) == (tail is None):
        raise UnknownLabelError("give a head or a tail, and leave the other to be predicted")
    side = "tail" if tail is None else "head"
    anchor = graph.entities.id(head if head is not None else str(tail))
    return anchor, graph.relations.id(relation), side


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
    is_known = torch.zeros(graph.num_entities, dtype=torch.bool, device=scores.device)
    is_known[torch.from_numpy(facts[of_query, asked].copy())] = True
    if known == "hide":
        scores = scores.masked_fill(is_known, -torch.inf)
    best, order = torch.sort(scores, descending=True, stable=True)
    order = order[best > -torch.inf][:k]
    answers = graph.entities.take(order.tolist())
    fixed = [graph.entities.take([anchor])[0]] * len(answers)
    heads, tails = (fixed, answers) if side == "tail" else (answers, fixed)
    return pl.DataFrame(
        {
            "head": heads,
            "relation": [graph.relations.take([relation])[0]] * len(answers),
            "tail": tails,
            "score": scores[order].tolist(),
            "rank": np.arange(1, len(answers) + 1),
            "known": is_known[order].tolist(),
        },
        schema=ANSWERS,
    )
