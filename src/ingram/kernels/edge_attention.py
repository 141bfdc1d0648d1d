"""Attention over a node's incoming edges, fused: Eq. (1), (2) and (4) after their projections.

For node v, head h and incoming edge e from node x of kind k::

    logit_e = y_h . LeakyReLU(query_v + key_x + key_k) + bias_k
    alpha   = softmax of the logits over the edges into v (and its self-loop)
    out_v   = ReLU(residual_v + sum_e alpha_e (value_x + value_k))

With ``mean_loop`` a node has a self-loop whose kind is the mean of the kinds on its incoming edges
(zero when it has none), as in Eq. (4). Because P [h_v | h_x | z_k] = P1 h_v + P2 h_x + P3 z_k, the
projections come in per node and per kind; nothing of size (edges x width) is ever made.

Shapes: S draws, N nodes, K kinds, H heads of width D. ``nodes`` (H, S, N, 4, D) holds query,
residual, key and value, ``kinds`` (H, S, K, 2, D) or None holds key and value; ``attention`` y is
(H, D), ``bias`` (K, H) or None. Heads come first because the loops go head by head.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from ingram.kernels import edge_gradients, edge_loops, parallel
from ingram.kernels.adjacency import Adjacency
from ingram.kernels.signs import WORD
from ingram.kernels.vectors import lanes_of

SLOPE = 0.2
"""Of the LeakyReLU inside the attention."""


def edge_attention(
    nodes: Tensor,
    kinds: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    edges: Adjacency,
    *,
    mean_loop: bool = False,
    backend: str = "auto",
) -> Tensor:
    """(S, N, H, D): the layer's output. ``backend``: ``fused`` (CPU), ``plain`` torch, ``auto``."""
    if mean_loop and kinds is None:
        raise ValueError("a mean self-loop wants kinds to take the mean of, got None")
    if backend == "auto":
        backend = "fused" if nodes.device.type == "cpu" else "plain"
    if backend == "plain":
        return plain_edge_attention(nodes, kinds, attention, bias, edges, mean_loop=mean_loop)
    graph = (edges.pointers, edges.sources, edges.kinds, mean_loop)
    shift = nodes.new_zeros(len(nodes), *nodes.shape[3:])
    form = attend if parallel.bare() else _fused
    out, _ = form(nodes, kinds, attention, bias, shift, *graph, torch.is_grad_enabled())
    return out


def plain_edge_attention(
    nodes: Tensor,
    kinds: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    edges: Adjacency,
    *,
    mean_loop: bool = False,
) -> Tensor:
    """The same in plain torch, on any device, with an (edges x width) array or two."""
    count = edges.num_nodes
    degrees = edges.pointers.diff()
    every = torch.arange(count, device=nodes.device)
    node = every.repeat_interleave(degrees, output_size=edges.num_edges)
    kind = edges.kinds.long()
    rows = nodes.permute(3, 1, 2, 0, 4)  # (4, S, N, H, D)
    query, residual, ends = rows[0], rows[1], rows[2:, :, edges.sources.long()]  # (2, S, E, H, D)
    if kinds is not None:
        table = kinds.permute(3, 1, 2, 0, 4)
        of_edges = table[:, :, kind]
        ends = ends + of_edges
        if mean_loop:
            mean = torch.zeros_like(rows[2:]).index_add(2, node, of_edges)
            mean = mean / degrees.clamp(min=1).view(-1, 1, 1)
            ends = torch.cat([ends, rows[2:] + mean], dim=2)
            node = torch.cat([node, every])

    hidden = leaky_relu(query[:, node] + ends[0], SLOPE)
    logits = (hidden * attention).sum(-1)  # (S, E, H)
    if bias is not None:
        loops = bias.new_zeros(count if mean_loop else 0, bias.shape[1])
        logits = logits + torch.cat([bias[kind], loops])
    spread = node.view(1, -1, 1).expand_as(logits)
    top = logits.detach().new_full((logits.shape[0], count, logits.shape[2]), -torch.inf)
    top = top.scatter_reduce(1, spread, logits.detach(), "amax")
    weights = (logits - top.gather(1, spread)).exp()
    total = torch.zeros_like(top).index_add(1, node, weights)
    alpha = weights / total.gather(1, spread)
    summed = torch.zeros_like(residual).index_add(1, node, alpha.unsqueeze(-1) * ends[1])
    return (residual + summed).relu()


def attend(
    nodes: Tensor,
    kinds: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    shift: Tensor,
    pointers: Tensor,
    sources: Tensor,
    kind_ids: Tensor,
    mean_loop: bool,
    keep: bool,
) -> tuple[Tensor, Tensor]:
    """Output (S, N, H, D), and what gradients want of the edges, if it is to be kept.

    ``shift`` (H, 4, D) is added to the nodes' residuals, keys and values.
    """
    heads, draws, count, _, width = nodes.shape
    out = nodes.new_empty(draws, count, heads, width)
    kept = nodes.new_empty(_kept_shape(nodes, len(sources), mean_loop, keep))
    inputs = (nodes, kinds, attention, bias, shift, pointers, sources, kind_ids)
    _run(edge_loops.forward, nodes, len(sources), mean_loop, (*inputs, out, kept))
    return out, kept


def _kept_shape(nodes: Tensor, edges: int, mean_loop: bool, keep: bool) -> tuple[int, ...]:
    heads, draws, count, _, width = nodes.shape
    return heads if keep else 0, draws, edges + mean_loop * count, kept_of_an_edge(width)


def kept_of_an_edge(width: int) -> int:
    """Numbers that a layer keeps of each edge and head of this width: a weight, and the signs."""
    return 1 + -(-width // WORD)


def attend_backward(
    grad: Tensor,
    out: Tensor,
    kept: Tensor,
    nodes: Tensor,
    kinds: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    shift: Tensor,
    edges: Adjacency,
    mean_loop: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of nodes, kinds, attention, bias and shift; an empty one for what is None."""
    heads, draws, _, _, width = nodes.shape
    if len(kept) != heads:
        raise ValueError("gradients want what was kept of the edges, and nothing was")
    empty, back = nodes.new_empty(0), edges.outgoing
    d_nodes = nodes.new_empty(nodes.shape)
    d_kinds = None if kinds is None else kinds.new_empty(kinds.shape)
    d_attention = attention.new_zeros(heads, draws, width)
    d_bias = None if bias is None else bias.new_zeros(draws, *bias.shape)
    d_shift = shift.new_zeros(heads, draws, *shift.shape[1:])
    inputs = (grad, out, kept, nodes, kinds, attention, shift, edges.pointers, edges.kinds)
    outgoing = (back.pointers, back.destinations, back.kinds, back.places)
    grads = (d_nodes, d_kinds, d_attention, d_bias, d_shift)
    tensors = (*inputs, *outgoing, *grads)
    _run(edge_gradients.backward, nodes, edges.num_edges, mean_loop, tensors)
    return (
        d_nodes,
        empty if d_kinds is None else d_kinds,
        d_attention.sum(1),
        empty.clone() if d_bias is None else d_bias.sum(0),
        d_shift.sum(1),
    )


def _run(
    loop: Any, nodes: Tensor, edges: int, mean_loop: bool, tensors: tuple[Tensor | None, ...]
) -> None:
    """A loop over heads and draws, a thread taking some of them."""
    arrays = parallel.arrays(*tensors)
    heads, draws, count, _, width = nodes.shape
    lanes, slope = lanes_of(width, WORD), arrays[0].dtype.type(SLOPE)
    parallel.run(
        loop,
        heads * draws,
        lanes,
        slope,
        mean_loop,
        *arrays,
        work=heads * draws * (edges + mean_loop * count),
    )


_fused = torch.library.custom_op(
    "ingram::edge_attention", attend, mutates_args=(), device_types="cpu"
)


@torch.library.custom_op("ingram::edge_attention_backward", mutates_args=(), device_types="cpu")
def _fused_backward(
    grad: Tensor,
    out: Tensor,
    kept: Tensor,
    nodes: Tensor,
    kinds: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    shift: Tensor,
    pointers: Tensor,
    sources: Tensor,
    kind_ids: Tensor,
    mean_loop: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    inputs = (grad, out, kept, nodes, kinds, attention, bias, shift)
    return attend_backward(*inputs, Adjacency(pointers, sources, kind_ids), mean_loop)


@_fused.register_fake
def _(nodes, kinds, attention, bias, shift, pointers, sources, kind_ids, mean_loop, keep):
    heads, draws, count, _, width = nodes.shape
    kept = nodes.new_empty(_kept_shape(nodes, len(sources), mean_loop, keep))
    return nodes.new_empty(draws, count, heads, width), kept


@_fused_backward.register_fake
def _(grad, out, kept, nodes, kinds, attention, bias, shift, *rest):
    shared = (kinds, attention, bias, shift)
    return nodes.new_empty(nodes.shape), *(
        nodes.new_empty(0) if t is None else t.new_empty(t.shape) for t in shared
    )


def _remember(ctx, inputs, output):
    *tensors, ctx.mean_loop, _ = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*output, *tensors)


def _differentiate(ctx, grad, _):
    kinds, bias = ctx.saved_tensors[3], ctx.saved_tensors[5]
    d_nodes, d_kinds, d_attention, d_bias, d_shift = _fused_backward(
        grad, *ctx.saved_tensors, ctx.mean_loop
    )
    return (
        d_nodes,
        None if kinds is None else d_kinds,
        d_attention,
        None if bias is None else d_bias,
        d_shift,
        *(None,) * 5,
    )


_fused.register_autograd(_differentiate, setup_context=_remember)
