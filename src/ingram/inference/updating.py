"""Embeddings of a graph that changed: what an earlier embedding says still is kept.

Relations that were there keep their vectors, so an entity changes only where the facts do: its
vector is a function of what lies within as many steps of it as there are entity layers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ingram.embeddings import Basis, Embeddings
from ingram.errors import EmbeddingsError
from ingram.graph import Ids, KnowledgeGraph
from ingram.kernels.adjacency import Adjacency, entity_adjacency
from ingram.models import InGram
from ingram.models.features import LabelFeatures, facts_about
from ingram.models.ingram import MessageGraph
from ingram.models.sketches import Implications

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Update:
    """``changed`` entities are new or have other facts; ``recomputed`` are those in their reach."""

    embeddings: Embeddings
    changed: int
    recomputed: int
    new_relations: int


@torch.no_grad()
def update(model: InGram, graph: KnowledgeGraph, old: Embeddings) -> Update:
    """The embeddings of ``graph`` with the relation vectors of ``old``, for relations it knows.

    The same as embedding the graph anew with those relation vectors, and with features of the
    deviation they had; but only the entities within reach of a change are computed.
    """
    basis = _basis_for(model, old)
    known = Matched.of(old.graph, graph)
    facts = facts_about(graph)
    changed = np.ones(graph.num_entities, bool)
    here, there = known.entities
    changed[here] = (facts[here] != basis.facts[there]).numpy()
    layers = model.config.entity_layers
    stale = reached(graph, changed, layers - 1)
    part = _Part.around(model, graph, stale, layers)

    source = LabelFeatures(graph, model.config, old.made["seed"], old.made["sizes"])
    like, draws, m = model.relation_score.weight, old.made["draws"], graph.num_relations
    entities = like.new_empty(graph.num_entities, draws, model.config.vector_width)
    relations = like.new_empty(2 * m, draws, model.config.vector_width)
    edges = model.message_graph(graph) if len(known.relations[0]) < m else None
    implied = Implications.none().to(like.device) if edges is None else edges.implications
    states = []
    for start, count in model.turns(draws, len(part.nodes)):
        features = source.take(start, count, part.nodes).to(like)
        z = _relation_states(model, edges, features.relations, basis.states[start:][:count], known)
        h = model.entity_vectors(part.edges, features, z)
        entities[part.nodes, start : start + count] = h.transpose(0, 1)
        kinds = model.relation_vectors(z, features, implied)
        relations[:, start : start + count] = kinds.transpose(0, 1)
        states.append(z)
    kept = ~stale[here]
    entities, relations = entities.flatten(1), relations.flatten(1)
    entities[here[kept]] = old.entities[there[kept]].to(like)
    same, before = known.relations
    relations[same] = old.relations[before].to(like)
    if old.inverses is not None:
        relations[same + m] = old.inverses[before].to(like)
    basis = Basis(torch.cat(states), facts)
    made = model.embeddings(entities, relations, graph, old.made, basis)
    return Update(made, int(changed.sum()), int(stale.sum()), m - len(same))


@dataclass(frozen=True, eq=False)
class Matched:
    """What two graphs both name: ids in the new one, and beside them ids in the old one."""

    entities: tuple[Ids, Ids]
    relations: tuple[Ids, Ids]

    @classmethod
    def of(cls, old: KnowledgeGraph, new: KnowledgeGraph) -> Matched:
        pairs = []
        for ours, theirs in ((new.entities, old.entities), (new.relations, old.relations)):
            found = theirs.ids(ours.labels)
            here = np.flatnonzero(found.is_not_null().to_numpy())
            pairs.append((here, found.drop_nulls().to_numpy().astype(np.int64)))
        return cls(*pairs)


def reached(graph: KnowledgeGraph, start: Mask, steps: int) -> Mask:
    """(n,): the entities within so many steps of those marked, facts followed either way."""
    marked = start.copy()
    heads, _, tails = graph.triples.T
    for _ in range(steps):
        near = marked[heads] | marked[tails]
        marked[heads[near]] = True
        marked[tails[near]] = True
    return marked


@dataclass(frozen=True, eq=False)
class _Part:
    """nodes: (k,) ids; edges: between their places, complete wherever the result is wanted."""

    nodes: Ids
    edges: Adjacency

    @classmethod
    def around(cls, model: InGram, graph: KnowledgeGraph, wanted: Mask, layers: int) -> _Part:
        """All that ``layers`` layers read to compute the wanted entities."""
        inner = reached(graph, wanted, layers - 1)
        nodes = np.flatnonzero(reached(graph, inner, 1))
        place = np.full(graph.num_entities, -1)
        place[nodes] = np.arange(len(nodes))
        heads, kinds, tails = graph.triples.T
        near = inner[heads] | inner[tails]
        facts = np.stack([place[heads[near]], kinds[near], place[tails[near]]], axis=1)
        loops = model.config.self_loop == "learned"
        edges = entity_adjacency(facts, len(nodes), graph.num_relations, self_loops=loops)
        return cls(nodes, edges.to(model.relation_score.weight.device))


def _relation_states(
    model: InGram, edges: MessageGraph | None, features: Tensor, old: Tensor, known: Matched
) -> Tensor:
    """(S, 2m, d'): the old ones; those of new relations, if any, from the graph's ``edges`` now."""
    m, before = features.shape[1] // 2, old.shape[1] // 2
    here, there = known.relations
    if edges is None:
        z = features.new_empty(len(features), 2 * m, old.shape[2])
    else:
        z = model.relation_states(edges.relations, features)
    for inverse in (0, 1):
        z[:, here + inverse * m] = old[:, there + inverse * before].to(z)
    return z


def _basis_for(model: InGram, old: Embeddings) -> Basis:
    if old.basis is None or old.made.get("features") != "labels":
        raise EmbeddingsError(
            "the old embeddings do not hold what an update starts from; keep them as .parquet, "
            ".npz or .safetensors, or embed anew"
        )
    if old.made.get("model") != model.origin.get("id"):
        raise EmbeddingsError(
            f"the old embeddings were made by model {old.made.get('model')}, the run holds "
            f"{model.origin.get('id')}; embed anew"
        )
    return old.basis
