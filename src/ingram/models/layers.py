"""The aggregation layers of sections 5.1 and 5.2.

A layer keeps the paper's matrices whole and multiplies by their blocks:
P [a | b] = P_a a + P_b b. So each projection is one product over nodes, none over edges.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_attention import SLOPE, edge_attention
from ingram.models.config import ModelConfig

GAIN = 2**0.5
BUDGET = 2**30
"""Bytes that projections may take when no gradient is wanted; beyond, heads go in groups."""


def glorot_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear map with Glorot-normal weights, gain sqrt(2), and a zero bias."""
    linear = nn.Linear(inputs, outputs)
    nn.init.xavier_normal_(linear.weight, gain=GAIN)
    nn.init.zeros_(linear.bias)
    return linear


def project(x: Tensor, weight: Tensor, bias: Tensor, inner: nn.Linear | None) -> Tensor:
    """Weight (inner x) + bias, computed as (weight inner) x when there is an inner map.

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
        self.head_width = hidden // heads
        self.aggregator = aggregator
        self.residual = glorot_linear(hidden, hidden)
        self.attention = nn.Parameter(torch.empty(1, heads, self.head_width))
        nn.init.xavier_normal_(self.attention, gain=GAIN)

    def split(self, projected: Tensor, parts: int) -> Tensor:
        """(S, N, parts * width) -> (S, N, parts, heads, width / heads)."""
        return projected.view(*projected.shape[:2], parts, -1, self.head_width)

    def aggregate(
        self,
        nodes: Tensor,
        kinds: Tensor | None,
        attention: Tensor,
        bias: Tensor | None,
        edges: Adjacency,
        *,
        mean_loop: bool = False,
    ) -> Tensor:
        """(S, N, width). Attention of a zero vector is the mean; times the edges it is the sum."""
        if self.aggregator == "attention":
            out = edge_attention(nodes, kinds, attention, bias, edges, mean_loop=mean_loop)
            return out.flatten(2)
        flat = torch.zeros_like(attention)
        scale = torch.ones_like(nodes[:1, :, :1])
        if self.aggregator == "sum":
            degrees = edges.pointers.diff() + int(mean_loop)
            scale = scale * degrees.clamp(min=1).view(1, -1, 1, 1, 1)
        # ReLU(residual / n + mean) * n = ReLU(residual + sum)
        shrunk = torch.cat([nodes[:, :, :1], nodes[:, :, 1:2] / scale, nodes[:, :, 2:]], dim=2)
        out = edge_attention(shrunk, kinds, flat, None, edges, mean_loop=mean_loop)
        return (out * scale[:, :, 0]).flatten(2)

    def weights_into(
        self, nodes: Tensor, kinds: Tensor | None, bias: Tensor | None, *, mean_loop: bool = False
    ) -> Tensor:
        """(S, e, H): how much of a node comes from each of its e edges, and last its mean loop.

        nodes: (S, 1 + e, 4, H, D), the node's own and then those at the other ends of its edges;
        kinds: (S, e, 2, H, D) and bias: (e, H), of its edges.
        """
        keys = nodes[:, 1:, 2] if kinds is None else nodes[:, 1:, 2] + kinds[:, :, 0]
        if mean_loop:
            assert kinds is not None
            mean = kinds[:, :, 0].sum(1, keepdim=True) / max(kinds.shape[1], 1)
            keys = torch.cat([keys, nodes[:, :1, 2] + mean], dim=1)
        if self.aggregator != "attention":
            return torch.full_like(keys[..., 0], 1 / max(keys.shape[1], 1))
        hidden = nn.functional.leaky_relu(nodes[:, :1, 0] + keys, SLOPE)
        logits = (hidden * self.attention[0]).sum(-1)
        if bias is not None:
            logits = logits + bias
        return logits.softmax(1)


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
        nodes = self._projected(z, inner)
        return self.aggregate(nodes, None, self.attention[0], self.bins, graph)

    def attention_into(
        self, relation: int, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None
    ) -> Tensor:
        """(S, e, heads): the alpha of Eq. (2) over the edges into one relation."""
        edges = graph.rows(relation, relation + 1)
        ends = torch.cat([edges.sources.new_tensor([relation]), edges.sources]).long()
        return self.weights_into(
            self._projected(z[:, ends], inner), None, self.bins[edges.kinds.long()]
        )

    def _projected(self, z: Tensor, inner: nn.Linear | None) -> Tensor:
        own, other = self.attend.weight.chunk(2, dim=1)
        weight = torch.cat([own, self.residual.weight, other, self.value.weight])
        none = torch.zeros_like(self.value.bias)
        bias = torch.cat([self.attend.bias, self.residual.bias, none, self.value.bias])
        return self.split(project(z, weight, bias, inner), 4)


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
        """(S, n, d-hat') and relations z (S, m, d') -> (S, n, d-hat').

        Without gradients a large graph takes a few heads at a time: heads never mix.
        """
        if not self.mean_loop:
            z = torch.cat([z, self.loop.expand(len(z), 1, -1)], dim=1)
        bytes_a_channel = 4 * h.element_size() * h.shape[0] * h.shape[1]
        if torch.is_grad_enabled() or bytes_a_channel * self.width <= BUDGET:
            return self._channels(h, z, graph, inner, None)
        group = self.head_width * max(
            torch.get_num_threads(), BUDGET // (bytes_a_channel * self.head_width)
        )
        out = h.new_empty(*h.shape[:2], self.width)
        for start in range(0, self.width, group):
            part = slice(start, min(start + group, self.width))
            out[:, :, part] = self._channels(h, z, graph, inner, part)
        return out

    def attention_into(
        self, entity: int, h: Tensor, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None
    ) -> Tensor:
        """(S, e, heads): the beta of Eq. (4) over the edges into one entity, its loop last."""
        edges = graph.rows(entity, entity + 1)
        ends = torch.cat([edges.sources.new_tensor([entity]), edges.sources]).long()
        if not self.mean_loop:
            z = torch.cat([z, self.loop.expand(len(z), 1, -1)], dim=1)
        nodes, kinds = self._projected(h[:, ends], z[:, edges.kinds.long()], inner, None)
        return self.weights_into(nodes, kinds, None, mean_loop=self.mean_loop)

    def _channels(
        self, h: Tensor, z: Tensor, graph: Adjacency, inner: nn.Linear | None, part: slice | None
    ) -> Tensor:
        """The output channels ``part``, whole heads; None for all."""
        nodes, kinds = self._projected(h, z, inner, part)
        attention = self.attention[0]
        if part is not None:
            attention = attention[part.start // self.head_width : part.stop // self.head_width]
        return self.aggregate(nodes, kinds, attention, None, graph, mean_loop=self.mean_loop)

    def _projected(
        self, h: Tensor, z: Tensor, inner: nn.Linear | None, part: slice | None
    ) -> tuple[Tensor, Tensor]:

        def rows(parameter: Tensor) -> Tensor:
            return parameter if part is None else parameter[part]

        own, other, relation = torch.split(
            rows(self.attend.weight), [self.width, self.width, z.shape[2]], dim=1
        )
        value, relation_value = torch.split(
            rows(self.value.weight), [self.width, z.shape[2]], dim=1
        )
        weight = torch.cat([own, rows(self.residual.weight), other, value])
        value_bias = rows(self.value.bias)
        none = torch.zeros_like(value_bias)
        bias = torch.cat([rows(self.attend.bias), rows(self.residual.bias), none, value_bias])
        nodes = self.split(project(h, weight, bias, inner), 4)
        kinds = self.split(nn.functional.linear(z, torch.cat([relation, relation_value])), 2)
        return nodes, kinds
