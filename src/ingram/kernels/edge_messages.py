"""Messages gathered along edges: the step of the query-conditioned model that touches every edge.

For query q, node v and the edges e into v, from node x of kind k::

    message[e] = states[q, x_e] * weights[row[q], k_e]
    sum[q, v] = scale[v] * sum_e message[e]
    largest[q, v] = max_e message[e], channel by channel; 0 without an edge

Shapes: Q queries, N nodes, D channels; ``states`` (Q, N, D); ``weights`` (R, K, D), one table for
each distinct row; ``rows`` (Q,) long, which table a query reads; ``scale`` (N,). The gradient of a
maximum goes to the first of the edges that reach it.

A query's states fit in a core's cache where those of all queries do not, so a thread works query
by query. Edges of one kind that follow each other read its weights once. The gradients of sources
and weights are scattered in the same pass that gathers, a whole query on one thread, so no two
threads write to the same place.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.adjacency import Adjacency, end_of_run
from ingram.kernels.parallel import compiled_fast
from ingram.kernels.vectors import (
    fused,
    get,
    lanes_of,
    larger,
    load,
    splat,
    store,
    where_other,
    where_same,
)

MAXIMA_LANES = 16
"""More would not leave registers for a sum and a maximum side by side."""


def edge_messages(
    states: Tensor,
    weights: Tensor,
    rows: Tensor,
    scale: Tensor,
    edges: Adjacency,
    *,
    maxima: bool = False,
    backend: str = "auto",
) -> Tensor:
    """(Q, N, D): each node's sum; with ``maxima`` (Q, N, 2D): its largest message beside it.

    ``backend``: ``fused`` (CPU), ``plain`` torch, ``auto``.
    """
    if backend == "auto":
        backend = "fused" if states.device.type == "cpu" else "plain"
    if backend == "plain":
        return plain_edge_messages(states, weights, rows, scale, edges, maxima=maxima)
    graph = (edges.pointers, edges.sources, edges.kinds)
    form = _gathered if parallel.bare() else _fused
    keep = maxima and torch.is_grad_enabled()
    inputs = (states.contiguous(), weights.contiguous(), rows, scale, *graph)
    return form(*inputs, maxima, keep)[0]


def plain_edge_messages(
    states: Tensor,
    weights: Tensor,
    rows: Tensor,
    scale: Tensor,
    edges: Adjacency,
    *,
    maxima: bool = False,
) -> Tensor:
    """The same in plain torch, on any device, with a (Q, edges, D) array or a few."""
    every = torch.arange(edges.num_nodes, device=states.device)
    node = every.repeat_interleave(edges.pointers.diff(), output_size=edges.num_edges)
    messages = states[:, edges.sources.long()] * weights[rows][:, edges.kinds.long()]
    sums = torch.zeros_like(states).index_add(1, node, messages) * scale.unsqueeze(-1)
    if not maxima:
        return sums
    return torch.cat([sums, _largest(messages, node, edges.num_nodes)], dim=-1)


def _largest(messages: Tensor, node: Tensor, num_nodes: int) -> Tensor:
    """(Q, N, D): of the messages (Q, E, D) into each node; of equal ones the first is taken."""
    queries, count, width = messages.shape
    place = node.view(1, -1, 1).expand_as(messages)
    shape = (queries, num_nodes, width)
    best = messages.new_zeros(shape).scatter_reduce(
        1, place, messages.detach(), "amax", include_self=False
    )
    edge = torch.arange(count, device=node.device).view(1, -1, 1)
    reaches = torch.where(messages.detach() == best.gather(1, place), edge, count)
    first = torch.full(shape, count, device=node.device)
    first = first.scatter_reduce(1, place, reaches, "amin")
    padded = torch.cat([messages, messages.new_zeros(queries, 1, width)], dim=1)
    return padded.gather(1, first)


def _gathered(
    states: Tensor,
    weights: Tensor,
    rows: Tensor,
    scale: Tensor,
    pointers: Tensor,
    sources: Tensor,
    kinds: Tensor,
    maxima: bool,
    keep: bool,
) -> tuple[Tensor, Tensor]:
    """Sums (and maxima beside them), and if they are to be kept the maxima (Q, N, D) alone."""
    queries, nodes, width = states.shape
    out = states.new_empty(queries, nodes, (1 + maxima) * width)
    kept = states.new_empty(queries if keep else 0, nodes, width)
    lanes = lanes_of(width, MAXIMA_LANES) if maxima else lanes_of(width)
    arrays = parallel.arrays(states, weights, rows, scale, pointers, sources, kinds, out, kept)
    loop = _forward_with_maxima if maxima else _forward
    parallel.run(
        lambda start, stop: loop(start, stop, lanes, *arrays),
        queries * nodes,
        work=queries * len(sources),
    )
    return out, kept


_fused = torch.library.custom_op(
    "ingram::edge_messages", _gathered, mutates_args=(), device_types="cpu"
)


@_fused.register_fake
def _(states, weights, rows, scale, pointers, sources, kinds, maxima, keep):
    queries, nodes, width = states.shape
    kept = states.new_empty(queries if keep else 0, nodes, width)
    return states.new_empty(queries, nodes, (1 + maxima) * width), kept


@torch.library.custom_op("ingram::edge_messages_backward", mutates_args=(), device_types="cpu")
def _fused_backward(
    grad: Tensor,
    kept: Tensor,
    states: Tensor,
    weights: Tensor,
    rows: Tensor,
    scale: Tensor,
    pointers: Tensor,
    sources: Tensor,
    kinds: Tensor,
) -> tuple[Tensor, Tensor]:
    d_states = torch.zeros_like(states)
    d_each = weights.new_zeros(len(states), *weights.shape[1:])
    queries, _, width = states.shape
    maxima = grad.shape != states.shape
    lanes = lanes_of(width, MAXIMA_LANES) if maxima else lanes_of(width)
    arrays = parallel.arrays(
        grad, kept, states, weights, rows, scale, pointers, sources, kinds, d_states, d_each
    )
    loop = _backward_with_maxima if maxima else _backward
    parallel.run(
        lambda start, stop: loop(start, stop, lanes, *arrays),
        queries,
        work=queries * len(sources),
    )
    return d_states, torch.zeros_like(weights).index_add_(0, rows, d_each)


@_fused_backward.register_fake
def _(grad, kept, states, weights, rows, scale, pointers, sources, kinds):
    return torch.empty_like(states), torch.empty_like(weights)


def _remember(ctx, inputs, output):
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1], *inputs[:7])


def _differentiate(ctx, grad, _):
    return *_fused_backward(grad.contiguous(), *ctx.saved_tensors), *(None,) * 7


_fused.register_autograd(_differentiate, setup_context=_remember)


@compiled_fast
def _forward(start, stop, lanes, states, weights, rows, scale, pointers, sources, kinds, out, kept):
    """Rows start : stop of Q * N: even one query is shared among threads."""
    count, width = states.shape[1:]
    for row in range(start, stop):
        q, v = row // count, row % count
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        first, last = get(pointers, v), get(pointers, v + 1)
        for c in range(0, width, len(lanes)):
            total, run = splat(scale.dtype.type(0), lanes), first
            while run < last:
                end = end_of_run(kinds, run, last)
                arrived = splat(scale.dtype.type(0), lanes)
                for e in range(run, end):
                    arrived = arrived + load(states, state + get(sources, e) * width + c, lanes)
                kind = load(weights, weight + get(kinds, run) * width + c, lanes)
                total = fused(arrived, kind, total)
                run = end
            store(out, row * width + c, total * get(scale, v))


@compiled_fast
def _forward_with_maxima(
    start, stop, lanes, states, weights, rows, scale, pointers, sources, kinds, out, kept
):
    count, width = states.shape[1:]
    for row in range(start, stop):
        q, v = row // count, row % count
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        first, last = get(pointers, v), get(pointers, v + 1)
        for c in range(0, width, len(lanes)):
            total, run = splat(scale.dtype.type(0), lanes), first
            best = total
            if first < last:
                best = load(states, state + get(sources, first) * width + c, lanes)
                best = best * load(weights, weight + get(kinds, first) * width + c, lanes)
            while run < last:
                end = end_of_run(kinds, run, last)
                kind = load(weights, weight + get(kinds, run) * width + c, lanes)
                for e in range(run, end):
                    message = load(states, state + get(sources, e) * width + c, lanes) * kind
                    total = total + message
                    best = larger(message, best)
                run = end
            store(out, 2 * row * width + c, total * get(scale, v))
            store(out, (2 * row + 1) * width + c, best)
            if len(kept) > 0:
                store(kept, row * width + c, best)


@compiled_fast
def _backward(
    start, stop, lanes, grad, kept, states, weights, rows, scale, pointers, sources, kinds,
    d_states, d_each,
):  # fmt: skip
    count, width = states.shape[1:]
    for q in range(start, stop):
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        d_weight = q * weights.shape[1] * width
        for v in range(count):
            first, last = get(pointers, v), get(pointers, v + 1)
            for c in range(0, width, len(lanes)):
                scaled = load(grad, state + v * width + c, lanes) * get(scale, v)
                run = first
                while run < last:
                    end = end_of_run(kinds, run, last)
                    k = get(kinds, run) * width + c
                    back = scaled * load(weights, weight + k, lanes)
                    arrived = splat(scale.dtype.type(0), lanes)
                    for e in range(run, end):
                        x = state + get(sources, e) * width + c
                        arrived = arrived + load(states, x, lanes)
                        store(d_states, x, load(d_states, x, lanes) + back)
                    d_kind = load(d_each, d_weight + k, lanes)
                    store(d_each, d_weight + k, fused(scaled, arrived, d_kind))
                    run = end


@compiled_fast
def _backward_with_maxima(
    start, stop, lanes, grad, kept, states, weights, rows, scale, pointers, sources, kinds,
    d_states, d_each,
):  # fmt: skip
    count, width = states.shape[1:]
    for q in range(start, stop):
        state, weight = q * count * width, rows[q] * weights.shape[1] * width
        d_weight = q * weights.shape[1] * width
        for v in range(count):
            first, last = get(pointers, v), get(pointers, v + 1)
            at = state + v * width
            for c in range(0, width, len(lanes)):
                scaled = load(grad, 2 * at + c, lanes) * get(scale, v)
                of_best = load(grad, 2 * at + width + c, lanes)
                best = load(kept, at + c, lanes)
                run = first
                while run < last:
                    end = end_of_run(kinds, run, last)
                    k = get(kinds, run) * width + c
                    kind = load(weights, weight + k, lanes)
                    d_kind = load(d_each, d_weight + k, lanes)
                    for e in range(run, end):
                        x = state + get(sources, e) * width + c
                        source = load(states, x, lanes)
                        message = source * kind
                        back = scaled + where_same(message, best, of_best)
                        of_best = where_other(message, best, of_best)  # the first has it all
                        store(d_states, x, fused(back, kind, load(d_states, x, lanes)))
                        d_kind = fused(back, source, d_kind)
                    store(d_each, d_weight + k, d_kind)
                    run = end
