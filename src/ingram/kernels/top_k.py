"""The best few of each row in one pass, equal scores in the order of their columns."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.parallel import compiled
from ingram.kernels.teams import fork
from ingram.kernels.vectors import count_above, load

LANES = (0,) * 32
"""Scores that are looked at together."""
FEW = 2**16
"""Scores that are sorted before a loop would have been loaded."""


def top_k(
    scores: Tensor, k: int, *, floor: float = -np.inf, backend: str = "auto"
) -> tuple[Tensor, Tensor]:
    """The k best scores above ``floor`` of each row, best first, and their columns: both (Q, k).

    scores: (Q, n). Where a row has fewer, -inf and column -1 follow; so a column at -inf is never
    taken. Of equal scores the lower column comes first, which torch's own topk leaves open.
    """
    k = min(k, scores.shape[1])
    if backend == "auto":
        few = scores.numel() < FEW
        backend = "fused" if scores.device.type == "cpu" and not few else "plain"
    if backend == "plain":
        return _plain(scores, k, floor)
    best = scores.new_full((len(scores), k), -torch.inf)
    columns = torch.full((len(scores), k), -1)
    arrays = parallel.arrays(scores, best, columns)
    if k:
        parallel.run(_collect, len(scores), *arrays, floor, work=scores.numel() // 100)
    return best, columns


def _plain(scores: Tensor, k: int, floor: float) -> tuple[Tensor, Tensor]:
    best, columns = torch.sort(scores, dim=1, descending=True, stable=True)
    best, columns = best[:, :k], columns[:, :k]
    low = ~(best > floor)
    return best.masked_fill(low, -torch.inf), columns.masked_fill(low, -1)


@compiled
def _collect(where, *arguments):
    return fork(where, _collect_range, arguments)


@compiled
def _collect_range(start, stop, scores, best, columns, floor):
    """A heap of the k best so far, the worst at its root; nearly all scores end at one compare.

    Once the heap is full, a block of scores does.
    """
    for q in range(start, stop):
        row, values, places = scores[q], best[q], columns[q]
        k, count, low = len(values), 0, floor
        for begin in range(0, len(row), len(LANES)):
            end = min(begin + len(LANES), len(row))
            if count == k and end - begin == len(LANES):
                block = load(scores, q * len(row) + begin, LANES)
                if count_above(block, values[0]) == 0:
                    continue
            for i in range(begin, end):
                if not row[i] > low:  # a later column does not displace an equal one
                    continue
                if count < k:
                    _rise(values, places, count, row[i], i)
                    count += 1
                else:
                    _sink(values, places, k, row[i], i)
                if count == k:
                    low = max(floor, values[0])
        # Taking the worst out again and again leaves the best in front.
        for last in range(count - 1, 0, -1):
            value, place = values[last], places[last]
            values[last], places[last] = values[0], places[0]
            _sink(values, places, last, value, place)


@compiled
def _worse(value, place, other, other_place):
    return value < other or (value == other and place > other_place)


@compiled
def _rise(values, places, at, value, place):
    """Put an entry at the heap's end and let it rise while it is worse than its parent."""
    while at > 0:
        parent = (at - 1) // 2
        if not _worse(value, place, values[parent], places[parent]):
            break
        values[at], places[at] = values[parent], places[parent]
        at = parent
    values[at], places[at] = value, place


@compiled
def _sink(values, places, size, value, place):
    """Put an entry in place of the root and let it sink below whatever is worse."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size and _worse(values[other], places[other], values[child], places[child]):
            child = other
        if not _worse(values[child], places[child], value, place):
            break
        values[at], places[at] = values[child], places[child]
        at = child
    values[at], places[at] = value, place
