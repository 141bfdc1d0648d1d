"""A whole layer as one operation for training on a CPU: products, edge passes and gradients.

The same steps as :mod:`ingram.kernels.head_products` and :mod:`ingram.kernels.edge_attention`,
without torch's books between them: on a small graph those took a quarter of an epoch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_attention import attend, attend_backward
from ingram.kernels.edge_loops import KEY, QUERY
from ingram.kernels.head_products import fold, head_products
from ingram.kernels.parallel import arrays, compiled


def attention_layer(
    edges: Adjacency,
    mean_loop: bool,
    x: Tensor,
    z: Tensor | None,
    attention: Tensor,
    bias: Tensor | None,
    inner: Tensor | None,
    inner_bias: Tensor | None,
    *maps: Tensor,
) -> Tensor:
    """(S, N, H, D) from nodes x (S, N, W) and the vectors of kinds z (S, K, R) or None.

    Parameters: attention y (1, H, D); bias (K, H) or None; the inner map of x and its bias or
    twice None; then P, the residual map and W and their biases, as in
    :func:`ingram.kernels.head_products.head_blocks`.
    """
    out: Tensor = _Layer.apply(edges, mean_loop, x, z, attention, bias, inner, inner_bias, *maps)
    return out


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        edges: Adjacency,
        mean_loop: bool,
        x: Tensor,
        z: Tensor | None,
        attention: Tensor,
        bias: Tensor | None,
        inner: Tensor | None,
        inner_bias: Tensor | None,
        *maps: Tensor,
    ) -> Tensor:
        attention = attention[0]
        heads, size = attention.shape
        width, kind_width = maps[1].shape[1], maps[0].shape[1] - 2 * maps[1].shape[1]
        weight, shift = x.new_empty(heads, 4 * size, width), x.new_zeros(heads, 4 * size)
        kind_weight = x.new_empty(heads, 2 * size, kind_width)
        _gather(size, *arrays(*maps, weight, shift, kind_weight))
        folded, folded_shift = weight, shift
        if inner is not None and inner_bias is not None:
            folded, folded_shift = fold(weight, shift, inner, inner_bias)
        folded_shift = folded_shift.view(heads, 4, size)
        folded_shift[:, KEY] += folded_shift[:, QUERY]  # they are only ever added
        nodes = head_products(x, folded, None).unflatten(-1, (4, size))
        kinds = None if z is None else head_products(z, kind_weight, None).unflatten(-1, (2, size))
        graph = (edges.pointers, edges.sources, edges.kinds, mean_loop)
        out, kept = attend(nodes, kinds, attention, bias, folded_shift, *graph, keep=True)
        ctx.edges, ctx.mean_loop, ctx.shapes = edges, mean_loop, [m.shape for m in maps]
        ctx.save_for_backward(
            x, z, attention, bias, inner, inner_bias, weight, folded, folded_shift, kind_weight,
            nodes, kinds, out, kept,
        )  # fmt: skip
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (
            x, z, attention, bias, inner, inner_bias, weight, folded, shift, kind_weight,
            nodes, kinds, out, kept,
        ) = ctx.saved_tensors  # fmt: skip
        d_nodes, d_kinds, d_attention, d_bias, d_shift = attend_backward(
            grad, out, kept, nodes, kinds, attention, bias, shift, ctx.edges, ctx.mean_loop
        )
        d_shift[:, QUERY] = d_shift[:, KEY]
        d_shift = d_shift.flatten(1)
        d_nodes = d_nodes.flatten(1, 2).flatten(2)  # (H, S N, 4 D)
        d_x = _back_through(d_nodes, folded).view_as(x) if ctx.needs_input_grad[2] else None
        d_weight = _weight_gradient(d_nodes, x)
        d_inner = d_inner_bias = None
        if inner is not None:
            flat, d_flat = weight.flatten(0, 1), d_weight.flatten(0, 1)
            d_inner, d_inner_bias = flat.T @ d_flat, flat.T @ d_shift.flatten()
            d_weight = torch.outer(d_shift.flatten(), inner_bias).addmm_(d_flat, inner.T)
        d_z = None
        d_kind_weight = torch.empty_like(kind_weight)
        if z is not None:
            d_kinds = d_kinds.flatten(1, 2).flatten(2)
            d_z = _back_through(d_kinds, kind_weight).view_as(z)
            d_kind_weight = _weight_gradient(d_kinds, z)
        d_maps = [x.new_empty(shape) for shape in ctx.shapes]
        parts = (*d_maps, d_weight.view_as(weight), d_shift, d_kind_weight)
        _scatter(attention.shape[1], *arrays(*parts))
        return (
            None, None, d_x, d_z, d_attention.unsqueeze(0), None if bias is None else d_bias,
            d_inner, d_inner_bias, *d_maps,
        )  # fmt: skip


def _back_through(grad: Tensor, weight: Tensor) -> Tensor:
    """The sum over heads of grad (H, N, M) times weight (H, M, W), without an array a head."""
    total = grad[0] @ weight[0]
    for of_head, matrix in zip(grad[1:], weight[1:], strict=True):
        total.addmm_(of_head, matrix)
    return total


def _weight_gradient(grad: Tensor, x: Tensor) -> Tensor:
    return torch.bmm(grad.mT, x.flatten(0, 1).expand(len(grad), -1, -1))


@compiled
def _gather(size, attend, residual, value, attend_b, residual_b, value_b, weight, shift, kinds):
    """The blocks of :func:`ingram.kernels.head_products.head_blocks`."""
    width = residual.shape[1]
    for row in range(len(attend)):
        h, i = row // size, row % size
        weight[h, i] = attend[row, :width]
        weight[h, size + i] = residual[row]
        weight[h, 2 * size + i] = attend[row, width : 2 * width]
        weight[h, 3 * size + i] = value[row, :width]
        kinds[h, i] = attend[row, 2 * width :]
        kinds[h, size + i] = value[row, width:]
        shift[h, 2 * size + i] = attend_b[row]
        shift[h, size + i] = residual_b[row]
        shift[h, 3 * size + i] = value_b[row]


@compiled
def _scatter(size, attend, residual, value, attend_b, residual_b, value_b, weight, shift, kinds):
    """The other way."""
    width = residual.shape[1]
    for row in range(len(attend)):
        h, i = row // size, row % size
        attend[row, :width] = weight[h, i]
        residual[row] = weight[h, size + i]
        attend[row, width : 2 * width] = weight[h, 2 * size + i]
        value[row, :width] = weight[h, 3 * size + i]
        attend[row, 2 * width :] = kinds[h, i]
        value[row, width:] = kinds[h, size + i]
        attend_b[row] = shift[h, 2 * size + i]
        residual_b[row] = shift[h, size + i]
        value_b[row] = shift[h, 3 * size + i]
