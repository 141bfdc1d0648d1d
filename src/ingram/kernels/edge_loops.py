"""The compiled loops behind :mod:`ingram.kernels.edge_attention`.

Heads never mix, so a thread takes whole heads and no two threads write to the same place. A head
is walked twice, once by its keys and once by its values, each packed side by side before: what a
walk reads at random then fits in a core's cache on a middling graph.

The weight of edge e into node v lies at e, or with self-loops at e + v, the loop's after them.
For a gradient it is kept with the edge's signs: for each channel a bit, set where query + key +
kind is above zero. They are all that the gradient of the LeakyReLU wants to know.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from ingram.kernels.exponential import exponentials
from ingram.kernels.parallel import compiled_fast, inlined_fast
from ingram.kernels.signs import put_signs
from ingram.kernels.teams import fork
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
def fetch_ahead(lanes, table, ends, e, width, c):
    """The row that a later edge will read, that of the node at its end."""
    row = get(ends, min(e + AHEAD, len(ends) - 1)) * width + c
    for line in range(0, len(lanes), LINE):
        prefetch(table, row + line)


@compiled_fast
def forward(where, *arguments):
    return fork(where, _forward, arguments)


@inlined_fast
def _forward(
    start, stop, lanes, slope, mean_loop,
    nodes, kinds, attention, bias, shift, pointers, sources, kind_ids, out, kept,
):  # fmt: skip
    """Units start : stop of H * S, see :func:`ingram.kernels.edge_attention.edge_attention`.

    kept: (H, S, edges, 1 + D / 32), an edge's weight and signs; empty if nobody wants them.
    """
    _, draws, count, _, width = nodes.shape
    edges = (pointers, sources, kind_ids)
    ends = np.empty((count, width), nodes.dtype)
    weights = np.empty(len(sources) + (count if mean_loop else 0), nodes.dtype)
    table, unshifted = np.empty((0, width), nodes.dtype), np.zeros(width, nodes.dtype)
    if kinds is not None:
        table = np.empty((kinds.shape[2], width), nodes.dtype)
    size = kept.shape[3]
    if kept.size == 0:  # all goes to one place, which no other thread has
        kept, size = np.empty((1, 1, 1, size), nodes.dtype), 0
    for i in range(start, stop):
        h, s = i // draws, i % draws
        place = i * len(weights) * size
        for part in (KEY, VALUE):
            pack(lanes, nodes, i, part, shift[h, part], ends)
            if kinds is not None:
                pack(lanes, kinds, i, part - KEY, unshifted, table)
            if part == KEY:
                _logits(
                    lanes, h, slope, mean_loop, edges, nodes[h, s], ends, kinds, table,
                    attention[h], bias, weights, kept, place, size,
                )  # fmt: skip
                exponentials(weights)
            else:
                _values(
                    lanes, h, mean_loop, edges, nodes[h, s], ends, kinds, table,
                    shift[h, RESIDUAL], out[s], weights, kept, place, size,
                )  # fmt: skip


@inlined_fast
def _logits(
    lanes, h, slope, mean_loop, edges, nodes, ends, kinds, table, y, bias, alpha, kept, place, size
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
            for e in range(first, last):
                fetch_ahead(lanes, ends, sources, e, width, c)
                t = query + load(ends, get(sources, e) * width + c, lanes)
                if kinds is not None:
                    kind = load(table, get(kind_ids, e) * width + c, lanes)
                    t = t + kind
                    if mean_loop:
                        mean = mean + kind
                put_signs(kept, place + (e + shift) * size + 1, c, t)
                logit = total(larger(t, t * bend) * weights)
                if c > 0:
                    logit += get(alpha, e + shift)
                elif bias is not None:
                    logit += bias[get(kind_ids, e), h]
                put(alpha, e + shift, logit)
                top = max(top, logit)
            if mean_loop:
                t = query + load(ends, v * width + c, lanes) + mean * share
                put_signs(kept, place + (last + shift) * size + 1, c, t)
                logit = total(larger(t, t * bend) * weights)
                if c > 0:
                    logit += get(alpha, last + shift)
                put(alpha, last + shift, logit)
                top = max(top, logit)
        for e in range(first + shift, last + shift + loops):
            put(alpha, e, get(alpha, e) - top)


@inlined_fast
def _values(
    lanes, h, mean_loop, edges, nodes, ends, kinds, table, shifts, out, alpha, kept, place, size
):  # fmt: skip
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
            put(kept, place + e * size, get(alpha, e))
        for c in range(0, width, len(lanes)):
            result, mean = nothing, nothing
            for e in range(first, last):
                fetch_ahead(lanes, ends, sources, e, width, c)
                value = load(ends, get(sources, e) * width + c, lanes)
                if kinds is not None:
                    kind = load(table, get(kind_ids, e) * width + c, lanes)
                    value = value + kind
                    if mean_loop:
                        mean = mean + kind
                result = result + value * get(alpha, e + shift)
            if mean_loop:
                value = load(ends, v * width + c, lanes) + mean * share
                result = result + value * get(alpha, last + shift)
            residual = load(nodes, (4 * v + RESIDUAL) * width + c, lanes)
            result = result + (residual + load(shifts, c, lanes))
            store(out, (v * heads + h) * width + c, through_relu(result, result))
