"""Messages summed along edges: the step of the query-conditioned model that touches every edge.

For query q, node v and the edges e into v, from node x of kind k::

    out[q, v] = scale[v] * sum_e states[q, x_e] * weights[row[q], k_e]

Shapes: Q queries, N nodes, D channels; ``states`` (Q, N, D); ``weights`` (R, K, D), one table for
each distinct row; ``rows`` (Q,) long, which table a query reads; ``scale`` (N,).

A query's states fit in a core's cache where those of all queries do not, so a thread works query
by query. Edges of one kind that follow each other read its weights once. The gradients of sources
and weights are scattered in the same pass that gathers, a whole query on one thread, so no two
threads write to the same place.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_loops import end_of_run
from ingram.kernels.parallel import compiled_fast
from ingram.kernels.vectors import fused, get, lanes_of, load, splat, store


def edge_messages(
    states: Tensor,
    weights: Tensor,
    rows: Tensor,
    scale: Tensor,
    edges: Adjacency,
    *,
    backend: str = "auto",
) -> Tensor:
    """(Q, N, D): each node's sum. ``backend``: ``fused`` (CPU), ``plain`` torch, ``auto``."""
    if backend == "auto":
        backend = "fused" if states.device.type == "cpu" else "plain"
    if backend == "plain":
        return plain_edge_messages(states, weights, rows, scale, edges)
    graph = (edges.pointers, edges.sources, edges.kinds)
    form = _sums if parallel.bare() else _fused
    return form(states.contiguous(), weights.contiguous(), rows, scale, *graph)


def plain_edge_messages(
    states: Tensor, weights: Tensor, rows: Tensor, scale: Tensor, edges: Adjacency
) -> Tensor:
    """The same in plain torch, on any device, with a (Q, edges, D) array or two."""
    every = torch.arange(edges.num_nodes, device=states.device)
    node = every.repeat_interleave(edges.pointers.diff(), output_size=edges.num_edges)
    messages = states[:, edges.sources.long()] * weights[rows][:, edges.kinds.long()]
    return torch.zeros_like(states).index_add(1, node, messages) * scale.unsqueeze(-1)


def _sums(
    states: Tensor,
    weights: Tensor,
    rows: Tensor,
    scale: Tensor,
    pointers: Tensor,
    sources: Tensor,
    kinds: Tensor,
) -> Tensor:
    out = torch.empty_like(states)
    lanes = lanes_of(states.shape[2])
    arrays = parallel.arrays(states, weights, rows, scale, pointers, sources, kinds, out)
    parallel.run(
        lambda start, stop: _forward(start, stop, lanes, *arrays),
        len(states) * states.shape[1],
        work=len(states) * len(sources),
    )
    return out


_fused = torch.library.custom_op(
    "ingram::edge_messages", _sums, mutates_args=(), device_types="cpu"
)


@_fused.register_fake
def _(states, weights, rows, scale, pointers, sources, kinds):
    return torch.empty_like(states)


@torch.library.custom_op("ingram::edge_messages_backward", mutates_args=(), device_types="cpu")
def _fused_backward(
    grad: Tensor,
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
    lanes = lanes_of(states.shape[2])
    arrays = parallel.arrays(
        grad, states, weights, rows, scale, pointers, sources, kinds, d_states, d_each
    )
    parallel.run(
        lambda start, stop: _backward(start, stop, lanes, *arrays),
        len(states),
        work=len(states) * len(sources),
    )
    return d_states, torch.zeros_like(weights).index_add_(0, rows, d_each)


@_fused_backward.register_fake
def _(grad, states, weights, rows, scale, pointers, sources, kinds):
    return torch.empty_like(states), torch.empty_like(weights)


def _remember(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _differentiate(ctx, grad):
    return *_fused_backward(grad, *ctx.saved_tensors), *(None,) * 5


_fused.register_autograd(_differentiate, setup_context=_remember)


@compiled_fast
def _forward(start, stop, lanes, states, weights, rows, scale, pointers, sources, kinds, out):
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
def _backward(
    start, stop, lanes, grad, states, weights, rows, scale, pointers, sources, kinds,
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
