"""Counting what stands above an answer, and beside it, in one pass over the scores."""

from __future__ import annotations

from collections.abc import Iterable

import numba
import numpy as np
import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.parallel import compiled
from ingram.kernels.teams import fork

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
    arrays = parallel.arrays(scores, answers, pointers, excluded)
    parallel.run(
        _count,
        len(scores),
        *arrays,
        higher.numpy(),
        equal.numpy(),
        work=scores.numel() // 100,
    )
    return higher, equal


def counts_by_part(
    parts: Iterable[tuple[slice, Tensor]], answers: Tensor, pointers: Tensor, excluded: Tensor
) -> tuple[Tensor, Tensor]:
    """The same from a table that is never whole: some rows and their scores at a time, in order."""
    counts = [answers.new_zeros(2, 0)]
    for rows, scores in parts:
        bounds = pointers[rows.start : rows.stop + 1]
        places = (answers[rows], bounds - bounds[0], excluded[bounds[0] : bounds[-1]])
        found = rank_counts(scores, *(t.to(scores.device) for t in places))
        counts.append(torch.stack(found).to(answers.device))
    higher, equal = torch.cat(counts, dim=1)
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


@compiled
def _count(where, *arguments):
    return fork(where, _count_range, arguments)


@numba.njit(nogil=True, fastmath={"reassoc"}, cache=True)
def _count_range(start, stop, scores, answers, pointers, excluded, higher, equal):
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
