"""A state renewed by its message: the other heavy step of the query-conditioned model.

For each row, with layer normalisation over its channels::

    z   = own s + other m + bias
    x   = (z - mean z) / sqrt(variance z + epsilon)
    out = s + ReLU(gain * x + shift)

Shapes: ``states`` s (..., D); ``messages`` m (..., M), M a multiple of D; ``own`` (D, D);
``other`` (D, M); the rest (D,). In one walk over the rows nothing but the output leaves the
registers; where a gradient is wanted, x and the deviation are kept as well.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from ingram.kernels import parallel
from ingram.kernels.parallel import compiled
from ingram.kernels.teams import fork
from ingram.kernels.vectors import (
    fused,
    get,
    lanes_of,
    load,
    splat,
    store,
    through_relu,
    total,
)

BLOCK = 1_024
"""Rows whose part of the gradients of gain and shift is summed on its own."""


def state_update(
    states: Tensor,
    messages: Tensor,
    own: Tensor,
    other: Tensor,
    bias: Tensor,
    gain: Tensor,
    shift: Tensor,
    epsilon: float,
    *,
    backend: str = "auto",
) -> Tensor:
    """(..., D). ``backend``: ``fused`` (CPU, D a power of two up to 64), ``plain``, ``auto``."""
    if backend == "auto":
        fits = len(lanes_of(states.shape[-1])) == states.shape[-1]
        backend = "fused" if fits and states.device.type == "cpu" else "plain"
    if backend == "plain":
        return plain_state_update(states, messages, own, other, bias, gain, shift, epsilon)
    keep, form = torch.is_grad_enabled(), _updated if parallel.bare() else _fused
    rows, sums = states.reshape(-1, states.shape[-1]), messages.reshape(-1, messages.shape[-1])
    out, _, _ = form(rows, sums, own, other, bias, gain, shift, epsilon, keep)
    return out.view_as(states)


def plain_state_update(
    states: Tensor,
    messages: Tensor,
    own: Tensor,
    other: Tensor,
    bias: Tensor,
    gain: Tensor,
    shift: Tensor,
    epsilon: float,
) -> Tensor:
    """The same in plain torch, on any device."""
    mixed = states @ own.T + messages @ other.T + bias
    return states + layer_norm(mixed, gain.shape, gain, shift, epsilon).relu()


def _updated(
    states: Tensor,
    messages: Tensor,
    own: Tensor,
    other: Tensor,
    bias: Tensor,
    gain: Tensor,
    shift: Tensor,
    epsilon: float,
    keep: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    rows, width = states.shape
    out = torch.empty_like(states, memory_format=torch.contiguous_format)
    normal = states.new_empty(rows if keep else 0, width)
    scales = states.new_empty(rows if keep else 0)
    tensors = (states, messages, own.T, other.T, bias, gain, shift, out, normal, scales)
    arrays, lanes = parallel.arrays(*tensors), lanes_of(width)
    parallel.run(_forward, rows, lanes, epsilon, *arrays, work=rows * width // 16)
    return out, normal, scales


_fused = torch.library.custom_op(
    "ingram::state_update", _updated, mutates_args=(), device_types="cpu"
)


@_fused.register_fake
def _(states, messages, own, other, bias, gain, shift, epsilon, keep):
    rows, width = states.shape
    kept = rows if keep else 0
    return states.new_empty(rows, width), states.new_empty(kept, width), states.new_empty(kept)


@torch.library.custom_op("ingram::state_update_backward", mutates_args=(), device_types="cpu")
def _fused_backward(
    grad: Tensor, normal: Tensor, scales: Tensor, gain: Tensor, shift: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    rows, width = grad.shape
    d_mixed = torch.empty_like(normal)
    blocks = -(-rows // BLOCK)
    d_gain, d_shift = grad.new_zeros(2, blocks, width)
    arrays = parallel.arrays(grad, normal, scales, gain, shift, d_mixed, d_gain, d_shift)
    lanes = lanes_of(width)
    parallel.run(_backward, blocks, lanes, *arrays, work=rows * width // 64)
    return d_mixed, d_gain.sum(0), d_shift.sum(0)


@_fused_backward.register_fake
def _(grad, normal, scales, gain, shift):
    return torch.empty_like(normal), torch.empty_like(gain), torch.empty_like(shift)


def _remember(ctx, inputs, output):
    states, messages, own, other, _, gain, shift, *_ = inputs
    _, normal, scales = output
    ctx.mark_non_differentiable(normal, scales)
    ctx.save_for_backward(states, messages, own, other, gain, shift, normal, scales)


def _differentiate(ctx, grad, *_):
    states, messages, own, other, gain, shift, normal, scales = ctx.saved_tensors
    grad = grad.contiguous()
    d_mixed, d_gain, d_shift = _fused_backward(grad, normal, scales, gain, shift)
    return (
        torch.addmm(grad, d_mixed, own),
        d_mixed @ other,
        d_mixed.T @ states,
        d_mixed.T @ messages,
        d_mixed.sum(0),
        d_gain,
        d_shift,
        None,
        None,
    )


_fused.register_autograd(_differentiate, setup_context=_remember)


@compiled
def _forward(where, *arguments):
    return fork(where, _forward_range, arguments)


@compiled
def _forward_range(
    start, stop, lanes, epsilon,
    states, messages, own, other, bias, gain, shift, out, normal, scales,
):  # fmt: skip
    """Rows start : stop, two at a time: each weight is read once for both.

    Before a question has spread, nearly all rows are zero, and nothing is to be multiplied.
    """
    row = start
    while row < stop:
        last = min(row + 1, stop - 1)
        first = load(bias, 0, lanes)
        second = first
        first, second = _add(lanes, row, last, states, own, first, second)
        first, second = _add(lanes, row, last, messages, other, first, second)
        _finish(lanes, epsilon, row, first, states, gain, shift, out, normal, scales)
        if last > row:
            _finish(lanes, epsilon, last, second, states, gain, shift, out, normal, scales)
        row += 2


@compiled
def _add(lanes, row, last, inputs, weights, first, second):
    """The products of two rows with the weights, added to what is there."""
    width = inputs.shape[1]
    if not _is_zero(lanes, inputs, row) or not _is_zero(lanes, inputs, last):
        for c in range(width):
            weight = load(weights, c * len(lanes), lanes)
            first = fused(get(inputs, row * width + c), weight, first)
            second = fused(get(inputs, last * width + c), weight, second)
    return first, second


@compiled
def _is_zero(lanes, inputs, row):
    width = inputs.shape[1]
    squares = splat(inputs.dtype.type(0), lanes)
    for at in range(row * width, (row + 1) * width, len(lanes)):
        some = load(inputs, at, lanes)
        squares = fused(some, some, squares)
    return total(squares) == 0


@compiled
def _finish(lanes, epsilon, row, mixed, states, gain, shift, out, normal, scales):
    width = states.shape[1]
    share = states.dtype.type(1 / width)
    one = states.dtype.type(1)
    centred = mixed + splat(-total(mixed) * share, lanes)
    variance = total(centred * centred) * share
    scale = one / np.sqrt(variance + states.dtype.type(epsilon))
    x = centred * scale
    if len(scales) > 0:
        store(normal, row * width, x)
        scales[row] = scale
    y = fused(x, load(gain, 0, lanes), load(shift, 0, lanes))
    store(out, row * width, load(states, row * width, lanes) + through_relu(y, y))


@compiled
def _backward(where, *arguments):
    return fork(where, _backward_range, arguments)


@compiled
def _backward_range(
    start, stop, lanes, grad, normal, scales, gain, shift, d_mixed, d_gain, d_shift
):
    """Blocks start : stop of rows."""
    rows, width = grad.shape
    share = grad.dtype.type(1 / width)
    for block in range(start, stop):
        of_gain, of_shift = load(d_gain, block * width, lanes), load(d_shift, block * width, lanes)
        weight, offset = load(gain, 0, lanes), load(shift, 0, lanes)
        for row in range(block * BLOCK, min((block + 1) * BLOCK, rows)):
            x = load(normal, row * width, lanes)
            into = through_relu(fused(x, weight, offset), load(grad, row * width, lanes))
            of_gain = fused(into, x, of_gain)
            of_shift = of_shift + into
            step = into * weight
            mean, along = total(step) * share, total(step * x) * share
            step = fused(-along, x, step + splat(-mean, lanes))
            store(d_mixed, row * width, step * get(scales, row))
        store(d_gain, block * width, of_gain)
        store(d_shift, block * width, of_shift)
