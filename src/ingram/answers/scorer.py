"""What answers questions about a graph, whichever model it is."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl
import torch
from torch import Tensor

from ingram.answers.asking import ASKED, Ask, answer, encode_queries, vocabularies
from ingram.answers.calibration import Calibration
from ingram.answers.candidates import ALL, Candidates, Roles
from ingram.answers.known import KnownAnswers
from ingram.answers.loops import LOWEST, loopless
from ingram.errors import QueryError
from ingram.graph import Ids, KnowledgeGraph
from ingram.labels import FIELDS

PAIRS = 2**18
"""Triples scored together where every relation is tried between two entities."""


class GraphScorer(ABC):
    """A model applied to one graph: it scores triples, and every entity as an answer.

    ``calibration`` gives the answers probabilities, if the run has been calibrated.
    """

    graph: KnowledgeGraph
    calibration: Calibration | None = None

    @property
    def stated_loops(self) -> bool:
        """Whether an entity answers about itself only where the relation has such a fact."""
        return False

    @abstractmethod
    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n) for queries (anchor, relation, ?), or (?, relation, anchor) if side is head.

        A tensor of its own: the caller may write to it.
        """

    @abstractmethod
    def score(self, triples: Ids) -> Tensor:
        """(T,) scores of triples (T, 3)."""

    def relation_scores(self, heads: Tensor, tails: Tensor) -> Tensor:
        """(Q, m) for queries (head, ?, tail), from the scores of the triples themselves."""
        m = self.graph.num_relations
        step = max(1, PAIRS // max(m, 1))
        parts = []
        for start in range(0, len(heads), step):
            some = slice(start, start + step)
            ends = torch.stack([heads[some], tails[some]]).repeat_interleave(m, dim=1)
            kinds = torch.arange(m).repeat(ends.shape[1] // max(m, 1))
            triples = torch.stack([ends[0].cpu(), kinds, ends[1].cpu()], dim=1)
            parts.append(self.score(triples.numpy()).view(-1, m))
        return torch.cat(parts)

    def side_scores(self, first: Tensor, second: Tensor, side: str) -> Tensor:
        """Scores of all answers to queries that ask for ``side``, one of head, relation, tail."""
        if side == "relation":
            return self.relation_scores(first, second)
        return self.candidate_scores(first, second, side)

    @cached_property
    def known(self) -> KnownAnswers:
        """The facts of the graph, made ready for questions when the first one comes."""
        return KnownAnswers(self.graph.triples, self.graph.num_relations)

    @cached_property
    def roles(self) -> Roles:
        """Which entities stand where in which relation, made ready likewise."""
        return Roles(self.graph)

    @cached_property
    def loopless(self) -> Tensor:
        """(m,) bool: relations whose questions no entity answers about itself.

        Vectors may come without facts; then nothing tells, and none is.
        """
        tell = self.stated_loops and self.graph.num_triples > 0
        return torch.from_numpy(loopless(self.graph) & tell)

    def lower_loops(
        self, scores: Tensor, anchors: Tensor, relations: Tensor, to: float = LOWEST
    ) -> Tensor:
        """The same scores (Q, n), in place, each anchor's own lowest where it is no answer."""
        rows = self.loopless[relations.cpu().long()].nonzero().squeeze(1)
        scores[rows, anchors.cpu().long()[rows]] = to
        return scores

    def lower_loop_triples(self, scores: Tensor, triples: Ids) -> Tensor:
        """The same of triples (T, 3) and their scores (T,)."""
        heads, relations, tails = triples.T
        scores[torch.from_numpy(self.loopless.numpy()[relations] & (heads == tails))] = LOWEST
        return scores

    def calibrated(self, calibration: Calibration | None) -> Self:
        """The same scorer with probabilities, or without."""
        other = copy.copy(self)
        object.__setattr__(other, "calibration", calibration)
        return other

    def predict(
        self,
        queries: pl.DataFrame | None = None,
        *,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        k: int = 10,
        known: str = "mark",
        candidates: Candidates = ALL,
    ) -> pl.DataFrame:
        """The k best answers to (head, relation, ?), (?, relation, tail) or (head, ?, tail).

        Columns: head, relation, tail, score, rank, ``known`` if marked, and ``probability`` if
        the run is calibrated. With ``queries``, a frame of head, relation and tail in which the
        asked part is null, empty or ``?``, a first column ``query`` counts its rows from 1.

        known: ``mark`` the answers that are facts already, ``hide`` them, or ``keep`` them
        unmarked. candidates: which answers are allowed; see :class:`Candidates`.
        """
        ask = Ask(k, known, candidates)
        if queries is not None:
            if (head, relation, tail) != (None, None, None):
                raise QueryError("give queries, or one by head, relation and tail, not both")
            return pl.concat(answer(self, encode_queries(self.graph, queries), ask))
        table = pl.concat(answer(self, one_query(self.graph, head, relation, tail), ask))
        return table.drop("query")


def one_query(
    graph: KnowledgeGraph, head: str | None, relation: str | None, tail: str | None
) -> Ids:
    """(1, 3) ids of a question in labels, by a look-up of each."""
    given = dict(zip(FIELDS, (head, relation, tail), strict=True))
    if sum(label is None for label in given.values()) != 1:
        raise QueryError("give two of head, relation and tail; the third is asked for")
    return np.array([
        [
            ASKED if label is None else vocabulary.id(label)
            for label, vocabulary in zip(given.values(), vocabularies(graph), strict=True)
        ]
    ])  # fmt: skip
