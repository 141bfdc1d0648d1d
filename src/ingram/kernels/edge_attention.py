"""Attention over a node's incoming edges, fused: Eq. (1), (2) and (4) after their projections.

For node v, head h and incoming edge e from node x of kind k::

    logit_e = y_h . LeakyReLU(query_v + key_x + key_k) + bias_k
    alpha   = softmax of the logits over the edges into v (and its self-loop)
    out_v   = ReLU(residual_v + sum_e alpha_e (value_x + value_k))

With ``mean_loop`` a node has a self-loop whose kind is the mean of the kinds on its incoming edges
(zero when it has none), as in Eq. (4). Because P [h_v | h_x | z_k] = P1 h_v + P2 h_x + P3 z_k, the
projections come in per node and per kind; nothing of size (edges x width) is ever made.

Shapes: S draws, N nodes, K kinds, H heads of width D. ``nodes`` (S, N, 4, H, D) holds query,
residual, key and value, ``kinds`` (S, K, 2, H, D) or None holds key and value; ``attention`` y is
(H, D), ``bias`` (K, H) or None.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from ingram.kernels import edge_loops, parallel
from ingram.kernels.adjacency import Adjacency

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
    out, _ = _fused(
        nodes.contiguous(),
        None if kinds is None else kinds.contiguous(),
        attention.contiguous(),
        bias,
        edges.pointers,
        edges.sources,
        edges.kinds,
        mean_loop,
    )
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
    targets, sources = nodes[:, :, :2], nodes[:, :, 2:]
    ends = sources[:, edges.sources.long()]  # (S, E, 2, H, D)
    if kinds is not None:
        ends = ends + kinds[:, kind]
    if mean_loop:
        assert kinds is not None
        mean = kinds.new_zeros(kinds.shape[0], count, *kinds.shape[2:])
        mean = mean.index_add(1, node, kinds[:, kind])
        mean = mean / degrees.clamp(min=1).view(-1, 1, 1, 1)
        ends = torch.cat([ends, sources + mean], dim=1)
        node = torch.cat([node, every])

    hidden = leaky_relu(targets[:, node, 0] + ends[:, :, 0], SLOPE)
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
    summed = torch.zeros_like(targets[:, :, 1]).index_add(
        1, node, alpha.unsqueeze(-1) * ends[:, :, 1]
    )
    return (targets[:, :, 1] + summed).relu()


@torch.library.custom_op("ingram::edge_attention", mutates_args=(), device_types="cpu")
def _fused(
    nodes: Tensor,
    kinds: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    pointers: Tensor,
    columns: Tensor,
    kind_ids: Tensor,
    mean_loop: bool,
) -> tuple[Tensor, Tensor]:
    draws, count, _, heads, width = nodes.shape
    out = nodes.new_empty(draws, count, heads, width)
    norm = nodes.new_empty(draws, count, heads)
    inputs = (nodes, kinds, attention, bias, pointers, columns, kind_ids)
    arrays = tuple(map(_array, (*inputs, out, norm)))
    slope = _array(nodes).dtype.type(SLOPE)
    parallel.run(
        lambda start, stop: edge_loops.forward(start, stop, slope, mean_loop, *arrays),
        draws * heads,
        work=draws * heads * len(columns),
    )
    return out, norm


@_fused.register_fake
def _(nodes, kinds, attention, bias, pointers, columns, kind_ids, mean_loop):
    draws, count, _, heads, width = nodes.shape
    return nodes.new_empty(draws, count, heads, width), nodes.new_empty(draws, count, heads)


@torch.library.custom_op("ingram::edge_attention_backward", mutates_args=(), device_types="cpu")
def _fused_backward(
    grad: Tensor,
    out: Tensor,
    norm: Tensor,
    nodes: Tensor,
    kinds: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    pointers: Tensor,
    columns: Tensor,
    kind_ids: Tensor,
    mean_loop: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    draws, heads = nodes.shape[0], nodes.shape[3]
    d_nodes = torch.empty_like(nodes)
    d_kinds = None if kinds is None else torch.empty_like(kinds)
    d_attention = attention.new_empty(draws, *attention.shape)
    d_bias = None if bias is None else bias.new_zeros(draws, *bias.shape)
    inputs = (grad.contiguous(), out, norm, nodes, kinds, attention, bias)
    grads = (d_nodes, d_kinds, d_attention, d_bias)
    arrays = tuple(map(_array, (*inputs, pointers, columns, kind_ids, *grads)))
    slope = _array(nodes).dtype.type(SLOPE)
    parallel.run(
        lambda start, stop: edge_loops.backward(start, stop, slope, mean_loop, *arrays),
        draws * heads,
        work=draws * heads * len(columns),
    )
    empty = nodes.new_empty(0)
    return (
        d_nodes,
        empty if d_kinds is None else d_kinds,
        d_attention.sum(0),
        empty.clone() if d_bias is None else d_bias.sum(0),
    )


@_fused_backward.register_fake
def _(grad, out, norm, nodes, kinds, attention, bias, *rest):
    shared = (kinds, attention, bias)
    return torch.empty_like(nodes), *(
        nodes.new_empty(0) if t is None else torch.empty_like(t) for t in shared
    )


def _remember(ctx, inputs, output):
    *tensors, ctx.mean_loop = inputs
    ctx.save_for_backward(*output, *tensors)


def _differentiate(ctx, grad, _):
    out, norm, nodes, kinds, attention, bias, *graph = ctx.saved_tensors
    d_nodes, d_kinds, d_attention, d_bias = _fused_backward(
        grad, out, norm, nodes, kinds, attention, bias, *graph, ctx.mean_loop
    )
    return (
        d_nodes,
        None if kinds is None else d_kinds,
        d_attention,
        None if bias is None else d_bias,
        *(None,) * 4,
    )


_fused.register_autograd(_differentiate, setup_context=_remember)


def _array(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().numpy()
