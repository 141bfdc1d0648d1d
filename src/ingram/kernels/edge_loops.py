"""The compiled loops behind :mod:`ingram.kernels.edge_attention`.

Heads never mix, so a thread takes whole heads: it packs the head's keys and values of all nodes
side by side, walks the edges by destination, and no two threads write to the same place. Packed,
one head of a middling graph fits in a core's cache, where the rows of all heads do not.

Every inner loop runs over the head's D channels and writes to few arrays: that is the form the
compiler turns into vector instructions. Optional arrays are resolved at compile time.
"""

# mypy: ignore-errors
# ruff: noqa: SIM102 -- the compiler drops `if x is not None:` only where it stands alone
from __future__ import annotations

import math

import numba
import numpy as np

from ingram.kernels.parallel import FASTMATH

compiled = numba.njit(nogil=True, fastmath=FASTMATH, error_model="numpy", cache=True)
inlined = numba.njit(nogil=True, fastmath=FASTMATH, error_model="numpy", inline="always")


@compiled
def _pack(table, h):
    """One head's keys and values, (rows, 2, D): the last two of (rows, 2 or 4, H, D)."""
    rows, columns, _, width = table.shape
    packed = np.empty((rows, 2, width), table.dtype)
    for i in range(rows):
        for j in range(2):
            for c in range(width):
                packed[i, j, c] = table[i, columns - 2 + j, h, c]
    return packed


@compiled
def _unpack(packed, table, h):
    first = table.shape[1] - 2
    for i in range(packed.shape[0]):
        for j in range(2):
            for c in range(packed.shape[2]):
                table[i, first + j, h, c] = packed[i, j, c]


@inlined
def _logit(query, ends, x, kinds, k, y, slope):
    """Y . LeakyReLU(query + key + kind)."""
    total = y.dtype.type(0)
    for c in range(len(y)):
        t = query[c] + ends[x, 0, c]
        if kinds is not None:
            t += kinds[k, 0, c]
        total += y[c] * (t if t > 0 else slope * t)
    return total


@inlined
def _add_value(out, weight, ends, x, kinds, k):
    for c in range(len(out)):
        value = ends[x, 1, c]
        if kinds is not None:
            value += kinds[k, 1, c]
        out[c] += weight * value


@inlined
def _mean_kind(kinds, ids, begin, degree, mean):
    """The mean of the kinds on a node's edges; zero when it has none."""
    for j in range(2):
        for c in range(mean.shape[2]):
            mean[0, j, c] = 0
    for e in range(begin, begin + degree):
        k = ids[e]
        for j in range(2):
            for c in range(mean.shape[2]):
                mean[0, j, c] += kinds[k, j, c]
    share = mean.dtype.type(1) / mean.dtype.type(max(degree, 1))
    for j in range(2):
        for c in range(mean.shape[2]):
            mean[0, j, c] *= share
    return share


@inlined
def _softmax(logits, count):
    """In place over the first ``count``; returns log(sum(exp(logits)))."""
    top = logits[0]
    for e in range(count):
        top = max(top, logits[e])
    total = logits.dtype.type(0)
    for e in range(count):
        logits[e] = math.exp(logits[e] - top)
        total += logits[e]
    scale = logits.dtype.type(1) / total
    for e in range(count):
        logits[e] *= scale
    return top + math.log(total)


@compiled
def forward(
    start, stop, slope, mean_loop,
    nodes, kinds, attention, bias, pointers, columns, kind_ids, out, norm,
):  # fmt: skip
    """Units start : stop of S * H, see :func:`ingram.kernels.edge_attention.edge_attention`."""
    heads = nodes.shape[3]
    for i in range(start, stop):
        s, h = i // heads, i % heads
        ends = _pack(nodes[s], h)
        packed_kinds = None if kinds is None else _pack(kinds[s], h)
        _forward_head(
            h, slope, mean_loop, nodes[s], ends, packed_kinds, attention[h], bias,
            pointers, columns, kind_ids, out[s], norm[s],
        )  # fmt: skip


@compiled
def _forward_head(
    h, slope, mean_loop, nodes, ends, kinds, y, bias, pointers, columns, kind_ids, out, norm
):
    count, _, _, width = nodes.shape
    longest = 0
    for v in range(count):
        longest = max(longest, pointers[v + 1] - pointers[v])
    logits = np.empty(longest + 1, nodes.dtype)
    mean = np.empty((1, 2, width), nodes.dtype)
    query = np.empty(width, nodes.dtype)
    result = np.empty(width, nodes.dtype)
    for v in range(count):
        begin, end = pointers[v], pointers[v + 1]
        degree = end - begin
        edges = degree + 1 if mean_loop else degree
        for c in range(width):
            query[c] = nodes[v, 0, h, c]
        for c in range(width):
            result[c] = nodes[v, 1, h, c]
        norm[v, h] = 0
        if edges > 0:
            for e in range(degree):
                x, k = columns[begin + e], kind_ids[begin + e]
                logits[e] = _logit(query, ends, x, kinds, k, y, slope)
                if bias is not None:
                    logits[e] += bias[k, h]
            if kinds is not None:
                if mean_loop:
                    _mean_kind(kinds, kind_ids, begin, degree, mean)
                    logits[degree] = _logit(query, ends, v, mean, 0, y, slope)
            norm[v, h] = _softmax(logits, edges)
            for e in range(degree):
                x, k = columns[begin + e], kind_ids[begin + e]
                _add_value(result, logits[e], ends, x, kinds, k)
            if kinds is not None:
                if mean_loop:
                    _add_value(result, logits[degree], ends, v, mean, 0)
        for c in range(width):
            out[v, h, c] = 0 if result[c] < 0 else result[c]  # a NaN stays one


@inlined
def _through_edge(query, ends, x, kinds, k, grad, y, shift, delta, slope, step, d_y):
    """The gradient at one edge: returns alpha and the gradient of the logit.

    Leaves the gradient of (query + key + kind) in ``step``. ``shift`` is bias -
    log(sum(exp(logits))), so that alpha = exp(logit + shift).
    """
    logit = y.dtype.type(0)
    inner = y.dtype.type(0)
    one = y.dtype.type(1)
    for c in range(len(y)):
        t, value = query[c] + ends[x, 0, c], ends[x, 1, c]
        if kinds is not None:
            t += kinds[k, 0, c]
            value += kinds[k, 1, c]
        step[c] = t
        logit += y[c] * (t if t > 0 else slope * t)
        inner += grad[c] * value
    alpha = y.dtype.type(math.exp(logit + shift))
    d_logit = alpha * (inner - delta)
    for c in range(len(y)):
        t = step[c]
        bent = d_logit * (one if t > 0 else slope)
        step[c] = bent * y[c]
        d_y[c] += bent * t
    return alpha, d_logit


@compiled
def backward(
    start, stop, slope, mean_loop, grad, out, norm,
    nodes, kinds, attention, bias, pointers, columns, kind_ids,
    d_nodes, d_kinds, d_attention, d_bias,
):  # fmt: skip
    """Gradients of :func:`forward`, each draw's apart."""
    heads = nodes.shape[3]
    for i in range(start, stop):
        s, h = i // heads, i % heads
        ends = _pack(nodes[s], h)
        packed_kinds = None if kinds is None else _pack(kinds[s], h)
        _backward_head(
            h, slope, mean_loop, grad[s], out[s], norm[s], nodes[s], ends, packed_kinds,
            attention[h], bias, pointers, columns, kind_ids,
            d_nodes[s], None if d_kinds is None else d_kinds[s],
            d_attention[s, h], None if d_bias is None else d_bias[s],
        )  # fmt: skip


@compiled
def _backward_head(
    h, slope, mean_loop, grad, out, norm, nodes, ends, kinds,
    y, bias, pointers, columns, kind_ids, d_nodes, d_kinds, d_y, d_bias,
):  # fmt: skip
    """The sum over a node's edges of alpha * dalpha equals grad . (out - residual), so one pass
    over the edges does.
    """
    count, _, _, width = nodes.shape
    query = np.empty(width, nodes.dtype)
    masked = np.empty(width, nodes.dtype)  # the gradient behind the ReLU
    d_query = np.empty(width, nodes.dtype)
    step = np.empty(width, nodes.dtype)
    mean = np.empty((1, 2, width), nodes.dtype)
    loop = np.zeros((2, width), nodes.dtype)  # the self-loop's gradient, per edge
    zero = nodes.dtype.type(0)
    d_ends = np.zeros_like(ends)
    d_packed = np.zeros((0 if kinds is None else len(kinds), 2, width), nodes.dtype)
    d_y[:] = zero
    for v in range(count):
        begin, end = pointers[v], pointers[v + 1]
        for c in range(width):
            query[c] = nodes[v, 0, h, c]
        for c in range(width):
            masked[c] = zero if out[v, h, c] <= 0 else grad[v, h, c]
        delta = zero
        for c in range(width):
            delta += masked[c] * (out[v, h, c] - nodes[v, 1, h, c])
        for c in range(width):
            d_query[c] = zero
        if kinds is not None:
            if mean_loop:
                share = _mean_kind(kinds, kind_ids, begin, end - begin, mean)
                alpha, _ = _through_edge(
                    query, ends, v, mean, 0, masked, y, -norm[v, h], delta, slope, step, d_y
                )
                for c in range(width):
                    d_query[c] = step[c]
                    loop[0, c] = share * step[c]
                for c in range(width):
                    d_ends[v, 0, c] += step[c]
                for c in range(width):
                    d_ends[v, 1, c] += alpha * masked[c]
                for c in range(width):
                    loop[1, c] = share * alpha * masked[c]
        for e in range(begin, end):
            x, k = columns[e], kind_ids[e]
            shift = -norm[v, h]
            if bias is not None:
                shift += bias[k, h]
            alpha, d_logit = _through_edge(
                query, ends, x, kinds, k, masked, y, shift, delta, slope, step, d_y
            )
            if bias is not None:
                d_bias[k, h] += d_logit
            for c in range(width):
                d_query[c] += step[c]
                d_ends[x, 0, c] += step[c]
            for c in range(width):
                d_ends[x, 1, c] += alpha * masked[c]
            if kinds is not None:
                for c in range(width):
                    d_packed[k, 0, c] += step[c] + loop[0, c]
                for c in range(width):
                    d_packed[k, 1, c] += alpha * masked[c] + loop[1, c]
        for c in range(width):
            d_nodes[v, 0, h, c] = d_query[c]
        for c in range(width):
            d_nodes[v, 1, h, c] = masked[c]
    _unpack(d_ends, d_nodes, h)
    if kinds is not None:
        _unpack(d_packed, d_kinds, h)
