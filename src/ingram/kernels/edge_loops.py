"""The compiled loops behind :mod:`ingram.kernels.edge_attention`.

Heads never mix, so a thread takes whole heads and no two threads write to the same place. A head
is walked twice, once by its keys and once by its values, each packed side by side before: what a
walk reads at random then fits in a core's cache on a middling graph.

The weight of edge e into node v lies at e, or with self-loops at e + v, the loop's after them.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ingram.kernels.exponential import exponentials
from ingram.kernels.parallel import compiled_fast, inlined_fast
from ingram.kernels.vectors import (
    get,
    larger,
    load,
    prefetch,
    put,
    splat,
    store,
    through_relu,
    total,
)

QUERY, RESIDUAL, KEY, VALUE = range(4)
"""A node's parts; a kind has the last two."""
AHEAD = 6
"""Edges between fetching a row and reading it."""
LINE = 16
"""Numbers in a line of the cache."""


@inlined_fast
def pack(lanes, table, unit, part, shift, packed):
    """Of (H, S, rows, parts, D), one part of a unit's rows, ``shift`` added: (rows, D)."""
    _, _, rows, parts, width = table.shape
    for i in range(rows):
        at = ((unit * rows + i) * parts + part) * width
        for c in range(0, width, len(lanes)):
            store(packed, i * width + c, load(table, at + c, lanes) + load(shift, c, lanes))


@inlined_fast
def fetch_ahead(lanes, table, sources, e, width, c):
    """The row that a later edge will read."""
    row = get(sources, min(e + AHEAD, len(sources) - 1)) * width + c
    for line in range(0, len(lanes), LINE):
        prefetch(table, row + line)


@inlined_fast
def end_of_run(kinds, e, last):
    """Where the edges of the kind of edge e end, no later than at ``last``."""
    stop = e + 1
    while stop < last and get(kinds, stop) == get(kinds, e):
        stop += 1
    return stop


@compiled_fast
def forward(
    start, stop, lanes, slope, mean_loop,
    nodes, kinds, attention, bias, shift, pointers, sources, kind_ids, out, alpha,
):  # fmt: skip
    """Units start : stop of H * S, see :func:`ingram.kernels.edge_attention.edge_attention`."""
    _, draws, count, _, width = nodes.shape
    edges = (pointers, sources, kind_ids)
    ends = np.empty((count, width), nodes.dtype)
    table, unshifted = np.empty((0, width), nodes.dtype), np.zeros(width, nodes.dtype)
    if kinds is not None:
        table = np.empty((kinds.shape[2], width), nodes.dtype)
    for i in range(start, stop):
        h, s = i // draws, i % draws
        for part in (KEY, VALUE):
            pack(lanes, nodes, i, part, shift[h, part], ends)
            if kinds is not None:
                pack(lanes, kinds, i, part - KEY, unshifted, table)
            if part == KEY:
                _logits(
                    lanes, h, slope, mean_loop, edges, nodes[h, s], ends, kinds, table,
                    attention[h], bias, alpha[h, s],
                )  # fmt: skip
                exponentials(alpha[h, s])
            else:
                _values(
                    lanes, h, mean_loop, edges, nodes[h, s], ends, kinds, table,
                    shift[h, RESIDUAL], out[s], alpha[h, s],
                )  # fmt: skip


@inlined_fast
def _logits(
    lanes, h, slope, mean_loop, edges, nodes, ends, kinds, table, y, bias, alpha
):  # fmt: skip
    """Each edge's y . LeakyReLU(query + key + kind) + bias, less the largest of its node."""
    pointers, sources, kind_ids = edges
    width = len(y)
    loops = 1 if mean_loop else 0
    bend, nothing = splat(slope, lanes), splat(y.dtype.type(0), lanes)
    for v in range(len(pointers) - 1):
        first, last, shift = get(pointers, v), get(pointers, v + 1), v * loops
        share = y.dtype.type(1) / y.dtype.type(max(last - first, 1))
        top = y.dtype.type(-np.inf)
        for c in range(0, width, len(lanes)):
            query = load(nodes, (4 * v + QUERY) * width + c, lanes)
            weights = load(y, c, lanes)
            top, mean = y.dtype.type(-np.inf), nothing
            start = first
            while start < last:
                stop, base = last, query
                if kinds is not None:
                    stop = end_of_run(kind_ids, start, last)
                    kind = load(table, get(kind_ids, start) * width + c, lanes)
                    base = query + kind
                    if mean_loop:
                        mean = mean + kind * y.dtype.type(stop - start)
                for e in range(start, stop):
                    fetch_ahead(lanes, ends, sources, e, width, c)
                    t = base + load(ends, get(sources, e) * width + c, lanes)
                    logit = total(larger(t, t * bend) * weights)
                    if c > 0:
                        logit += get(alpha, e + shift)
                    elif bias is not None:
                        logit += bias[get(kind_ids, e), h]
                    put(alpha, e + shift, logit)
                    top = max(top, logit)
                start = stop
            if mean_loop:
                t = query + load(ends, v * width + c, lanes) + mean * share
                logit = total(larger(t, t * bend) * weights)
                if c > 0:
                    logit += get(alpha, last + shift)
                put(alpha, last + shift, logit)
                top = max(top, logit)
        for e in range(first + shift, last + shift + loops):
            put(alpha, e, get(alpha, e) - top)


@inlined_fast
def _values(lanes, h, mean_loop, edges, nodes, ends, kinds, table, shifts, out, alpha):
    """Makes ``alpha`` sum to one over a node's edges, and with it the node's output."""
    pointers, sources, kind_ids = edges
    _, heads, width = out.shape
    loops = 1 if mean_loop else 0
    nothing = splat(out.dtype.type(0), lanes)
    for v in range(len(pointers) - 1):
        first, last, shift = get(pointers, v), get(pointers, v + 1), v * loops
        share = out.dtype.type(1) / out.dtype.type(max(last - first, 1))
        whole = out.dtype.type(0)
        for e in range(first + shift, last + shift + loops):
            whole += get(alpha, e)
        scale = out.dtype.type(1) / whole
        for e in range(first + shift, last + shift + loops):
            put(alpha, e, get(alpha, e) * scale)
        for c in range(0, width, len(lanes)):
            result = load(nodes, (4 * v + RESIDUAL) * width + c, lanes) + load(shifts, c, lanes)
            mean = nothing
            start = first
            while start < last:
                stop = last if kinds is None else end_of_run(kind_ids, start, last)
                weight = out.dtype.type(0)
                for e in range(start, stop):
                    fetch_ahead(lanes, ends, sources, e, width, c)
                    value = load(ends, get(sources, e) * width + c, lanes)
                    weight += get(alpha, e + shift)
                    result = result + value * get(alpha, e + shift)
                if kinds is not None:
                    kind = load(table, get(kind_ids, start) * width + c, lanes)
                    result = result + kind * weight
                    if mean_loop:
                        mean = mean + kind * out.dtype.type(stop - start)
                start = stop
            if mean_loop:
                value = load(ends, v * width + c, lanes) + mean * share
                result = result + value * get(alpha, last + shift)
            store(out, (v * heads + h) * width + c, through_relu(result, result))
