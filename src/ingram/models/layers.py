"""The aggregation layers of sections 5.1 and 5.2.

A layer keeps the paper's matrices whole and multiplies by their blocks:
P [a | b] = P_a a + P_b b. So each projection is a product over nodes, none over edges.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ingram.kernels.adjacency import Adjacency
from ingram.kernels.attention_layer import attention_layer
from ingram.kernels.edge_attention import SLOPE, edge_attention
from ingram.kernels.head_products import fold, head_blocks, head_products
from ingram.models.config import ModelConfig

GAIN = 2**0.5
BUDGET = 2**30
"""Bytes that projections may take when no gradient is wanted; beyond, heads go in groups."""


def glorot_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear map with Glorot-normal weights, gain sqrt(2), and a zero bias."""
    linear = nn.Linear(inputs, outputs)
    _draw(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


def _draw(weight: Tensor) -> None:
    if not weight.is_meta:  # there torch would load its compiler to draw nothing
        nn.init.xavier_normal_(weight, gain=GAIN)


class Attention(nn.Module):
    """What both layers share: P, W, the residual map, the attention vector y, the aggregators."""

    def __init__(self, hidden: int, kind_width: int, heads: int, aggregator: str) -> None:
        super().__init__()
        self.heads, self.head_width = heads, hidden // heads
        self.aggregator = aggregator
        self.residual = glorot_linear(hidden, hidden)
        self.attention = nn.Parameter(torch.empty(1, heads, self.head_width))
        _draw(self.attention)
        self.attend = glorot_linear(2 * hidden + kind_width, hidden)  # P
        self.value = glorot_linear(hidden + kind_width, hidden)  # W

    def transform(
        self,
        x: Tensor,
        z: Tensor | None,
        bias: Tensor | None,
        edges: Adjacency,
        inner: nn.Linear | None,
        *,
        mean_loop: bool = False,
    ) -> Tensor:
        """(S, N, hidden) from nodes x, or from what ``inner`` makes of them, and kinds z."""
        eager = x.device.type == "cpu" and not torch.compiler.is_compiling()
        if eager and torch.is_grad_enabled() and self.aggregator == "attention":
            inners = (None, None) if inner is None else (inner.weight, inner.bias)
            return attention_layer(
                edges, mean_loop, x, z, self.attention, bias, *inners, *self._maps()
            ).flatten(2)

        def heads(part: slice) -> Tensor:
            nodes, kinds = self.projected(x, z, inner, part)
            of_part = None if bias is None else bias[:, part]
            return self._aggregate(
                nodes, kinds, self.attention[0, part], of_part, edges, mean_loop=mean_loop
            )

        parts = self._groups(x, edges)
        if len(parts) == 1:
            return heads(parts[0]).flatten(2)
        out = x.new_empty(*x.shape[:2], self.heads, self.head_width)
        for part in parts:
            out[:, :, part] = heads(part)
        return out.flatten(2)

    def projected(
        self, x: Tensor, z: Tensor | None, inner: nn.Linear | None, part: slice = slice(None)
    ) -> tuple[Tensor, Tensor | None]:
        """What :func:`edge_attention` takes of nodes x and kinds z, for some of the heads."""
        weight, shift, kind_weight = (
            block[part] for block in head_blocks(self.heads, *self._maps())
        )
        if inner is not None:
            weight, shift = fold(weight, shift, inner.weight, inner.bias)
        nodes = head_products(x, weight, shift).unflatten(-1, (4, -1))
        if z is None:
            return nodes, None
        return nodes, head_products(z, kind_weight, None).unflatten(-1, (2, -1))

    def _maps(self) -> tuple[Tensor, ...]:
        linears = (self.attend, self.residual, self.value)
        return *(linear.weight for linear in linears), *(linear.bias for linear in linears)

    def weights_into(
        self, nodes: Tensor, kinds: Tensor | None, bias: Tensor | None, *, mean_loop: bool = False
    ) -> Tensor:
        """(S, e, H): how much of a node comes from each of its e edges, and last its mean loop.

        nodes: (H, S, 1 + e, 4, D), the node's own and then those at the other ends of its edges;
        kinds: (H, S, e, 2, D) and bias: (e, H), of its edges.
        """
        query, keys = nodes[:, :, :1, 0], nodes[:, :, :, 2].permute(1, 2, 0, 3)
        own, keys = keys[:, :1], keys[:, 1:]
        if kinds is not None:
            of_kinds = kinds[:, :, :, 0].permute(1, 2, 0, 3)
            keys = keys + of_kinds
            if mean_loop:
                mean = of_kinds.sum(1, keepdim=True) / max(of_kinds.shape[1], 1)
                keys = torch.cat([keys, own + mean], dim=1)
        if self.aggregator != "attention":
            return torch.full_like(keys[..., 0], 1 / max(keys.shape[1], 1))
        hidden = nn.functional.leaky_relu(query.permute(1, 2, 0, 3) + keys, SLOPE)
        logits = (hidden * self.attention[0]).sum(-1)
        if bias is not None:
            logits = logits + bias
        return logits.softmax(1)

    def _groups(self, x: Tensor, edges: Adjacency) -> list[slice]:
        """Without gradients a large graph takes a few heads at a time: heads never mix."""
        rows = edges.num_nodes + (0 if x.device.type == "cpu" else edges.num_edges)
        together = BUDGET // (x.element_size() * len(x) * 4 * self.head_width * max(rows, 1))
        if torch.is_grad_enabled() or together >= self.heads:
            return [slice(None)]
        together = max(together, torch.get_num_threads())
        return [slice(start, start + together) for start in range(0, self.heads, together)]

    def _aggregate(
        self,
        nodes: Tensor,
        kinds: Tensor | None,
        attention: Tensor,
        bias: Tensor | None,
        edges: Adjacency,
        *,
        mean_loop: bool,
    ) -> Tensor:
        """Attention by a zero vector is the mean; times the number of edges it is the sum."""
        if self.aggregator == "attention":
            return edge_attention(nodes, kinds, attention, bias, edges, mean_loop=mean_loop)
        flat = torch.zeros_like(attention)
        if self.aggregator == "mean":
            return edge_attention(nodes, kinds, flat, None, edges, mean_loop=mean_loop)
        # ReLU(residual / n + mean) * n = ReLU(residual + sum)
        count = (edges.pointers.diff() + int(mean_loop)).clamp(min=1).unsqueeze(-1)
        query, residual, key, value = nodes.unbind(3)
        shrunk = torch.stack([query, residual / count, key, value], dim=3)
        out = edge_attention(shrunk, kinds, flat, None, edges, mean_loop=mean_loop)
        return out * count.unsqueeze(-1)


class RelationLayer(Attention):
    """Eq. (1) and (2): z_i <- ReLU(sum_j alpha_ij W z_j + residual(z_i))."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.relation_hidden, 0, config.relation_heads, config.aggregator)
        self.bins = nn.Parameter(torch.zeros(config.neighbour_kinds, config.relation_heads))  # c

    def forward(self, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None) -> Tensor:
        """(S, m, d') -> (S, m, d'), or from the features (S, m, d) through ``inner``."""
        return self.transform(z, None, self.bins, graph, inner)

    def attention_into(
        self, relation: int, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None
    ) -> Tensor:
        """(S, e, heads): the alpha of Eq. (2) over the edges into one relation."""
        edges = graph.rows(relation, relation + 1)
        ends = torch.cat([edges.sources.new_tensor([relation]), edges.sources]).long()
        nodes, _ = self.projected(z[:, ends], None, inner)
        return self.weights_into(nodes, None, self.bins[edges.kinds.long()])


class EntityLayer(Attention):
    """Eq. (4): h_i <- ReLU(sum over edges and self-loop of beta W [h_j | z_k] + residual(h_i))."""

    def __init__(self, config: ModelConfig) -> None:
        relation = config.relation_hidden
        super().__init__(config.entity_hidden, relation, config.entity_heads, config.aggregator)
        self.mean_loop = config.self_loop == "mean-relation"
        if not self.mean_loop:
            self.loop = nn.Parameter(torch.empty(1, relation))
            _draw(self.loop)

    def forward(
        self, h: Tensor, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None
    ) -> Tensor:
        """(S, n, d-hat') and relations z (S, m, d') -> (S, n, d-hat')."""
        if not self.mean_loop:
            z = torch.cat([z, self.loop.expand(len(z), 1, -1)], dim=1)
        return self.transform(h, z, None, graph, inner, mean_loop=self.mean_loop)

    def attention_into(
        self, entity: int, h: Tensor, z: Tensor, graph: Adjacency, inner: nn.Linear | None = None
    ) -> Tensor:
        """(S, e, heads): the beta of Eq. (4) over the edges into one entity, its loop last."""
        edges = graph.rows(entity, entity + 1)
        ends = torch.cat([edges.sources.new_tensor([entity]), edges.sources]).long()
        if not self.mean_loop:
            z = torch.cat([z, self.loop.expand(len(z), 1, -1)], dim=1)
        nodes, kinds = self.projected(h[:, ends], z[:, edges.kinds.long()], inner)
        return self.weights_into(nodes, kinds, None, mean_loop=self.mean_loop)
