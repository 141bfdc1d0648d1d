"""Places of answers under DistMult without a table of scores.

Entities are walked in blocks that stay in the cache while every query passes over them, and a
score is compared as soon as it is there. A score is a chain of fused products in the order of the
channels, one lane or many, so that an answer's own score is found again to the bit.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.parallel import compiled
from ingram.kernels.rank_counts import counts_by_part
from ingram.kernels.teams import fork
from ingram.kernels.vectors import count_above, count_same, fused, get, load, put, splat, total

LANES, TILE = (0,) * 16, 6
"""Entities and queries scored together: with AVX2 their scores take 12 of 16 registers."""
ONE = (0,)
BLOCK = 2**18
"""Bytes of a block of entities: half of a usual core's second cache."""
SCORES = 6 * 2**20
"""Scores that the plain form may hold."""


def distmult_ranks(
    queries: Tensor,
    entities: Tensor,
    answers: Tensor,
    pointers: Tensor,
    excluded: Tensor,
    *,
    backend: str = "auto",
) -> tuple[Tensor, Tensor, Tensor]:
    """(Q,) entities that score higher than the answer, (Q,) others that score the same, and
    numbers that are all finite if the scores are.

    queries: (Q, d), the products of anchor and relation; entities: (n, d). Answers and exclusions
    as in :func:`ingram.kernels.rank_counts.rank_counts`.
    """
    if backend == "auto":
        backend = "fused" if entities.device.type == "cpu" else "plain"
    if backend == "plain":
        return _plain(queries, entities, answers, pointers, excluded)
    tiles = -(-len(queries) // TILE)
    padded = queries.new_zeros(tiles * TILE, queries.shape[1])
    padded[: len(queries)] = queries
    queries = padded.unflatten(0, (tiles, TILE)).mT
    higher, equal = answers.new_zeros(2, tiles * TILE)
    checks = queries.new_zeros(tiles)
    tensors = (queries, entities, answers, pointers, excluded, higher, equal, checks)
    arrays = parallel.arrays(*tensors)
    parallel.run(_count, tiles, LANES, BLOCK, *arrays, work=len(higher) * len(entities) // 100)
    return higher[: len(answers)], equal[: len(answers)], checks


def _plain(
    queries: Tensor, entities: Tensor, answers: Tensor, pointers: Tensor, excluded: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    rows = max(1, SCORES // max(len(entities), 1))
    checks = [queries.new_zeros(0)]

    def parts() -> Iterator[tuple[slice, Tensor]]:
        for start in range(0, len(queries), rows):
            part = slice(start, start + rows)
            scores = queries[part] @ entities.T
            checks.append(torch.stack(scores.aminmax()))
            yield part, scores

    higher, equal = counts_by_part(parts(), answers, pointers, excluded)
    return higher, equal, torch.cat(checks)


@compiled
def _count(where, *arguments):
    return fork(where, _count_range, arguments)


@compiled
def _count_range(
    start, stop, lanes, bytes_, queries, entities, answers, pointers, excluded,
    higher, equal, checks,
):  # fmt: skip
    """Tiles start : stop of queries, (tiles, d, TILE), against all entities."""
    count, width = entities.shape
    size = len(lanes)
    step = max(1, bytes_ // (entities.itemsize * max(width, 1) * size)) * size
    columns = np.empty((step // size, width, size), entities.dtype)
    own = np.full(len(higher), np.inf, entities.dtype)  # nothing is above a query that pads
    last = min(TILE * stop, len(answers))
    for q in range(TILE * start, last):
        own[q] = _score(queries, q, entities, answers[q])
    for first in range(0, count, step):
        block = entities[first : first + step]
        whole = len(block) // size * size
        for i in range(whole):
            at = i // size * width * size + i % size
            for c in range(width):
                put(columns, at + c * size, get(block, i * width + c))
        for tile in range(start, stop):
            _tile(tile, lanes, queries, columns, whole, own, higher, equal, checks)
        for i in range(first + whole, first + len(block)):
            for q in range(TILE * start, last):
                score = _score(queries, q, entities, i)
                higher[q] += score > own[q]
                equal[q] += score == own[q]
                checks[q // TILE] += score * entities.dtype.type(0)
    for q in range(TILE * start, last):
        equal[q] -= 1  # the answer itself
        for e in range(pointers[q], pointers[q + 1]):
            if excluded[e] != answers[q]:
                score = _score(queries, q, entities, excluded[e])
                higher[q] -= score > own[q]
                equal[q] -= score == own[q]


@compiled
def _score(queries, q, entities, i):
    width = entities.shape[1]
    at = q // TILE * width * TILE + q % TILE
    score = splat(entities.dtype.type(0), ONE)
    for c in range(width):
        score = fused(get(queries, at + c * TILE), load(entities, i * width + c, ONE), score)
    return total(score)


@compiled
def _tile(tile, lanes, queries, columns, whole, own, higher, equal, checks):
    """A tile of queries against a block of entities, ``columns`` (whole / lanes, d, lanes)."""
    width, size = queries.shape[1], len(lanes)
    none = splat(queries.dtype.type(0), lanes)
    check = none
    for i in range(0, whole, size):
        a, b, c, d, e, f = none, none, none, none, none, none
        for channel in range(width):
            column = load(columns, i * width + channel * size, lanes)
            at = (tile * width + channel) * TILE
            a = fused(get(queries, at), column, a)
            b = fused(get(queries, at + 1), column, b)
            c = fused(get(queries, at + 2), column, c)
            d = fused(get(queries, at + 3), column, d)
            e = fused(get(queries, at + 4), column, e)
            f = fused(get(queries, at + 5), column, f)
        _tally(a, TILE * tile, own, higher, equal)
        _tally(b, TILE * tile + 1, own, higher, equal)
        _tally(c, TILE * tile + 2, own, higher, equal)
        _tally(d, TILE * tile + 3, own, higher, equal)
        _tally(e, TILE * tile + 4, own, higher, equal)
        _tally(f, TILE * tile + 5, own, higher, equal)
        check = check + ((a + b) + (c + d) + (e + f)) * queries.dtype.type(0)
    checks[tile] += total(check)  # NaN if a score was not finite


@compiled
def _tally(scores, q, own, higher, equal):
    put(higher, q, get(higher, q) + count_above(scores, get(own, q)))
    put(equal, q, get(equal, q) + count_same(scores, get(own, q)))
