"""Filtered ranking over all entities of a graph, head and tail, under a memory budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import polars as pl
import torch
from torch import Tensor

from ingram.answers import refuse_diverged
from ingram.graph import Dataset, Ids
from ingram.kernels.rank_counts import rank_counts

BUDGET = 24 * 2**20
"""Bytes that a batch of scores may take. Small enough to stay in the cache between scoring and
counting, and to be reused: larger blocks go back to the system after each batch."""


class CandidateScorer(Protocol):
    """Anything that can score every entity as the answer to a query."""

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n) for queries (anchor, relation, ?), or (?, relation, anchor) if side is head."""
        ...


class KnownAnswers:
    """For each (anchor, relation, side), the entities that are true answers."""

    def __init__(self, triples: Ids, num_relations: int) -> None:
        """Of all true triples; one that stands in two splits counts once."""
        self.num_relations = num_relations
        self._sides = {}
        count = int(triples[:, [0, 2]].max(initial=0)) + 1
        for side, given, asked in (("tail", 0, 2), ("head", 2, 0)):
            keys = triples[:, given] * num_relations + triples[:, 1]
            self._sides[side] = np.divmod(np.unique(keys * count + triples[:, asked]), count)

    @classmethod
    def of(cls, dataset: Dataset) -> KnownAnswers:
        """The published filter: facts, validation and test triples."""
        parts = [dataset.inference.triples, dataset.valid, dataset.test]
        return cls(np.concatenate(parts), dataset.inference.num_relations)

    def of_queries(self, anchors: Ids, relations: Ids, side: str) -> tuple[Ids, Ids]:
        """Row pointers (Q + 1,) and entities: those of query q are ``pointers[q:q+2]``."""
        keys, answers = self._sides[side]
        wanted = anchors * self.num_relations + relations
        first, last = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
        pointers = np.concatenate([[0], np.cumsum(last - first)])
        offset = np.repeat(first - pointers[:-1], last - first)
        return pointers, answers[offset + np.arange(pointers[-1])]


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
    rows = max(1, budget // (4 * max(num_entities, 1)))
    parts = [
        part
        for side in ("tail", "head")
        for part in _rank_side(scorer, triples, known, num_entities, side, rows)
    ]
    return pl.concat(parts)


def _rank_side(
    scorer: CandidateScorer,
    triples: Ids,
    known: KnownAnswers,
    num_entities: int,
    side: str,
    rows: int,
) -> Iterator[pl.DataFrame]:
    given, asked = (0, 2) if side == "tail" else (2, 0)
    for start in range(0, max(len(triples), 1), rows):
        batch = triples[start : start + rows]
        anchors, relations, answers = batch[:, given], batch[:, 1], batch[:, asked].copy()
        pointers, excluded = known.of_queries(anchors, relations, side)
        scores = scorer.candidate_scores(
            torch.from_numpy(anchors.copy()), torch.from_numpy(relations.copy()), side
        )
        refuse_diverged(scores)
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
