"""The gradients of :mod:`ingram.kernels.edge_loops`, head by head in three walks.

Sums over a node's incoming edges are made by walking edges by destination, sums over its outgoing
ones by walking them by source. So they stay in registers, and only the few kinds are added to at
random. The first walk, over nodes, goes through the ReLU, the self-loops and to the values of
kinds; the second, by source, to values, logits and keys; the third, by destination, to queries,
bias and the keys of kinds.

With bent_e = d_logit_e where t = query + key + kind is above zero and slope * d_logit_e elsewhere,
the gradient of t is y * bent_e. So beyond the logits an edge's signs will do, no vector is read.
The gradient of y, the sum of bent_e * t_e, is made of the sums of bent over the edges of each
query, key and kind, times these.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ingram.kernels.edge_loops import KEY, QUERY, RESIDUAL, VALUE, fetch_ahead, pack
from ingram.kernels.parallel import compiled_fast, inlined_fast
from ingram.kernels.signs import add_where
from ingram.kernels.teams import fork
from ingram.kernels.vectors import get, load, put, splat, store, through_relu, total


@compiled_fast
def backward(where, *arguments):
    return fork(where, _backward, arguments)


@inlined_fast
def _backward(
    start, stop, lanes, slope, mean_loop, grad, out, kept,
    nodes, kinds, attention, shift, pointers, kind_ids,
    out_pointers, destinations, out_kinds, places,
    d_nodes, d_kinds, d_attention, d_bias, d_shift,
):  # fmt: skip
    """Each draw's gradients apart; the last three are zero when it starts."""
    _, draws, count, _, width = nodes.shape
    incoming = (pointers, kind_ids)
    outgoing = (out_pointers, destinations, out_kinds, places)
    masked, means = np.empty((count, width), nodes.dtype), np.empty(count, nodes.dtype)
    edges = np.empty(kept.shape[2:], nodes.dtype)  # a weight gives way to its logit's gradient
    most = 0
    for v in range(count):
        most = max(most, get(out_pointers, v + 1) - get(out_pointers, v))
    buffer, unshifted = np.empty(most, nodes.dtype), np.zeros(width, nodes.dtype)
    types = 0 if kinds is None else kinds.shape[2]
    table = np.empty((types, width), nodes.dtype)
    d_values, d_keys = np.empty_like(table), np.empty_like(table)
    for i in range(start, stop):
        h, s = i // draws, i % draws
        for e in range(edges.size):  # a slice would be copied number by number
            put(edges, e, get(kept, i * edges.size + e))
        d_values[:] = 0
        d_keys[:] = 0
        if kinds is not None:
            pack(lanes, kinds, i, VALUE - KEY, unshifted, table)
        _by_node(
            lanes, h, mean_loop, incoming, grad[s], out[s], edges, nodes[h, s], shift[h],
            kinds, table, masked, means, d_nodes[h, s], d_values, d_shift[h, s],
        )  # fmt: skip
        _by_source(
            lanes, slope, mean_loop, pointers, outgoing, nodes[h, s], shift[h], attention[h],
            kinds, table, masked, means, edges, buffer,
            d_nodes[h, s], d_attention[h, s], d_shift[h, s],
        )  # fmt: skip
        _by_destination(
            lanes, s, h, slope, mean_loop, incoming, nodes[h, s], kinds, attention[h],
            edges, d_nodes[h, s], d_keys, d_attention[h, s], d_bias,
        )  # fmt: skip
        if kinds is not None:
            _to_kinds(
                lanes, kinds[h, s], attention[h], d_keys, d_values, d_kinds[h, s], d_attention[h, s]
            )


@inlined_fast
def _add(lanes, sums, at, more):
    store(sums, at, load(sums, at, lanes) + more)


@inlined_fast
def _by_node(
    lanes, h, mean_loop, incoming, grad, out, edges, nodes, shift,
    kinds, table, masked, means, d_nodes, d_values, d_shift,
):  # fmt: skip
    """Through the ReLU to residuals and values of kinds, and through the self-loops.

    The softmax takes off each weight's gradient their mean over the node's edges. That is what the
    edges bring, the output less the residual, times what comes back through the ReLU. A residual a
    thousand times as large as the rest costs it three digits, as it does the output.
    """
    pointers, kind_ids = incoming
    count, heads, width = out.shape
    zero, one = out.dtype.type(0), out.dtype.type(1)
    nothing, loops, size = splat(zero, lanes), 1 if mean_loop else 0, edges.shape[1]
    for v in range(count):
        first, last = get(pointers, v), get(pointers, v + 1)
        share = one / out.dtype.type(max(last - first, 1))
        loop = get(edges, (last + v) * size) if mean_loop else zero
        together, inner = zero, zero
        for c in range(0, width, len(lanes)):
            at, own = (v * heads + h) * width + c, 4 * v * width + c
            result = load(out, at, lanes)
            row = through_relu(result, load(grad, at, lanes))
            store(masked, v * width + c, row)
            store(d_nodes, own + RESIDUAL * width, row)
            _add(lanes, d_shift, RESIDUAL * width + c, row)
            left = load(nodes, own + RESIDUAL * width, lanes)
            left = left + load(shift, RESIDUAL * width + c, lanes)
            together += total(row * through_relu(result, result + left * -one))
            mean, e = nothing, first
            while e < last and kinds is not None:
                start, kind, weight = e, get(kind_ids, e), zero
                while e < last and get(kind_ids, e) == kind:
                    weight += get(edges, (e + v * loops) * size)
                    e += 1
                k, times = kind * width + c, out.dtype.type(e - start)
                mean = mean + load(table, k, lanes) * times
                _add(lanes, d_values, k, row * (weight + loop * share * times))
            if mean_loop:
                value = load(nodes, own + VALUE * width, lanes)
                value = value + load(shift, VALUE * width + c, lanes)
                inner += total((value + mean * share) * row)
                store(d_nodes, own + VALUE * width, row * loop)
        put(means, v, together)
        if mean_loop:
            put(edges, (last + v) * size, loop * (inner - together))


@inlined_fast
def _by_source(
    lanes, slope, mean_loop, pointers, outgoing, nodes, shift, y,
    kinds, table, masked, means, edges, buffer,
    d_nodes, d_y, d_shift,
):  # fmt: skip
    """Through the weighted sum to values, through the softmax to logits, and on to keys."""
    out_pointers, destinations, out_kinds, places = outgoing
    width = len(y)
    zero = y.dtype.type(0)
    loops, size = 1 if mean_loop else 0, edges.shape[1]
    nothing, above = splat(zero, lanes), y.dtype.type(1) - slope
    for x in range(len(out_pointers) - 1):
        first, last = get(out_pointers, x), get(out_pointers, x + 1)
        own_loop = (get(pointers, x + 1) + x) * size
        for c in range(0, width, len(lanes)):
            at = (4 * x + VALUE) * width + c
            value = load(nodes, at, lanes) + load(shift, VALUE * width + c, lanes)
            d_value = nothing
            for i in range(first, last):
                fetch_ahead(lanes, masked, destinations, i, width, c)
                v = get(destinations, i)
                row = load(masked, v * width + c, lanes)
                d_value = d_value + row * get(edges, (get(places, i) + v * loops) * size)
                carried = value
                if kinds is not None:
                    carried = value + load(table, get(out_kinds, i) * width + c, lanes)
                inner = total(carried * row)
                if c > 0:
                    inner += get(buffer, i - first)
                put(buffer, i - first, inner)
            if mean_loop:
                d_value = d_value + load(d_nodes, at, lanes)
            store(d_nodes, at, d_value)
            _add(lanes, d_shift, VALUE * width + c, d_value)
        for c in range(0, width, len(lanes)):
            bent, whole = nothing, zero
            if mean_loop:
                whole = get(edges, own_loop)
                bent = add_where(bent, edges, own_loop + 1, c, whole)
            for i in range(first, last):
                v = get(destinations, i)
                e = (get(places, i) + v * loops) * size
                g = get(buffer, i - first)
                if c == 0:
                    g = get(edges, e) * (g - get(means, v))
                    put(buffer, i - first, g)
                    put(edges, e, g)
                bent = add_where(bent, edges, e + 1, c, g)
                whole += g
            bent = bent * above + splat(whole * slope, lanes)
            at = (4 * x + KEY) * width + c
            step = bent * load(y, c, lanes)
            store(d_nodes, at, step)
            _add(lanes, d_shift, KEY * width + c, step)
            key = load(nodes, at, lanes) + load(shift, KEY * width + c, lanes)
            _add(lanes, d_y, c, bent * key)


@inlined_fast
def _by_destination(
    lanes, s, h, slope, mean_loop, incoming, nodes, kinds, y,
    edges, d_nodes, d_keys, d_y, d_bias,
):  # fmt: skip
    """From logits to queries, bias and keys of kinds."""
    pointers, kind_ids = incoming
    width = len(y)
    zero, one = y.dtype.type(0), y.dtype.type(1)
    loops, size = 1 if mean_loop else 0, edges.shape[1]
    nothing, above = splat(zero, lanes), one - slope
    for v in range(len(pointers) - 1):
        first, last, more = get(pointers, v), get(pointers, v + 1), v * loops
        share = one / y.dtype.type(max(last - first, 1))
        if d_bias is not None:
            for e in range(first, last):
                d_bias[s, get(kind_ids, e), h] += get(edges, (e + more) * size)
        for c in range(0, width, len(lanes)):
            bent, loop = nothing, nothing
            if mean_loop:
                g = get(edges, (last + more) * size)
                bent = add_where(nothing, edges, (last + more) * size + 1, c, g * above)
                bent = bent + splat(g * slope, lanes)
                loop = bent * share  # of each edge's kind
            e = first
            while e < last:
                start, kind = e, get(kind_ids, e)
                run, whole = nothing, zero
                while e < last and (kinds is None or get(kind_ids, e) == kind):
                    g = get(edges, (e + more) * size)
                    run = add_where(run, edges, (e + more) * size + 1, c, g)
                    whole += g
                    e += 1
                run = run * above + splat(whole * slope, lanes)
                bent = bent + run
                if kinds is not None:
                    more_of_loop = loop * y.dtype.type(e - start)
                    _add(lanes, d_keys, kind * width + c, run + more_of_loop)
            query = (4 * v + QUERY) * width + c
            store(d_nodes, query, bent * load(y, c, lanes))
            _add(lanes, d_y, c, bent * load(nodes, query, lanes))


@inlined_fast
def _to_kinds(lanes, kinds, y, d_keys, d_values, d_kinds, d_y):
    count, _, width = kinds.shape
    for k in range(count):
        for c in range(0, width, len(lanes)):
            bent = load(d_keys, k * width + c, lanes)
            store(d_kinds, 2 * k * width + c, bent * load(y, c, lanes))
            store(d_kinds, (2 * k + 1) * width + c, load(d_values, k * width + c, lanes))
            _add(lanes, d_y, c, bent * load(kinds, 2 * k * width + c, lanes))
