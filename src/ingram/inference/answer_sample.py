"""True answers and false ones with their scores: what a calibration is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from ingram.answers import GraphScorer, KnownAnswers
from ingram.answers.asking import Scores, best_of, hide
from ingram.answers.batches import scored_batches
from ingram.answers.known import ORDER
from ingram.answers.loops import take_out
from ingram.graph import Ids

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

HARDEST = 20
"""The best false answers of a question stand for themselves: where they score, most is at stake."""
DRAWN = 20
"""So many false answers, drawn at random, stand for all the others."""
SHOWN = 10
"""Answers to a question that a user sees."""


COLUMNS = ("triples", "scores", "right", "weights", "shown")


@dataclass(frozen=True, eq=False)
class Sample:
    """Answers, (A,) each.

    triples: the row of the triple that was asked for. right: whether the answer is the triple's
    own. weights: how many answers it stands for. shown: whether it is among the ten best.
    """

    triples: Ids
    scores: Floats
    right: Bools
    weights: Floats
    shown: Bools

    def of(self, chosen: Bools) -> Sample:
        """The chosen answers alone."""
        return Sample(*(getattr(self, name)[chosen] for name in COLUMNS))

    @classmethod
    def joined(cls, samples: list[Sample]) -> Sample:
        """Samples of several graphs as one; their triples stay apart."""
        first = np.cumsum([0, *(s.triples.max(initial=-1) + 1 for s in samples)])
        return cls(
            np.concatenate([s.triples + f for s, f in zip(samples, first[:-1], strict=True)]),
            *(np.concatenate([getattr(s, name) for s in samples]) for name in COLUMNS[1:]),
        )


def sample_answers(
    scorer: GraphScorer, triples: Ids, known: KnownAnswers, rng: np.random.Generator
) -> Sample:
    """Each triple asked for its tail and for its head; other true answers are left out."""
    parts = []
    for side in ("tail", "head"):
        given, _, asked = ORDER[side]
        columns = triples[:, given], triples[:, 1]
        score = partial(scorer.candidate_scores, side=side)
        for some, scores in scored_batches(score, *columns, scorer.graph.num_entities):
            batch = triples[some]
            pointers, true = known.of_queries(batch[:, given], batch[:, 1], side)
            take_out(scores)
            own = scores.gather(1, torch.from_numpy(batch[:, asked, None].copy()).to(scores.device))
            hide(scores, pointers, true)
            hardest, ids = best_of(scores, HARDEST)
            found = ids >= 0
            hide(scores, np.concatenate([[0], np.cumsum(found.sum(axis=1))]), ids[found])
            places = rng.integers(0, scores.shape[1], (len(batch), DRAWN))
            drawn = scores.gather(1, torch.from_numpy(places).to(scores.device)).cpu().numpy()
            rest = scores.isfinite().sum(1).cpu().numpy()
            rows = np.arange(len(triples))[some]
            parts.append(_rows(rows, own.cpu().numpy(), hardest, drawn, rest))
    columns_of = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Sample(*columns_of)


def _rows(
    rows: Ids, own: Scores, hardest: Scores, drawn: Scores, rest: Ids
) -> tuple[Ids, Floats, Bools, Floats, Bools]:
    """The columns of a sample for questions Q: own (Q, 1), hardest (Q, H), drawn (Q, D).

    rest: (Q,) how many false answers the drawn ones stand for. An answer at -inf is none.
    """
    scores = np.concatenate([own, hardest, drawn], axis=1).astype(np.float64)
    usable = np.isfinite(drawn)
    share = rest / np.maximum(usable.sum(axis=1), 1)
    weights = np.ones_like(scores)
    weights[:, -drawn.shape[1] :] = share[:, None]
    right = np.zeros(scores.shape, np.bool_)
    right[:, 0] = True
    # Of equal scores the true answer is taken for the later one.
    place = np.arange(hardest.shape[1]) + (own > hardest)
    shown = np.zeros(scores.shape, np.bool_)
    shown[:, 0] = (hardest >= own).sum(axis=1) < SHOWN
    shown[:, 1 : 1 + hardest.shape[1]] = place < SHOWN
    kept = np.isfinite(scores)
    repeated = np.repeat(rows[:, None], scores.shape[1], axis=1)
    return repeated[kept], scores[kept], right[kept], weights[kept], shown[kept]
