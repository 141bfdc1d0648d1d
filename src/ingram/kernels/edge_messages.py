"""Messages summed along edges: the step of the query-conditioned model that touches every edge.

For query q, node v and the edges e into v, from node x of kind k::

    out[q, v] = scale[v] * sum_e states[q, x_e] * weights[row[q], k_e]

Shapes: Q queries, N nodes, D channels; ``states`` (Q, N, D); ``weights`` (R, K, D), one table for
each distinct row; ``rows`` (Q,) long, which table a query reads; ``scale`` (N,).

A query's states fit in a core's cache where those of all queries do not, so a thread works query
by query. The gradients of sources and weights are scattered in the same pass that gathers, a whole
query on one thread, so no two threads write to the same place.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

from ingram.kernels import parallel
from ingram.kernels.adjacency import Adjacency

compiled = numba.njit(nogil=True, fastmath=parallel.FASTMATH, error_model="numpy", cache=True)


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
    return _fused(
        states.contiguous(),
        weights.contiguous(),
        rows,
        scale,
        edges.pointers,
        edges.sources,
        edges.kinds,
    )


def plain_edge_messages(
    states: Tensor, weights: Tensor, rows: Tensor, scale: Tensor, edges: Adjacency
) -> Tensor:
    """The same in plain torch, on any device, with a (Q, edges, D) array or two."""
    every = torch.arange(edges.num_nodes, device=states.device)
    node = every.repeat_interleave(edges.pointers.diff(), output_size=edges.num_edges)
    messages = states[:, edges.sources.long()] * weights[rows][:, edges.kinds.long()]
    return torch.zeros_like(states).index_add(1, node, messages) * scale.unsqueeze(-1)


@torch.library.custom_op("ingram::edge_messages", mutates_args=(), device_types="cpu")
def _fused(
    states: Tensor,
    weights: Tensor,
    rows: Tensor,
    scale: Tensor,
    pointers: Tensor,
    sources: Tensor,
    kinds: Tensor,
) -> Tensor:
    out = torch.empty_like(states)
    arrays = [*_arrays(states, weights, rows, scale), *_indices(pointers, sources, kinds)]
    arrays += _arrays(out)
    parallel.run(
        lambda start, stop: _forward(start, stop, *arrays),
        len(states) * states.shape[1],
        work=len(states) * len(sources),
    )
    return out


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
    arrays = _arrays(grad.contiguous(), states, weights, rows, scale)
    arrays += [*_indices(pointers, sources, kinds), *_arrays(d_states, d_each)]
    parallel.run(
        lambda start, stop: _backward(start, stop, *arrays),
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


def _arrays(*tensors: Tensor) -> list[Any]:
    return [t.detach().numpy() for t in tensors]


def _indices(*tensors: Tensor) -> list[Any]:
    """As unsigned numbers: the loops then need not ask whether an index counts from the end."""
    return [array.view(f"u{array.itemsize}") for array in _arrays(*tensors)]


@compiled
def _forward(start, stop, states, weights, rows, scale, pointers, sources, kinds, out):
    """Rows start : stop of Q * N: even one query is shared among threads."""
    count, width = states.shape[1:]
    for row in range(start, stop):
        q, v = row // count, row % count
        state, weight, into = states[q], weights[rows[q]], out[q, v]
        for c in range(width):
            into[c] = 0
        for e in range(pointers[v], pointers[v + 1]):
            source, kind = state[sources[e]], weight[kinds[e]]
            for c in range(width):
                into[c] += source[c] * kind[c]
        for c in range(width):
            into[c] *= scale[v]


@compiled
def _backward(
    start, stop, grad, states, weights, rows, scale, pointers, sources, kinds, d_states, d_each
):
    count, width = states.shape[1:]
    scaled = np.empty(width, grad.dtype)
    for q in range(start, stop):
        state, weight = states[q], weights[rows[q]]
        for v in range(count):
            for c in range(width):
                scaled[c] = scale[v] * grad[q, v, c]
            for e in range(pointers[v], pointers[v + 1]):
                x, k = sources[e], kinds[e]
                d_state, kind = d_states[q, x], weight[k]
                for c in range(width):
                    d_state[c] += scaled[c] * kind[c]
                d_weight, source = d_each[q, k], state[x]
                for c in range(width):
                    d_weight[c] += scaled[c] * source[c]
