"""The aggregation layers of sections 5.1 and 5.2.

A layer keeps the paper's matrices whole and multiplies by their blocks:
P [a | b] = P_a a + P_b b. So each projection is one product over nodes, none over edges.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_attention import edge_attention
from ingram.models.config import ModelConfig

GAIN = 2**0.5
CHUNK = 1 << 16
"""Destinations computed at a time when no gradient is wanted: bounds the memory of large graphs."""


def glorot_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear map with Glorot-normal weights, gain sqrt(2), and a zero bias."""
    linear = nn.Linear(inputs, outputs)
    nn.init.xavier_normal_(linear.weight, gain=GAIN)
    nn.init.zeros_(linear.bias)
    return linear


def project(x: Tensor, weight: Tensor, bias: Tensor, inner: nn.Linear | None) -> Tensor:
    """weight (inner x) + bias, computed as (weight inner) x when there is an inner map.

    The first layer's input is H x with x narrow, so folding H into the weight replaces a wide
    product over all nodes by a narrow one and a small product of weights.
    """
    if inner is None:
        return nn.functional.linear(x, weight, bias)
    return nn.functional.linear(x, weight @ inner.weight, weight @ inner.bias + bias)


class Attention(nn.Module):
    """What both layers share: heads, the attention vector y, the residual map, the aggregators."""

    def __init__(self, hidden: int, heads: int, aggregator: str) -> None:
        super().__init__()
        self.heads = heads
        self.aggregator = aggregator
        self.residual = glorot_linear(hidden, hidden)
        self.attention = nn.Parameter(torch.empty(1, heads, hidden // heads))
        nn.init.xavier_normal_(self.attention, gain=GAIN)

    def split(self, projected: Tensor) -> Tensor:
        """(S, N, 2 * width) -> (S, N, 2, heads, width / heads)."""
        draws, nodes, width = projected.shape
        return projected.view(draws, nodes, 2, self.heads, width // (2 * self.heads))

    def aggregate(
        self,
        targets: Tensor,
        sources: Tensor,
        kinds: Tensor | None,
        bias: Tensor | None,
        edges: Adjacency,
        first: int = 0,
        mean_loop: bool = False,
    ) -> Tensor:
        """(S, C, width). Attention of a zero vector is the mean; times the edges it is the sum."""
        attention = self.attention[0]
        if self.aggregator != "attention":
            attention = torch.zeros_like(attention)
            bias = None
        if self.aggregator == "sum":
            degrees = (edges.pointers.diff() + int(mean_loop)).to(targets.dtype)
            count = degrees.clamp(min=1).view(1, -1, 1, 1, 1)
            scale = torch.cat([torch.ones_like(count), 1 / count], dim=2)
            targets = targets * scale  # ReLU(r / n + mean) * n = ReLU(r + sum)
        out = edge_attention(
            targets, sources, kinds, attention, bias, edges, first=first, mean_loop=mean_loop
        )
        if self.aggregator == "sum":
            out = out * count[:, :, 0]
        return out.flatten(2)


class RelationLayer(Attention):
    """Eq. (1) and (2): z_i <- ReLU(sum_j alpha_ij W z_j + residual(z_i))."""

    def __init__(self, config: ModelConfig) -> None:
        width = config.relation_hidden
        super().__init__(width, config.relation_heads, config.aggregator)
        self.attend = glorot_linear(2 * width, width)  # P
        self.value = glorot_linear(width, width)  # W
        self.bins = nn.Parameter(torch.zeros(config.bins, config.relation_heads))  # c

    def forward(self, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None) -> Tensor:
        """(S, m, d') -> (S, m, d'), or from the features (S, m, d) through ``inner``."""
        own, other = self.attend.weight.chunk(2, dim=1)
        targets = project(
            z,
            torch.cat([own, self.residual.weight]),
            torch.cat([self.attend.bias, self.residual.bias]),
            inner,
        )
        sources = project(
            z,
            torch.cat([other, self.value.weight]),
            torch.cat([torch.zeros_like(self.value.bias), self.value.bias]),
            inner,
        )
        return self.aggregate(self.split(targets), self.split(sources), None, self.bins, graph)


class EntityLayer(Attention):
    """Eq. (4): h_i <- ReLU(sum over edges and self-loop of beta W [h_j | z_k] + residual(h_i))."""

    def __init__(self, config: ModelConfig) -> None:
        width, relation = config.entity_hidden, config.relation_hidden
        super().__init__(width, config.entity_heads, config.aggregator)
        self.width = width
        self.attend = glorot_linear(2 * width + relation, width)  # P-hat
        self.value = glorot_linear(width + relation, width)  # W-hat
        self.mean_loop = config.self_loop == "mean-relation"
        if not self.mean_loop:
            self.loop = nn.Parameter(torch.empty(1, relation))
            nn.init.xavier_normal_(self.loop, gain=GAIN)

    def forward(
        self, h: Tensor, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None
    ) -> Tensor:
        """(S, n, d-hat') and relations z (S, m, d') -> (S, n, d-hat')."""
        own, other, relation = self.attend.weight.split([self.width, self.width, z.shape[2]], dim=1)
        value, relation_value = self.value.weight.split([self.width, z.shape[2]], dim=1)
        if not self.mean_loop:
            z = torch.cat([z, self.loop.expand(len(z), 1, -1)], dim=1)
        kinds = self.split(nn.functional.linear(z, torch.cat([relation, relation_value])))
        sources = self.split(
            project(
                h,
                torch.cat([other, value]),
                torch.cat([torch.zeros_like(self.value.bias), self.value.bias]),
                inner,
            )
        )
        weight = torch.cat([own, self.residual.weight])
        bias = torch.cat([self.attend.bias, self.residual.bias])

        def rows(start: int, stop: int) -> Tensor:
            targets = self.split(project(h[:, start:stop], weight, bias, inner))
            part = graph if stop - start == graph.num_nodes else graph.rows(start, stop)
            return self.aggregate(targets, sources, kinds, None, part, start, self.mean_loop)

        nodes = h.shape[1]
        if torch.is_grad_enabled() or nodes <= CHUNK:
            return rows(0, nodes)
        out = h.new_empty(len(h), nodes, self.width)
        for start in range(0, nodes, CHUNK):
            out[:, start : start + CHUNK] = rows(start, min(start + CHUNK, nodes))
        return out
