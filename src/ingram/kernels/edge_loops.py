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
from ingram.kernels.parallel import compiled_fast
from ingram.kernels.vectors import get, larger, load, put, splat, store, through_relu, total

QUERY, RESIDUAL, KEY, VALUE = range(4)
"""A node's parts; a kind has the last two."""


@compiled_fast
def pack(lanes, table, unit, part, shift, packed):
    """Of (H, S, rows, parts, D), one part of a unit's rows, ``shift`` added: (rows, D)."""
    _, _, rows, parts, width = table.shape
    for i in range(rows):
        at = ((unit * rows + i) * parts + part) * width
        for c in range(0, width, len(lanes)):
            store(packed, i * width + c, load(table, at + c, lanes) + load(shift, c, lanes))


@compiled_fast
def mean_kinds(lanes, edges, table, means):
    """(N, D): the mean of the kinds on a node's edges; zero when it has none."""
    pointers, _, kinds = edges
    width = table.shape[1]
    one = table.dtype.type(1)
    for v in range(len(pointers) - 1):
        first, last = get(pointers, v), get(pointers, v + 1)
        share = one / table.dtype.type(max(last - first, 1))
        for c in range(0, width, len(lanes)):
            mean = splat(table.dtype.type(0), lanes)
            for e in range(first, last):
                mean = mean + load(table, get(kinds, e) * width + c, lanes)
            store(means, v * width + c, mean * share)


@compiled_fast
def forward(
    start, stop, lanes, slope, mean_loop,
    nodes, kinds, attention, bias, shift, pointers, sources, kind_ids, out, alpha,
):  # fmt: skip
    """Units start : stop of H * S, see :func:`ingram.kernels.edge_attention.edge_attention`."""
    _, draws, count, _, width = nodes.shape
    edges = (pointers, sources, kind_ids)
    ends = np.empty((count, width), nodes.dtype)
    means = np.empty((count if mean_loop else 0, width), nodes.dtype)
    table, unshifted = np.empty((0, width), nodes.dtype), np.zeros(width, nodes.dtype)
    if kinds is not None:
        table = np.empty((kinds.shape[2], width), nodes.dtype)
    for i in range(start, stop):
        h, s = i // draws, i % draws
        for part in (KEY, VALUE):
            pack(lanes, nodes, i, part, shift[h, part], ends)
            if kinds is not None:
                pack(lanes, kinds, i, part - KEY, unshifted, table)
                if mean_loop:
                    mean_kinds(lanes, edges, table, means)
            if part == KEY:
                _logits(
                    lanes, h, slope, mean_loop, edges, nodes[h, s], ends, kinds, table, means,
                    attention[h], bias, alpha[h, s],
                )  # fmt: skip
                exponentials(alpha[h, s])
            else:
                _values(
                    lanes, h, mean_loop, edges, nodes[h, s], ends, kinds, table, means,
                    shift[h, RESIDUAL], out[s], alpha[h, s],
                )  # fmt: skip


@compiled_fast
def _logits(
    lanes, h, slope, mean_loop, edges, nodes, ends, kinds, table, means, y, bias, alpha
):  # fmt: skip
    """Each edge's y . LeakyReLU(query + key + kind) + bias, less the largest of its node."""
    pointers, sources, kind_ids = edges
    width = len(y)
    loops = 1 if mean_loop else 0
    bend = splat(slope, lanes)
    for v in range(len(pointers) - 1):
        first, last, shift = get(pointers, v), get(pointers, v + 1), v * loops
        top = y.dtype.type(-np.inf)
        for c in range(0, width, len(lanes)):
            query = load(nodes, (4 * v + QUERY) * width + c, lanes)
            weights = load(y, c, lanes)
            top = y.dtype.type(-np.inf)
            for e in range(first, last):
                t = query + load(ends, get(sources, e) * width + c, lanes)
                if kinds is not None:
                    t = t + load(table, get(kind_ids, e) * width + c, lanes)
                logit = total(larger(t, t * bend) * weights)
                if c > 0:
                    logit += get(alpha, e + shift)
                elif bias is not None:
                    logit += bias[get(kind_ids, e), h]
                put(alpha, e + shift, logit)
                top = max(top, logit)
            if mean_loop:
                at = v * width + c
                t = query + load(ends, at, lanes) + load(means, at, lanes)
                logit = total(larger(t, t * bend) * weights)
                if c > 0:
                    logit += get(alpha, last + shift)
                put(alpha, last + shift, logit)
                top = max(top, logit)
        for e in range(first + shift, last + shift + loops):
            put(alpha, e, get(alpha, e) - top)


@compiled_fast
def _values(
    lanes, h, mean_loop, edges, nodes, ends, kinds, table, means, shifts, out, alpha
):  # fmt: skip
    """Makes ``alpha`` sum to one over a node's edges, and with it the node's output."""
    pointers, sources, kind_ids = edges
    _, heads, width = out.shape
    loops = 1 if mean_loop else 0
    for v in range(len(pointers) - 1):
        first, last, shift = get(pointers, v), get(pointers, v + 1), v * loops
        whole = out.dtype.type(0)
        for e in range(first + shift, last + shift + loops):
            whole += get(alpha, e)
        scale = out.dtype.type(1) / whole
        for e in range(first + shift, last + shift + loops):
            put(alpha, e, get(alpha, e) * scale)
        for c in range(0, width, len(lanes)):
            result = load(nodes, (4 * v + RESIDUAL) * width + c, lanes) + load(shifts, c, lanes)
            for e in range(first, last):
                value = load(ends, get(sources, e) * width + c, lanes)
                if kinds is not None:
                    value = value + load(table, get(kind_ids, e) * width + c, lanes)
                result = result + value * get(alpha, e + shift)
            if mean_loop:
                at = v * width + c
                value = load(ends, at, lanes) + load(means, at, lanes)
                result = result + value * get(alpha, last + shift)
            store(out, (v * heads + h) * width + c, through_relu(result, result))
