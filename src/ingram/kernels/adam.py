"""Clipped AdamW for all parameters of a model at once, in two passes over the numbers.

torch has several operations for each of some forty parameters, most of them tiny. Here a call
takes one table: of each parameter how many numbers it has, and the addresses of its gradient, its
weights, the two moments and the count of its steps.
"""

# mypy: ignore-errors
from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt
import torch
from numba import carray
from numba.core import types
from numba.extending import intrinsic
from torch import Tensor
from torch.autograd.graph import increment_version

from ingram.graph import Ids
from ingram.kernels import parallel
from ingram.kernels.parallel import compiled, compiled_fast, inlined_fast
from ingram.kernels.teams import fork

CHUNK = 4_096
"""Numbers that are a unit of work."""
SIZE, GRADIENT, WEIGHTS, MEAN, SPREAD, COUNT = range(6)


class Parameters:
    """Rows of gradient, weights, two moments and count of steps, of one type and contiguous."""

    def __init__(self, rows: list[tuple[Tensor, ...]]) -> None:
        self.rows = rows  # the table knows but their addresses
        dtype = rows[0][0].dtype
        for row in rows:
            sizes = {t.numel() for t in row[:-1]}
            fit = len(sizes) == 1 and row[-1].numel() == 1
            if not fit or not all(t.is_contiguous() and t.is_cpu and t.dtype == dtype for t in row):
                raise ValueError(f"want contiguous tensors of one size and {dtype} on a CPU")
        table = [(row[0].numel(), *(t.data_ptr() for t in row)) for row in rows]
        self.table = np.array(table, np.int64).reshape(-1, 6)
        self.like = torch.empty(0, dtype=dtype).numpy()
        self.chunks = _chunks(tuple(row[0] for row in table))

    def gradient_norm(self) -> float:
        """Of all gradients together."""
        sums = np.empty(len(self.chunks))
        self._run(_squares, sums)
        return math.sqrt(sums.sum())

    def step(
        self, scale: float, rate: float, betas: tuple[float, float], epsilon: float, decay: float
    ) -> None:
        """Loshchilov and Hutter's step, with gradients multiplied by ``scale``."""
        corrections = np.empty((2, len(self.table)))
        _count(self.like, self.table, betas, corrections)
        factors = np.array([*betas, scale, rate, epsilon, 1 - rate * decay], self.like.dtype)
        self._run(_adam, corrections.astype(self.like.dtype), factors)
        increment_version([row[WEIGHTS - 1] for row in self.rows])

    def _run(self, loop, *arguments: npt.NDArray) -> None:
        tables = (self.like, self.table, self.chunks)
        work = len(self.chunks) * CHUNK // 100
        parallel.run(loop, len(self.chunks), *tables, *arguments, work=work)


@cache
def _chunks(sizes: tuple[int, ...]) -> Ids:
    """(chunks, 2): whose it is, and its first number."""
    pieces = -(-np.array(sizes) // CHUNK)
    owners = np.repeat(np.arange(len(sizes)), pieces)
    before = np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.stack([owners, (np.arange(len(owners)) - before) * CHUNK], axis=1)


@intrinsic
def _pointer(typingctx, address, like):
    """An address as that of numbers of an array's type."""

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(types.intp, like), codegen


@inlined_fast
def _numbers(like, table, owner, which, start, size):
    return carray(_pointer(table[owner, which] + start * like.itemsize, like), size)


@compiled_fast
def _squares(where, *arguments):
    return fork(where, _squares_range, arguments)


@inlined_fast
def _squares_range(start, stop, like, table, chunks, sums):
    for i in range(start, stop):
        owner, first = chunks[i]
        size = min(CHUNK, table[owner, SIZE] - first)
        total = like.dtype.type(0)
        for g in _numbers(like, table, owner, GRADIENT, first, size):
            total += g * g
        sums[i] = total


@compiled
def _count(like, table, betas, corrections):
    """One more step of each parameter; what its moments are to be divided by."""
    for owner in range(len(table)):
        count = _numbers(like, table, owner, COUNT, 0, 1)
        count[0] += 1
        corrections[0, owner] = 1 - betas[0] ** count[0]
        corrections[1, owner] = math.sqrt(1 - betas[1] ** count[0])


@compiled_fast
def _adam(where, *arguments):
    return fork(where, _adam_range, arguments)


@inlined_fast
def _adam_range(start, stop, like, table, chunks, corrections, factors):
    one = like.dtype.type(1)
    first_beta, second_beta, scale, rate, epsilon, left = factors
    for i in range(start, stop):
        owner, first = chunks[i]
        size = min(CHUNK, table[owner, SIZE] - first)
        gradient = _numbers(like, table, owner, GRADIENT, first, size)
        weights = _numbers(like, table, owner, WEIGHTS, first, size)
        means = _numbers(like, table, owner, MEAN, first, size)
        spreads = _numbers(like, table, owner, SPREAD, first, size)
        by, under = rate / corrections[0, owner], one / corrections[1, owner]
        for k in range(size):
            g = gradient[k] * scale
            mean = first_beta * means[k] + (one - first_beta) * g
            spread = second_beta * spreads[k] + (one - second_beta) * (g * g)
            means[k], spreads[k] = mean, spread
            weights[k] = left * weights[k] - by * mean / (np.sqrt(spread) * under + epsilon)
