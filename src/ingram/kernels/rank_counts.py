"""Counting what stands above an answer, and beside it, in one pass over the scores."""

from __future__ import annotations

import numba
import numpy as np
import torch
from torch import Tensor

from ingram.kernels import parallel

BLOCK = 1 << 16


def rank_counts(
    scores: Tensor,
    answers: Tensor,
    pointers: Tensor,
    excluded: Tensor,
    *,
    backend: str = "auto",
) -> tuple[Tensor, Tensor]:
    """(Q,) candidates that score higher than the answer, and (Q,) others that score the same.

    scores: (Q, n); answers: (Q,) columns. The candidates of query q leave out the columns
    ``excluded[pointers[q] : pointers[q + 1]]`` (other true answers, each once); the answer itself
    may be among them, and is never counted.
    """
    if backend == "auto":
        backend = "fused" if scores.device.type == "cpu" else "plain"
    if backend == "plain":
        return _plain(scores, answers, pointers, excluded)
    higher, equal = answers.new_empty(len(answers)), answers.new_empty(len(answers))
    arrays = [t.contiguous().numpy() for t in (scores, answers, pointers, excluded)]
    parallel.run(
        lambda start, stop: _count(start, stop, *arrays, higher.numpy(), equal.numpy()),
        len(scores),
        work=scores.numel() // 100,
    )
    return higher, equal


def _plain(
    scores: Tensor, answers: Tensor, pointers: Tensor, excluded: Tensor
) -> tuple[Tensor, Tensor]:
    own = scores.gather(1, answers.unsqueeze(1))
    open_ = torch.ones_like(scores, dtype=torch.bool)
    rows = torch.arange(len(answers), device=scores.device)
    rows = rows.repeat_interleave(pointers.diff(), output_size=len(excluded))
    open_[rows, excluded] = False
    open_.scatter_(1, answers.unsqueeze(1), False)
    return ((scores > own) & open_).sum(1), ((scores == own) & open_).sum(1)


@numba.njit(nogil=True, fastmath={"reassoc"}, cache=True)
def _count(start, stop, scores, answers, pointers, excluded, higher, equal):
    for q in range(start, stop):
        row = scores[q]
        own = row[answers[q]]
        above, same = 0, -1  # less the answer itself
        # Floats count eight at a time where integers would count two; a block keeps them exact.
        for begin in range(0, len(row), BLOCK):
            block = row[begin : begin + BLOCK]
            block_above, block_same = np.float32(0), np.float32(0)
            for i in range(len(block)):
                block_above += np.float32(1) if block[i] > own else np.float32(0)
                block_same += np.float32(1) if block[i] == own else np.float32(0)
            above += int(block_above)
            same += int(block_same)
        for e in range(pointers[q], pointers[q + 1]):
            if excluded[e] != answers[q]:
                above -= row[excluded[e]] > own
                same -= row[excluded[e]] == own
        higher[q], equal[q] = above, same
