"""Where an embedding model looks: the attention of its last layers, mean over heads and draws."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from ingram.graph import KnowledgeGraph
from ingram.inference.explanation import NearRelation, Neighbour, step
from ingram.models import InGram
from ingram.models.features import LabelFeatures
from ingram.models.layers import EntityLayer, RelationLayer
from ingram.relation_graph import build_relation_graph


@torch.no_grad()
def looks(
    model: InGram,
    graph: KnowledgeGraph,
    triple: tuple[int, int, int],
    count: int,
    draws: int,
    seed: int,
) -> dict[str, Any]:
    """``neighbours`` of head and tail, and ``relations`` near the relation; the ``count`` first."""
    head, relation, tail = triple
    edges = model.message_graph(graph)
    source = LabelFeatures(graph, model.config, seed)
    seen: dict[int, Tensor] = {}
    heard: Tensor | None = None
    for start, some in model.turns(draws, graph.num_entities):
        features = source.take(start, some).to(model.relation_score.weight)
        z, inner = model.before_last_relation_layer(edges.relations, features.relations)
        for layer in cast("list[RelationLayer]", [*model.relation_layers[-1:]]):
            alpha = layer.attention_into(relation, z, edges.relations, inner).sum(0).mean(-1)
            heard = alpha if heard is None else heard + alpha
        z = model.relation_states(edges.relations, features.relations)
        h, inner = model.before_last_entity_layer(edges.entities, features.entities, z)
        for entity in {head, tail}:
            last = cast("EntityLayer", model.entity_layers[-1])
            beta = last.attention_into(entity, h, z, edges.entities, inner).sum(0).mean(-1)
            seen[entity] = seen[entity] + beta if entity in seen else beta
    neighbours = []
    for entity in dict.fromkeys((head, tail)):
        own = edges.entities.rows(entity, entity + 1)
        ends = zip(own.sources.tolist(), own.kinds.tolist(), strict=True)
        neighbours += _neighbours(graph, entity, [*ends], seen[entity] / draws, count)
    attention = None
    if heard is not None:  # a relation may be near in two ways, by heads and by tails
        near = edges.relations.rows(relation, relation + 1).sources.long()
        attention = heard.new_zeros(2 * graph.num_relations).index_add(0, near, heard / draws)
    return {
        "neighbours": tuple(neighbours),
        "relations": tuple(_near(graph, relation, attention, count)),
    }


def _neighbours(
    graph: KnowledgeGraph, entity: int, ends: list[tuple[int, int]], weights: Tensor, count: int
) -> list[Neighbour]:
    """An edge (x, k) into v is a fact that v names as (v, inverse of k, x)."""
    m = graph.num_relations
    label = graph.entities.take([entity])[0]
    found = []
    for place in torch.argsort(weights, descending=True, stable=True)[:count].tolist():
        source, kind = ends[place] if place < len(ends) else (entity, 2 * m)
        along = None if kind == 2 * m else step(graph, entity, (kind + m) % (2 * m), source)
        found.append(Neighbour(label, along, float(weights[place])))
    return found


def _near(
    graph: KnowledgeGraph, relation: int, attention: Tensor | None, count: int
) -> list[NearRelation]:
    """By affinity, the relation itself left out; attention: (2m,)."""
    whole = build_relation_graph(graph, num_bins=1)
    row = slice(*whole.pointers[relation : relation + 2].tolist())
    m, found = graph.num_relations, []
    for other, affinity in zip(whole.cols[row].tolist(), whole.weights[row].tolist(), strict=True):
        if other != relation:
            heard = None if attention is None else float(attention[other])
            label = graph.relations.take([other % m])[0]
            found.append(NearRelation(label, other >= m, affinity, heard))
    return sorted(found, key=lambda near: -near.affinity)[:count]
