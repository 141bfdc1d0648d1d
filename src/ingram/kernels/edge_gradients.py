"""The gradients of :mod:`ingram.kernels.edge_loops`, in the same two walks, values first."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ingram.kernels.edge_loops import KEY, QUERY, RESIDUAL, VALUE, end_of_run, fetch_ahead, pack
from ingram.kernels.parallel import compiled_fast, inlined_fast
from ingram.kernels.vectors import by_sign, get, load, put, splat, store, through_relu, total


@inlined_fast
def _unpack(lanes, packed, unit, part, sums, table):
    """The other way; adds the rows up in ``sums``."""
    _, _, rows, parts, width = table.shape
    for i in range(rows):
        at = ((unit * rows + i) * parts + part) * width
        for c in range(0, width, len(lanes)):
            row = load(packed, i * width + c, lanes)
            store(table, at + c, row)
            store(sums, c, load(sums, c, lanes) + row)


@inlined_fast
def _mean_kinds(lanes, edges, table, means):
    """(N, D): the mean of the kinds on a node's edges; zero when it has none."""
    pointers, _, kinds = edges
    width = table.shape[1]
    one = table.dtype.type(1)
    for v in range(len(pointers) - 1):
        first, last = get(pointers, v), get(pointers, v + 1)
        share = one / table.dtype.type(max(last - first, 1))
        for c in range(0, width, len(lanes)):
            mean = splat(table.dtype.type(0), lanes)
            start = first
            while start < last:
                stop = end_of_run(kinds, start, last)
                kind = load(table, get(kinds, start) * width + c, lanes)
                mean = mean + kind * table.dtype.type(stop - start)
                start = stop
            store(means, v * width + c, mean * share)


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
                if mean_loop and part == KEY:
                    _mean_kinds(lanes, edges, table, means)
            if part == VALUE:
                _d_values(
                    lanes, h, mean_loop, edges, grad[s], out[s], alpha[h, s], ends, kinds, table,
                    d_nodes[h, s], d_ends, d_table, d_logits, d_shift[h, s, RESIDUAL],
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


@inlined_fast
def _d_values(
    lanes, h, mean_loop, edges, grad, out, alpha, ends, kinds, table,
    d_nodes, d_ends, d_table, d_logits, d_shifts,
):  # fmt: skip
    """Through the weighted sum, to residuals, values and logits."""
    pointers, sources, kind_ids = edges
    _, heads, width = out.shape
    zero = out.dtype.type(0)
    nothing = splat(zero, lanes)
    loops = 1 if mean_loop else 0
    for v in range(len(pointers) - 1):
        first, last, shift = get(pointers, v), get(pointers, v + 1), v * loops
        loop = get(alpha, last + shift) if mean_loop else zero
        share = out.dtype.type(1) / out.dtype.type(max(last - first, 1))
        loop_share = loop * share  # of each edge's kind
        for c in range(0, width, len(lanes)):
            at = (v * heads + h) * width + c
            masked = through_relu(load(out, at, lanes), load(grad, at, lanes))
            store(d_nodes, (4 * v + RESIDUAL) * width + c, masked)
            store(d_shifts, c, load(d_shifts, c, lanes) + masked)
            mean = nothing
            start = first
            while start < last:
                stop = last if kinds is None else end_of_run(kind_ids, start, last)
                dot, weight = zero, zero
                k = get(kind_ids, start) * width + c
                if kinds is not None:
                    kind = load(table, k, lanes)
                    dot = total(kind * masked)
                    if mean_loop:
                        mean = mean + kind * out.dtype.type(stop - start)
                for e in range(start, stop):
                    fetch_ahead(lanes, ends, sources, e, width, c)
                    fetch_ahead(lanes, d_ends, sources, e, width, c)
                    x = get(sources, e) * width + c
                    own = get(alpha, e + shift)
                    weight += own + loop_share
                    inner = dot + total(load(ends, x, lanes) * masked)
                    store(d_ends, x, load(d_ends, x, lanes) + masked * own)
                    if c > 0:
                        inner += get(d_logits, e + shift)
                    put(d_logits, e + shift, inner)
                if kinds is not None:
                    store(d_table, k, load(d_table, k, lanes) + masked * weight)
                start = stop
            if mean_loop:
                x = v * width + c
                value = load(ends, x, lanes) + mean * share
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


@inlined_fast
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
            start = first
            while start < last:
                stop = last if kinds is None else end_of_run(kind_ids, start, last)
                k = get(kind_ids, start) * width + c
                base = query
                if kinds is not None:
                    base = query + load(table, k, lanes)
                steps = splat(zero, lanes)
                for e in range(start, stop):
                    fetch_ahead(lanes, ends, sources, e, width, c)
                    fetch_ahead(lanes, d_ends, sources, e, width, c)
                    x = get(sources, e) * width + c
                    t = base + load(ends, x, lanes)
                    g = get(d_logits, e + shift)
                    bent = by_sign(t, g, g * slope)
                    d_weights = d_weights + bent * t
                    step = bent * weights
                    steps = steps + step
                    store(d_ends, x, load(d_ends, x, lanes) + step)
                d_query = d_query + steps
                if kinds is not None:
                    more = steps + loop * y.dtype.type(stop - start)
                    store(d_table, k, load(d_table, k, lanes) + more)
                start = stop
            store(d_y, c, d_weights)
            store(d_nodes, (4 * v + QUERY) * width + c, d_query)
