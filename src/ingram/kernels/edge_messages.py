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

from ingram.kernels import message_loops, parallel
from ingram.kernels.adjacency import Adjacency
from ingram.kernels.vectors import lanes_of

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
    loop = message_loops.forward_with_maxima if maxima else message_loops.forward
    parallel.run(loop, queries * nodes, lanes, *arrays, work=queries * len(sources))
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
    loop = message_loops.backward_with_maxima if maxima else message_loops.backward
    parallel.run(loop, queries, lanes, *arrays, work=queries * len(sources))
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
