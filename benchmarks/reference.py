"""The straightforward formulation, to measure against: every projection computed per edge.

Written from the paper's equations in vectorised torch: gather both ends and the relation of each
edge, concatenate, one Linear over all edges, LeakyReLU, softmax by scatter, weighted sum by
scatter. It shares its parameters with :class:`ingram.InGram`, so both compute the same numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_attention import SLOPE
from ingram.models.features import Features
from ingram.models.ingram import InGram, MessageGraph
from ingram.models.layers import EntityLayer, RelationLayer


class ReferenceInGram(InGram):
    """InGram with per-edge products. One draw."""

    def forward(self, graph: MessageGraph, features: Features) -> tuple[Tensor, Tensor]:
        z = self.relation_input(features.relations[0])
        for layer in self.relation_layers:
            z = relation_layer(layer, z, graph.relations)
        h = self.entity_input(features.entities[0])
        for layer in self.entity_layers:
            h = entity_layer(layer, h, z, graph.entities)
        relations = self.relation_score(self.relation_output(z))
        return self.entity_output(h).unsqueeze(0), relations.unsqueeze(0)


def relation_layer(layer: nn.Module, z: Tensor, graph: Adjacency) -> Tensor:
    assert isinstance(layer, RelationLayer)
    target, source, kind = _edges(graph)
    hidden = layer.attend(torch.cat([z[target], z[source]], dim=-1))
    logits = _logits(layer, hidden) + layer.bins[kind]
    values = layer.value(z[source])
    out: Tensor = _attend(logits, values, target, len(z)) + layer.residual(z)
    return out.relu()


def entity_layer(layer: nn.Module, h: Tensor, z: Tensor, graph: Adjacency) -> Tensor:
    assert isinstance(layer, EntityLayer)
    target, source, kind = _edges(graph)
    degrees = graph.pointers.diff().clamp(min=1).unsqueeze(-1)
    mean = z.new_zeros(len(h), z.shape[1]).index_add(0, target, z[kind]) / degrees
    loops = torch.arange(len(h))
    target, source = torch.cat([target, loops]), torch.cat([source, loops])
    relation = torch.cat([z[kind], mean])
    hidden = layer.attend(torch.cat([h[target], h[source], relation], dim=-1))
    values = layer.value(torch.cat([h[source], relation], dim=-1))
    summed = _attend(_logits(layer, hidden), values, target, len(h))
    out: Tensor = summed + layer.residual(h)
    return out.relu()


def _edges(graph: Adjacency) -> tuple[Tensor, Tensor, Tensor]:
    target = torch.arange(graph.num_nodes).repeat_interleave(graph.pointers.diff())
    return target, graph.sources.long(), graph.kinds.long()


def _logits(layer: RelationLayer | EntityLayer, hidden: Tensor) -> Tensor:
    heads = layer.attention.shape[1]
    return (leaky_relu(hidden, SLOPE).view(len(hidden), heads, -1) * layer.attention).sum(-1)


def _attend(logits: Tensor, values: Tensor, target: Tensor, nodes: int) -> Tensor:
    spread = target.unsqueeze(-1).expand_as(logits)
    top = logits.new_full((nodes, logits.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, spread, logits.detach(), "amax")
    weights = (logits - top[target]).exp()
    total = torch.zeros_like(top).index_add(0, target, weights)
    alpha = weights / (total[target] + 1e-16)
    weighted = alpha.unsqueeze(-1) * values.view(len(values), logits.shape[1], -1)
    return values.new_zeros(nodes, values.shape[1]).index_add(0, target, weighted.flatten(1))
