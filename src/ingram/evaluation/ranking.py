"""Filtered ranking over all entities of a graph, head and tail, under a memory budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
import polars as pl
import torch
from torch import Tensor

from ingram.answers.batches import BUDGET, scored_batches
from ingram.answers.known import ORDER, KnownAnswers
from ingram.graph import Ids
from ingram.kernels.rank_counts import counts_by_part

TOGETHER = 2**14
"""Triples whose known answers are looked up together."""


def ranking_bytes(num_triples: int) -> int:
    """Of ranking with so many true triples to leave out: a batch, its counts, and the filter."""
    return 2 * BUDGET + 60 * num_triples


class CandidateScorer(Protocol):
    """Anything that can score every entity as the answer to a query."""

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n) for queries (anchor, relation, ?), or (?, relation, anchor) if side is head."""
        ...


@runtime_checkable
class RankCounter(Protocol):
    """A scorer that counts by itself what stands above an answer, without a table of scores."""

    def rank_counts(
        self,
        anchors: Tensor,
        relations: Tensor,
        side: str,
        answers: Tensor,
        pointers: Tensor,
        excluded: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """(Q,) entities above each answer and (Q,) others beside it.

        Other true answers are left out, as in :func:`ingram.kernels.rank_counts.rank_counts`.
        """
        ...


@dataclass(frozen=True)
class _Tables:
    """Counts from tables of scores that stay within a budget."""

    scorer: CandidateScorer
    num_entities: int
    budget: int

    def rank_counts(
        self,
        anchors: Tensor,
        relations: Tensor,
        side: str,
        answers: Tensor,
        pointers: Tensor,
        excluded: Tensor,
    ) -> tuple[Tensor, Tensor]:
        score = partial(self.scorer.candidate_scores, side=side)
        columns = anchors.numpy(), relations.numpy()
        parts = scored_batches(score, *columns, self.num_entities, budget=self.budget)
        return counts_by_part(parts, answers, pointers, excluded)


def rank(
    scorer: CandidateScorer,
    triples: Ids,
    known: KnownAnswers,
    num_entities: int,
    *,
    budget: int = BUDGET,
) -> pl.DataFrame:
    """One row a triple and side: ids, ``higher`` and ``equal`` counts, number of ``candidates``.

    Other true answers are no candidates. NaN and infinity are refused: a NaN compares false to
    everything and would rank first.
    """
    counter = scorer if isinstance(scorer, RankCounter) else _Tables(scorer, num_entities, budget)
    parts = [
        _ranked(counter, triples[start : start + TOGETHER], known, num_entities, side)
        for side in ("tail", "head")
        for start in range(0, max(len(triples), 1), TOGETHER)
    ]
    return pl.concat(parts)


def _ranked(
    counter: RankCounter, triples: Ids, known: KnownAnswers, num_entities: int, side: str
) -> pl.DataFrame:
    given, _, asked = ORDER[side]
    anchors, relations, answers = (triples[:, column].copy() for column in (given, 1, asked))
    pointers, excluded = known.of_queries(anchors, relations, side)
    query = (torch.from_numpy(anchors), torch.from_numpy(relations), side)
    places = (torch.from_numpy(array) for array in (answers, pointers, excluded))
    higher, equal = counter.rank_counts(*query, *places)
    own = np.repeat(answers, np.diff(pointers)) == excluded
    rows = np.repeat(np.arange(len(triples)), np.diff(pointers))
    others = np.diff(pointers) - np.bincount(rows[own], minlength=len(triples))
    return pl.DataFrame(
        {
            "head": triples[:, 0],
            "relation": triples[:, 1],
            "tail": triples[:, 2],
            "side": pl.Series([side] * len(triples), dtype=pl.String),
            "higher": higher.cpu().numpy(),
            "equal": equal.cpu().numpy(),
            "candidates": num_entities - others,
        }
    )
