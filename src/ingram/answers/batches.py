"""Scores of all candidates, by batches of questions that fit a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ingram.errors import DivergedError
from ingram.graph import Ids

BUDGET = 24 * 2**20
"""Bytes that a batch of scores may take. Small enough to stay in the cache between scoring and
what is done with the scores, and to be reused: larger blocks go back to the system after each
batch."""


def scored_batches(
    score: Callable[[Tensor, Tensor], Tensor],
    first: Ids,
    second: Ids,
    width: int,
    *,
    budget: int = BUDGET,
) -> Iterator[tuple[slice, Tensor]]:
    """Which questions, and their scores (rows, width), for questions given by two columns (Q,).

    Of no questions one empty batch, so that what is made of the batches has its columns.
    NaN and infinity are refused: a NaN compares false to everything and would rank first.
    """
    rows = max(1, budget // (4 * max(width, 1)))
    for start in range(0, max(len(first), 1), rows):
        some = slice(start, start + rows)
        scores = score(torch.from_numpy(first[some].copy()), torch.from_numpy(second[some].copy()))
        refuse_diverged(scores)
        yield some, scores


def refuse_diverged(scores: Tensor) -> None:
    """Raise an error if there is a NaN or infinity among the scores."""
    if not all_finite(scores):
        raise DivergedError(
            "scores hold NaN or infinity; a NaN would rank every answer first. Train anew, with a "
            "lower training.learning_rate"
        )


def all_finite(numbers: Tensor) -> bool:
    """Whether none is NaN, which extremes pass on, or infinite. One pass, and no copy."""
    return not numbers.numel() or bool(torch.stack(numbers.aminmax()).isfinite().all())
