"""Filtered ranking over all entities of a graph, head and tail, under a memory budget."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Protocol

import numpy as np
import polars as pl
import torch
from torch import Tensor

from ingram.answers.batches import BUDGET, scored_batches
from ingram.answers.known import ORDER, KnownAnswers
from ingram.graph import Ids
from ingram.kernels.rank_counts import rank_counts


class CandidateScorer(Protocol):
    """Anything that can score every entity as the answer to a query."""

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n) for queries (anchor, relation, ?), or (?, relation, anchor) if side is head."""
        ...


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
    parts = [
        part
        for side in ("tail", "head")
        for part in _rank_side(scorer, triples, known, num_entities, side, budget)
    ]
    return pl.concat(parts)


def _rank_side(
    scorer: CandidateScorer,
    triples: Ids,
    known: KnownAnswers,
    num_entities: int,
    side: str,
    budget: int,
) -> Iterator[pl.DataFrame]:
    given, _, asked = ORDER[side]
    score = partial(scorer.candidate_scores, side=side)
    columns = triples[:, given], triples[:, 1]
    for some, scores in scored_batches(score, *columns, num_entities, budget=budget):
        batch = triples[some]
        answers = batch[:, asked].copy()
        pointers, excluded = known.of_queries(batch[:, given], batch[:, 1], side)
        device = scores.device
        higher, equal = rank_counts(
            scores,
            torch.from_numpy(answers).to(device),
            torch.from_numpy(pointers).to(device),
            torch.from_numpy(excluded).to(device),
        )
        own = np.repeat(answers, np.diff(pointers)) == excluded
        rows_of = np.repeat(np.arange(len(batch)), np.diff(pointers))
        others = np.diff(pointers) - np.bincount(rows_of[own], minlength=len(batch))
        yield pl.DataFrame(
            {
                "head": batch[:, 0],
                "relation": batch[:, 1],
                "tail": batch[:, 2],
                "side": pl.Series([side] * len(batch), dtype=pl.String),
                "higher": higher.cpu().numpy(),
                "equal": equal.cpu().numpy(),
                "candidates": num_entities - others,
            }
        )
