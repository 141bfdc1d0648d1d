"""The compiled loops behind :mod:`ingram.kernels.edge_attention`.

Every inner loop runs over one head's D channels and writes to one array at most: that is the form
the compiler turns into vector instructions. Optional arrays are resolved at compile time.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

import numba
import numpy as np

compiled = numba.njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
inlined = numba.njit(nogil=True, fastmath=True, error_model="numpy", inline="always")


@inlined
def _logit(query, key, kind, attention, h, slope):
    """y_h . LeakyReLU(query + key + kind)."""
    total = attention.dtype.type(0)
    for c in range(attention.shape[1]):
        t = query[0, h, c] + key[0, h, c]
        if kind is not None:
            t += kind[0, h, c]
        total += attention[h, c] * (t if t > 0 else slope * t)
    return total


@inlined
def _add_value(out, weight, source, kind, h):
    for c in range(out.shape[1]):
        value = source[1, h, c]
        if kind is not None:
            value += kind[1, h, c]
        out[h, c] += weight * value


@compiled
def _mean_kind(kinds, ids, mean):
    """The mean of the kinds on a node's edges; zero when it has none."""
    mean[:] = 0
    for e in range(len(ids)):
        row = kinds[ids[e]]
        for j in range(2):
            for h in range(mean.shape[1]):
                for c in range(mean.shape[2]):
                    mean[j, h, c] += row[j, h, c]
    mean *= mean.dtype.type(1) / mean.dtype.type(max(len(ids), 1))


@inlined
def _softmax(logits, norm):
    """In place over the first axis; norm receives log(sum(exp(logits)))."""
    one = logits.dtype.type(1)
    for h in range(logits.shape[1]):
        top = logits.dtype.type(-np.inf)
        for e in range(logits.shape[0]):
            top = max(top, logits[e, h])
        total = logits.dtype.type(0)
        for e in range(logits.shape[0]):
            logits[e, h] = math.exp(logits[e, h] - top)
            total += logits[e, h]
        norm[h] = top + math.log(total)
        for e in range(logits.shape[0]):
            logits[e, h] *= one / total


@compiled
def forward(
    start, stop, first, slope, mean_loop,
    targets, sources, kinds, attention, bias, pointers, columns, kind_ids, out, norm,
):  # fmt: skip
    """Nodes start : stop of S * C, see :func:`ingram.kernels.edge_attention.edge_attention`."""
    _, count, _, heads, width = targets.shape
    longest = 0
    for v in range(count):
        longest = max(longest, pointers[v + 1] - pointers[v])
    scratch = np.empty((longest + 1, heads), targets.dtype)
    mean = np.empty((2, heads, width), targets.dtype)
    for i in range(start, stop):
        s, v = i // count, i % count
        node, result, ends = targets[s, v], out[s, v], sources[s]
        result[:] = node[1]
        begin = pointers[v]
        degree = pointers[v + 1] - begin
        edges = degree + 1 if mean_loop else degree
        if edges == 0:
            norm[s, v] = 0
            for h in range(heads):
                for c in range(width):
                    result[h, c] = max(result[h, c], 0)
            continue
        logits = scratch[:edges]
        for e in range(degree):
            key, k = ends[columns[begin + e]], kind_ids[begin + e]
            kind = None if kinds is None else kinds[s, k]
            for h in range(heads):
                logits[e, h] = _logit(node, key, kind, attention, h, slope)
                if bias is not None:
                    logits[e, h] += bias[k, h]
        if kinds is not None:
            if mean_loop:
                _mean_kind(kinds[s], kind_ids[begin : begin + degree], mean)
                for h in range(heads):
                    logits[degree, h] = _logit(node, ends[first + v], mean, attention, h, slope)
        _softmax(logits, norm[s, v])
        for e in range(degree):
            value, k = ends[columns[begin + e]], kind_ids[begin + e]
            kind = None if kinds is None else kinds[s, k]
            for h in range(heads):
                _add_value(result, logits[e, h], value, kind, h)
        if mean_loop:
            for h in range(heads):
                _add_value(result, logits[degree, h], ends[first + v], mean, h)
        for h in range(heads):
            for c in range(width):
                result[h, c] = max(result[h, c], 0)


@inlined
def _through_edge(node, key, kind, grad, attention, shift, delta, h, slope, step, d_attention):
    """The gradient at one edge and head.

    Returns alpha and the gradient of the logit; leaves the gradient of (query + key + kind) in
    ``step``. ``shift`` is bias - log(sum(exp(logits))), so that alpha = exp(logit + shift).
    """
    logit = attention.dtype.type(0)
    inner = attention.dtype.type(0)
    one = attention.dtype.type(1)
    for c in range(attention.shape[1]):
        t, value = node[0, h, c] + key[0, h, c], key[1, h, c]
        if kind is not None:
            t += kind[0, h, c]
            value += kind[1, h, c]
        logit += attention[h, c] * (t if t > 0 else slope * t)
        inner += grad[h, c] * value
    alpha = attention.dtype.type(math.exp(logit + shift))
    d_logit = alpha * (inner - delta)
    for c in range(attention.shape[1]):
        t = node[0, h, c] + key[0, h, c]
        if kind is not None:
            t += kind[0, h, c]
        step[h, c] = d_logit * (one if t > 0 else slope)
    for c in range(attention.shape[1]):
        t = node[0, h, c] + key[0, h, c]
        if kind is not None:
            t += kind[0, h, c]
        d_attention[h, c] += step[h, c] * t
    for c in range(attention.shape[1]):
        step[h, c] *= attention[h, c]
    return alpha, d_logit


@inlined
def _add(out, term):
    for h in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[h, c] += term[h, c]


@compiled
def backward(
    start, stop, first, slope, mean_loop, grad, out, norm,
    targets, sources, kinds, attention, bias, pointers, columns, kind_ids,
    d_targets, d_sources, d_kinds, d_attention, d_bias,
):  # fmt: skip
    """Gradients of :func:`forward`. d_targets is written, the others are added to.

    The sum over a node's edges of alpha * dalpha equals grad . (out - residual), so one pass over
    the edges does.
    """
    _, count, _, heads, width = targets.shape
    masked = np.empty((heads, width), targets.dtype)  # the gradient behind the ReLU
    step = np.empty((heads, width), targets.dtype)
    mean = np.empty((2, heads, width), targets.dtype)
    loop = np.zeros((2, heads, width), targets.dtype)  # the self-loop's gradient, per edge
    delta = np.empty(heads, targets.dtype)
    zero = targets.dtype.type(0)
    for i in range(start, stop):
        s, v = i // count, i % count
        node, d_node = targets[s, v], d_targets[s, v]
        ends, d_ends = sources[s], d_sources[s]
        begin = pointers[v]
        degree = pointers[v + 1] - begin
        for h in range(heads):
            for c in range(width):
                masked[h, c] = grad[s, v, h, c] if out[s, v, h, c] > 0 else zero
        for h in range(heads):
            delta[h] = zero
            for c in range(width):
                delta[h] += masked[h, c] * (out[s, v, h, c] - node[1, h, c])
        d_node[0] = zero
        d_node[1] = masked
        if kinds is not None:
            if mean_loop:
                _mean_kind(kinds[s], kind_ids[begin : begin + degree], mean)
                share = targets.dtype.type(1) / targets.dtype.type(max(degree, 1))
                d_end = d_ends[first + v]
                for h in range(heads):
                    alpha, _ = _through_edge(
                        node, ends[first + v], mean, masked, attention,
                        -norm[s, v, h], delta[h], h, slope, step, d_attention,
                    )  # fmt: skip
                    for c in range(width):
                        d_end[1, h, c] += alpha * masked[h, c]
                    for c in range(width):
                        loop[1, h, c] = share * alpha * masked[h, c]
                _add(d_node[0], step)
                _add(d_end[0], step)
                for h in range(heads):
                    for c in range(width):
                        loop[0, h, c] = share * step[h, c]
        for e in range(degree):
            x, k = columns[begin + e], kind_ids[begin + e]
            d_end = d_ends[x]
            kind = None if kinds is None else kinds[s, k]
            d_kind = None if kinds is None else d_kinds[s, k]
            for h in range(heads):
                shift = -norm[s, v, h]
                if bias is not None:
                    shift += bias[k, h]
                alpha, d_logit = _through_edge(
                    node, ends[x], kind, masked, attention,
                    shift, delta[h], h, slope, step, d_attention,
                )  # fmt: skip
                if bias is not None:
                    d_bias[k, h] += d_logit
                for c in range(width):
                    d_end[1, h, c] += alpha * masked[h, c]
                if d_kind is not None:
                    for c in range(width):
                        d_kind[1, h, c] += alpha * masked[h, c] + loop[1, h, c]
            _add(d_node[0], step)
            _add(d_end[0], step)
            if d_kind is not None:
                for h in range(heads):
                    for c in range(width):
                        d_kind[0, h, c] += step[h, c] + loop[0, h, c]
