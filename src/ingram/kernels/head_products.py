"""A layer's linear maps, laid out head by head as the loops read them.

With P [h_v | h_x | z_k] = P1 h_v + P2 h_x + P3 z_k and W [h_x | z_k] = W1 h_x + W2 z_k, a node is
mapped by P1 (query), the residual map, P2 (key) and W1 (value), a kind by P3 (key) and W2 (value).
Query and key are only ever added, so the bias of P stands with the key.
"""

from __future__ import annotations

import torch
from torch import Tensor


def head_blocks(
    heads: int,
    attend: Tensor,
    residual: Tensor,
    value: Tensor,
    attend_bias: Tensor,
    residual_bias: Tensor,
    value_bias: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """A node's weight (H, 4 D, W) and bias (H, 4 D), and a kind's weight (H, 2 D, R).

    attend is P, (H D, 2 W + R); residual (H D, W); value is W, (H D, W + R). R may be 0.
    """
    width = residual.shape[1]
    own, other, kind_key = attend.split([width, width, attend.shape[1] - 2 * width], dim=1)
    node_value, kind_value = value.split([width, value.shape[1] - width], dim=1)
    none = torch.zeros_like(value_bias)
    groups = (
        (own, residual, other, node_value),
        (none, residual_bias, attend_bias, value_bias),
        (kind_key, kind_value),
    )
    weight, bias, kind_weight = (
        torch.stack([part.unflatten(0, (heads, -1)) for part in group], dim=1).flatten(1, 2)
        for group in groups
    )
    return weight, bias, kind_weight


def head_products(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """(H, S, N, M): weight[h] x[s, i] + bias[h], from x (S, N, W) and weight (H, M, W)."""
    rows = x.flatten(0, 1).expand(len(weight), -1, -1)
    if bias is None:
        out = torch.bmm(rows, weight.mT)
    else:
        out = torch.baddbmm(bias.unsqueeze(1), rows, weight.mT)
    return out.unflatten(1, x.shape[:2])


def fold(weight: Tensor, bias: Tensor, inner: Tensor, inner_bias: Tensor) -> tuple[Tensor, Tensor]:
    """Of weight (inner x + inner_bias) + bias, the map of x: (H, M, F) and (H, M).

    A first layer's x is narrow and its inner map wide, so folding the inner map into the weight
    replaces a wide product over all nodes by a narrow one and a small product of weights.
    """
    flat = weight.flatten(0, 1)
    folded = (flat @ inner).unflatten(0, weight.shape[:2])
    return folded, torch.addmv(bias.flatten(), flat, inner_bias).view_as(bias)
