"""InGram (section 5): from random features on any graph to embeddings of what is in it.

The model is its parameters. Graph, features and seed are arguments, so one set of weights serves
any graph; device and dtype follow the features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from ingram.embeddings import Basis, Embeddings
from ingram.graph import Ids, KnowledgeGraph, Weights
from ingram.kernels.adjacency import (
    BYTES_A_TRIPLE,
    Adjacency,
    entity_adjacency,
    group_by_destination,
    relation_adjacency,
)
from ingram.kernels.parallel import together
from ingram.memory import ensure
from ingram.models.base import Model
from ingram.models.config import ModelConfig
from ingram.models.features import (
    Features,
    FeatureSource,
    LabelFeatures,
    RowFeatures,
    facts_about,
)
from ingram.models.layers import BUDGET, EntityLayer, RelationLayer, glorot_linear
from ingram.models.sketches import Implications, Sketch
from ingram.relation_graph import relation_edges_by_side, relation_graph_of

DRAWS_BUDGET = 2**30
"""Bytes that the draws embedded together may take."""
FEATURES = {"labels": LabelFeatures, "rows": RowFeatures}


def draws_together(config: ModelConfig, draws: int, num_entities: int) -> int:
    """How many draws go through the layers at once."""
    each = 4 * (6 * config.entity_hidden + 4 * config.sketch_width) * max(num_entities, 1)
    return max(1, min(draws, DRAWS_BUDGET // each))


def embedding_bytes(config: ModelConfig, graph: KnowledgeGraph, draws: int) -> int:
    """Of :meth:`InGram.embed`: edges, a layer's input and output, its projections, the vectors."""
    entities = 4 * graph.num_entities
    together = entities * draws_together(config, draws, graph.num_entities)
    layer = together * config.entity_hidden
    at_once = max(2 * layer + min(4 * layer, BUDGET), 4 * together * config.sketch_width)
    vectors = entities * config.vector_width * draws
    return BYTES_A_TRIPLE * graph.num_triples + at_once + vectors


@dataclass(frozen=True, eq=False)
class MessageGraph:
    """What the model reads of a graph: edges between entities, edges between relations.

    entities: n nodes, kinds in [0, 2m) (and 2m for a learned self-loop); relations: 2m nodes,
    kinds in [0, B), or [0, 2B) with sides apart. Which relations imply which is for sketches.
    """

    entities: Adjacency
    relations: Adjacency
    implications: Implications

    @classmethod
    def of(
        cls,
        facts: Ids,
        num_entities: int,
        num_relations: int,
        config: ModelConfig,
        weights: Weights | None = None,
    ) -> MessageGraph:
        """From facts (T, 3) without inverses: they are added here.

        weights: (T,) how often each fact counts between relations; between entities it is one edge.
        """
        parts = cls.parts(facts, num_entities, num_relations, config, weights)
        return cls(**dict(zip(parts, together(*parts.values()), strict=True)))

    @staticmethod
    def parts(
        facts: Ids,
        num_entities: int,
        num_relations: int,
        config: ModelConfig,
        weights: Weights | None = None,
    ) -> dict[str, Callable[[], Any]]:
        """What makes the fields, which have nothing to do with each other; the longest first."""

        def relations() -> Adjacency:
            counted = (facts, num_entities, num_relations, config.bins, weights)
            if config.sides == "apart":
                edges = relation_edges_by_side(*counted)
                return group_by_destination(*edges, 2 * num_relations)
            return relation_adjacency(relation_graph_of(*counted))

        def entities() -> Adjacency:
            loops = config.self_loop == "learned"
            return entity_adjacency(facts, num_entities, num_relations, self_loops=loops)

        def implications() -> Implications:
            if not config.sketch_width:
                return Implications.none()
            return Implications.of(facts, num_entities, num_relations)

        return {"relations": relations, "entities": entities, "implications": implications}

    def to(self, device: torch.device) -> MessageGraph:
        edges = (self.entities.to(device), self.relations.to(device))
        return MessageGraph(*edges, self.implications.to(device))


class InGram(Model):
    """Sections 5.1 to 5.3, with the ablations of table 4 as values of the configuration."""

    Config = ModelConfig

    def _create(self, c: ModelConfig) -> None:
        self.relation_input = glorot_linear(c.relation_width, c.relation_hidden)  # H
        self.entity_input = glorot_linear(c.entity_width, c.entity_hidden)  # H-hat
        layers = c.relation_layers if c.relation_update else 0
        self.relation_layers = nn.ModuleList(RelationLayer(c) for _ in range(layers))
        self.entity_layers = nn.ModuleList(EntityLayer(c) for _ in range(c.entity_layers))
        self.relation_output = glorot_linear(c.relation_hidden, c.relation_width)  # M
        read = c.entity_layers if c.readout == "all" else 1
        self.entity_output = glorot_linear(read * c.entity_hidden, c.entity_width)  # M-hat
        self.relation_score = glorot_linear(c.relation_width, c.entity_width)  # W-bar
        if c.sketch_width:
            self.sketch = Sketch(c.relation_hidden, c.sketch_width, c.sketch_parts)

    def forward(self, graph: MessageGraph, features: Features) -> tuple[Tensor, Tensor]:
        """Entities h (S, n, d-hat) and relations W-bar z (S, 2m, d-hat), ready for Eq. (5).

        Both are wider by the sketch, if there is one.
        """
        z = self.relation_states(graph.relations, features.relations)
        entities = self.entity_vectors(graph.entities, features, z)
        return entities, self.relation_vectors(z, features, graph.implications)

    def relation_states(self, edges: Adjacency, features: Tensor) -> Tensor:
        """Section 5.1: relations z (S, 2m, d') from their features (S, 2m, d)."""
        z, inner = self.before_last_relation_layer(edges, features)
        for layer in self.relation_layers[-1:]:
            z, inner = layer(z, edges, inner), None
        return z if inner is None else inner(z)

    def entity_vectors(self, edges: Adjacency, features: Features, z: Tensor) -> Tensor:
        """Section 5.2: entities (S, n, d-hat) from their features and relations z (S, 2m, d').

        Wider by the sketch, if there is one.
        """
        blocks = list(self.entity_blocks(edges, features, z))
        return blocks[0] if len(blocks) == 1 else torch.cat(blocks, dim=-1)

    def entity_blocks(self, edges: Adjacency, features: Features, z: Tensor) -> Iterator[Tensor]:
        """The same in turn, so that all need not be held: M-hat h, and the blocks of the sketch.

        M-hat takes the last layer, or all of them side by side; part by part, so that they need
        not be put together.
        """
        out, hidden = self.entity_output, self.config.entity_hidden
        blocks = iter(out.weight.split(hidden, dim=1))
        first_read = len(self.entity_layers) - out.in_features // hidden
        h, inner = features.entities, cast("nn.Linear | None", self.entity_input)
        vectors: Tensor | None = None
        for number, layer in enumerate(self.entity_layers):
            h, inner = layer(h, z, edges, inner), None
            if number >= first_read:
                part = nn.functional.linear(h, next(blocks), out.bias if vectors is None else None)
                vectors = part if vectors is None else vectors + part
        assert vectors is not None
        yield vectors
        if self.config.sketch_width:
            loops = self.config.self_loop == "learned"
            signs = (features.entity_signs, features.relation_signs)
            yield from self.sketch(*signs, z, edges, loops=loops)

    def relation_vectors(self, z: Tensor, features: Features, implied: Implications) -> Tensor:
        """W-bar M z, as DistMult takes it, and how the relation is asked for in a sketch."""
        vectors = self.learned_vectors(z)
        if not self.config.sketch_width:
            return vectors
        return torch.cat([vectors, *self.sketch.asked(z, features.relation_signs, implied)], dim=-1)

    def learned_vectors(self, z: Tensor) -> Tensor:
        """W-bar M z (S, 2m, d-hat)."""
        vectors: Tensor = self.relation_score(self.relation_output(z))
        return vectors

    def before_last_relation_layer(
        self, edges: Adjacency, features: Tensor
    ) -> tuple[Tensor, nn.Linear | None]:
        """What the last relation layer reads: states, and a map they have yet to go through."""
        z, inner = features, cast("nn.Linear | None", self.relation_input)
        for layer in self.relation_layers[:-1]:
            z, inner = layer(z, edges, inner), None
        return z, inner

    def before_last_entity_layer(
        self, edges: Adjacency, features: Tensor, z: Tensor
    ) -> tuple[Tensor, nn.Linear | None]:
        """The same of the last entity layer."""
        h, inner = features, cast("nn.Linear | None", self.entity_input)
        for layer in self.entity_layers[:-1]:
            h, inner = layer(h, z, edges, inner), None
        return h, inner

    @torch.no_grad()
    def embed(
        self,
        graph: KnowledgeGraph,
        *,
        seed: int | Sequence[int] = 0,
        draws: int = 1,
        features: Literal["labels", "rows"] = "labels",
        ensure_memory: bool = True,
    ) -> Embeddings:
        """Embeddings of a graph, its entities and relations seen before or not.

        ``draws`` sets of random features are embedded and concatenated: the width is ``draws``
        times the model's. One draw is the paper; more are steadier and rank better. ``features``
        belong to ``labels``, so that an entity has the same ones in a graph that grew; drawn by
        ``rows`` they are those that training validates with, and a run's figures are made of.
        What does not fit into memory is refused first, unless the caller has made sure.
        """
        if ensure_memory:
            need = embedding_bytes(self.config, graph, draws)
            ensure(need, "embedding", "lower draws, or take a smaller model or graph")
        edges = self.message_graph(graph)
        like = self.relation_score.weight
        source: FeatureSource = FEATURES[features](graph, self.config, seed)
        entities = like.new_empty(graph.num_entities, draws, self.config.vector_width)
        relations = like.new_empty(2 * graph.num_relations, draws, self.config.vector_width)
        states = []
        for start, count in self.turns(draws, graph.num_entities):
            drawn = source.take(start, count).to(like)
            z = self.relation_states(edges.relations, drawn.relations)
            column = 0
            for block in self.entity_blocks(edges.entities, drawn, z):
                wide = entities[:, start : start + count, column:]
                wide[:, :, : block.shape[2]] = block.transpose(0, 1)
                column += block.shape[2]
            kinds = self.relation_vectors(z, drawn, edges.implications)
            relations[:, start : start + count] = kinds.transpose(0, 1)
            states.append(z)
        made = {"model": self.origin.get("id"), "seed": seed, "draws": draws, **source.made}
        basis = None if features == "rows" else Basis(torch.cat(states), facts_about(graph))
        return self.embeddings(entities.flatten(1), relations.flatten(1), graph, made, basis)

    def embeddings(
        self,
        entities: Tensor,
        relations: Tensor,
        graph: KnowledgeGraph,
        made: dict[str, Any],
        basis: Basis | None,
    ) -> Embeddings:
        """Of vectors of entities (n, width), and of relations and their inverses (2m, width)."""
        made = {**made, "loops": self.config.loops}
        kinds, inverses = relations[: graph.num_relations], relations[graph.num_relations :]
        if self.config.head_questions == "relation":
            return Embeddings(entities, kinds.clone(), graph, made, basis)
        return Embeddings(entities, kinds, graph, made, basis, inverses)

    def turns(self, draws: int, num_entities: int) -> Iterator[tuple[int, int]]:
        """First draw and number of draws that fit into memory together, turn by turn."""
        together = draws_together(self.config, draws, num_entities)
        for start in range(0, draws, together):
            yield start, min(together, draws - start)

    def message_graph(self, graph: KnowledgeGraph) -> MessageGraph:
        """The edges of a graph's facts as this model wants them, on its device."""
        edges = MessageGraph.of(
            graph.triples, graph.num_entities, graph.num_relations, self.config, graph.weights
        )
        return edges.to(self.relation_score.weight.device)

    def scorer(
        self, graph: KnowledgeGraph, *, seed: int | Sequence[int] = 0, draws: int = 1
    ) -> Embeddings:
        """What answers questions about a graph: its embeddings."""
        return self.embed(graph, seed=seed, draws=draws)
