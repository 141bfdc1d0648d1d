"""The gradients of :mod:`ingram.kernels.edge_loops`, in the same two walks, values first."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ingram.kernels.edge_loops import KEY, QUERY, RESIDUAL, VALUE, mean_kinds, pack
from ingram.kernels.parallel import compiled_fast
from ingram.kernels.vectors import by_sign, get, load, put, splat, store, through_relu, total


@compiled_fast
def _unpack(lanes, packed, unit, part, sums, table):
    """The other way; adds the rows up in ``sums``."""
    _, _, rows, parts, width = table.shape
    for i in range(rows):
        at = ((unit * rows + i) * parts + part) * width
        for c in range(0, width, len(lanes)):
            row = load(packed, i * width + c, lanes)
            store(table, at + c, row)
            store(sums, c, load(sums, c, lanes) + row)


@compiled_fast
def backward(
    start, stop, lanes, slope, mean_loop, grad, out, alpha,
    nodes, kinds, attention, shift, pointers, sources, kind_ids,
    d_nodes, d_kinds, d_attention, d_bias, d_shift,
):  # fmt: skip
    """Each draw's gradients apart; the last three are zero when it starts."""
    _, draws, count, _, width = nodes.shape
    edges = (pointers, sources, kind_ids)
    ends, d_ends = np.empty((2, count, width), nodes.dtype)
    means = np.empty((count if mean_loop else 0, width), nodes.dtype)
    d_logits = np.empty(alpha.shape[2], nodes.dtype)
    table, d_table = np.empty((2, 0, width), nodes.dtype)
    unshifted, unused = np.zeros((2, width), nodes.dtype)
    if kinds is not None:
        table, d_table = np.empty((2, kinds.shape[2], width), nodes.dtype)
    for i in range(start, stop):
        h, s = i // draws, i % draws
        for part in (VALUE, KEY):
            pack(lanes, nodes, i, part, shift[h, part], ends)
            d_ends[:] = 0
            d_table[:] = 0
            if kinds is not None:
                pack(lanes, kinds, i, part - KEY, unshifted, table)
                if mean_loop:
                    mean_kinds(lanes, edges, table, means)
            if part == VALUE:
                _d_values(
                    lanes, h, mean_loop, edges, grad[s], out[s], alpha[h, s], ends, kinds, table,
                    means, d_nodes[h, s], d_ends, d_table, d_logits, d_shift[h, s, RESIDUAL],
                )  # fmt: skip
            else:
                _d_keys(
                    lanes, s, h, slope, mean_loop, edges, nodes[h, s], ends, kinds, table, means,
                    attention[h], d_logits, d_nodes[h, s], d_ends, d_table, d_attention[h, s],
                    d_bias,
                )  # fmt: skip
            _unpack(lanes, d_ends, i, part, d_shift[h, s, part], d_nodes)
            if d_kinds is not None:
                _unpack(lanes, d_table, i, part - KEY, unused, d_kinds)


@compiled_fast
def _d_values(
    lanes, h, mean_loop, edges, grad, out, alpha, ends, kinds, table, means,
    d_nodes, d_ends, d_table, d_logits, d_shifts,
):  # fmt: skip
    """Through the weighted sum, to residuals, values and logits."""
    pointers, sources, kind_ids = edges
    _, heads, width = out.shape
    zero = out.dtype.type(0)
    loops = 1 if mean_loop else 0
    for v in range(len(pointers) - 1):
        first, last, shift = get(pointers, v), get(pointers, v + 1), v * loops
        loop = get(alpha, last + shift) if mean_loop else zero
        loop_share = loop / out.dtype.type(max(last - first, 1))  # of each edge's kind
        for c in range(0, width, len(lanes)):
            at = (v * heads + h) * width + c
            masked = through_relu(load(out, at, lanes), load(grad, at, lanes))
            store(d_nodes, (4 * v + RESIDUAL) * width + c, masked)
            store(d_shifts, c, load(d_shifts, c, lanes) + masked)
            for e in range(first, last):
                x = get(sources, e) * width + c
                weight = get(alpha, e + shift)
                value = load(ends, x, lanes)
                store(d_ends, x, load(d_ends, x, lanes) + masked * weight)
                if kinds is not None:
                    k = get(kind_ids, e) * width + c
                    value = value + load(table, k, lanes)
                    more = masked * (weight + loop_share)
                    store(d_table, k, load(d_table, k, lanes) + more)
                inner = total(value * masked)
                if c > 0:
                    inner += get(d_logits, e + shift)
                put(d_logits, e + shift, inner)
            if mean_loop:
                x = v * width + c
                value = load(ends, x, lanes) + load(means, x, lanes)
                store(d_ends, x, load(d_ends, x, lanes) + masked * loop)
                inner = total(value * masked)
                if c > 0:
                    inner += get(d_logits, last + shift)
                put(d_logits, last + shift, inner)
        mean = zero
        for e in range(first + shift, last + shift + loops):
            mean += get(alpha, e) * get(d_logits, e)
        for e in range(first + shift, last + shift + loops):
            put(d_logits, e, get(alpha, e) * (get(d_logits, e) - mean))


@compiled_fast
def _d_keys(
    lanes, s, h, slope, mean_loop, edges, nodes, ends, kinds, table, means, y, d_logits,
    d_nodes, d_ends, d_table, d_y, d_bias,
):  # fmt: skip
    """Through the logits, to queries, keys, y and bias."""
    pointers, sources, kind_ids = edges
    width = len(y)
    zero, one = y.dtype.type(0), y.dtype.type(1)
    loops = 1 if mean_loop else 0
    for v in range(len(pointers) - 1):
        first, last, shift = get(pointers, v), get(pointers, v + 1), v * loops
        share = one / y.dtype.type(max(last - first, 1))
        if d_bias is not None:
            for e in range(first, last):
                d_bias[s, get(kind_ids, e), h] += get(d_logits, e + shift)
        for c in range(0, width, len(lanes)):
            query = load(nodes, (4 * v + QUERY) * width + c, lanes)
            weights = load(y, c, lanes)
            d_weights = load(d_y, c, lanes)
            d_query = splat(zero, lanes)
            loop = splat(zero, lanes)  # the self-loop's step, a share for each edge's kind
            if mean_loop:
                x = v * width + c
                t = query + load(ends, x, lanes) + load(means, x, lanes)
                g = get(d_logits, last + shift)
                bent = by_sign(t, g, g * slope)
                d_weights = d_weights + bent * t
                d_query = bent * weights
                store(d_ends, x, load(d_ends, x, lanes) + d_query)
                loop = d_query * share
            for e in range(first, last):
                x = get(sources, e) * width + c
                t = query + load(ends, x, lanes)
                k = get(kind_ids, e) * width + c
                if kinds is not None:
                    t = t + load(table, k, lanes)
                g = get(d_logits, e + shift)
                bent = by_sign(t, g, g * slope)
                d_weights = d_weights + bent * t
                step = bent * weights
                d_query = d_query + step
                store(d_ends, x, load(d_ends, x, lanes) + step)
                if kinds is not None:
                    store(d_table, k, load(d_table, k, lanes) + (step + loop))
            store(d_y, c, d_weights)
            store(d_nodes, (4 * v + QUERY) * width + c, d_query)
