"""InGram (section 5): from random features on any graph to embeddings of what is in it.

The model is its parameters. Graph, features and seed are arguments, so one set of weights serves
any graph; device and dtype follow the features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ingram.embeddings import Embeddings
from ingram.graph import Ids, KnowledgeGraph, Weights
from ingram.kernels.adjacency import Adjacency, entity_adjacency, relation_adjacency
from ingram.models.base import Model
from ingram.models.config import ModelConfig
from ingram.models.layers import EntityLayer, RelationLayer, glorot_linear
from ingram.relation_graph import relation_graph_of

DRAWS_BUDGET = 2**30
"""Bytes that the draws embedded together may take."""


@dataclass(frozen=True, eq=False)
class MessageGraph:
    """What the model reads of a graph: edges between entities, edges between relations.

    entities: n nodes, kinds in [0, 2m) (and 2m for a learned self-loop); relations: 2m nodes,
    kinds in [0, B).
    """

    entities: Adjacency
    relations: Adjacency

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
        loops = config.self_loop == "learned"
        return cls(
            entity_adjacency(facts, num_entities, num_relations, self_loops=loops),
            relation_adjacency(
                relation_graph_of(facts, num_entities, num_relations, config.bins, weights)
            ),
        )

    def to(self, device: torch.device) -> MessageGraph:
        return MessageGraph(self.entities.to(device), self.relations.to(device))


@dataclass(frozen=True, eq=False)
class Features:
    """Random first vectors of S draws. relations: (S, 2m, d); entities: (S, n, d-hat)."""

    relations: Tensor
    entities: Tensor

    @classmethod
    def draw(
        cls,
        num_entities: int,
        num_relations: int,
        config: ModelConfig,
        rng: np.random.Generator,
        draws: int = 1,
    ) -> Features:
        """Glorot-normal on each table, gain sqrt(2): the deviation is 2 / sqrt(count + width).

        A draw follows the one before it in the generator, so it does not depend on how many are
        made at once.
        """
        tables = [
            np.empty((draws, count, width), np.float32)
            for count, width in (
                (2 * num_relations, config.relation_width),
                (num_entities, config.entity_width),
            )
        ]
        for draw in range(draws):
            for table in tables:
                rng.standard_normal(dtype=np.float32, out=table[draw])
        for table in tables:
            table *= np.float32(2 / (table.shape[1] + table.shape[2]) ** 0.5)
        return cls(*map(torch.from_numpy, tables))

    def to(self, like: Tensor) -> Features:
        """On the device and with the dtype of ``like``."""
        return Features(self.relations.to(like), self.entities.to(like))


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
        self.entity_output = glorot_linear(c.entity_hidden, c.entity_width)  # M-hat
        self.relation_score = glorot_linear(c.relation_width, c.entity_width)  # W-bar

    def forward(self, graph: MessageGraph, features: Features) -> tuple[Tensor, Tensor]:
        """Entities h (S, n, d-hat) and relations W-bar z (S, 2m, d-hat), ready for Eq. (5)."""
        z = features.relations
        inner: nn.Linear | None = self.relation_input
        for layer in self.relation_layers:
            z, inner = layer(z, graph.relations, inner), None
        if inner is not None:
            z = inner(z)
        h = features.entities
        inner = self.entity_input
        for layer in self.entity_layers:
            h, inner = layer(h, z, graph.entities, inner), None
        return self.entity_output(h), self.relation_score(self.relation_output(z))

    @torch.no_grad()
    def embed(
        self, graph: KnowledgeGraph, *, seed: int | Sequence[int] = 0, draws: int = 1
    ) -> Embeddings:
        """Embeddings of a graph, its entities and relations seen before or not.

        ``draws`` sets of random features are embedded and concatenated: the width is ``draws``
        times the model's. One draw is the paper; more are steadier and rank better.
        """
        edges = self.message_graph(graph)
        like = self.relation_score.weight
        rng = np.random.default_rng(seed)
        entities = like.new_empty(graph.num_entities, draws, self.config.entity_width)
        relations = like.new_empty(graph.num_relations, draws, self.config.entity_width)
        each = 6 * 4 * self.config.entity_hidden * max(graph.num_entities, 1)
        together = max(1, min(draws, DRAWS_BUDGET // each))
        for start in range(0, draws, together):
            count = min(together, draws - start)
            features = Features.draw(
                graph.num_entities, graph.num_relations, self.config, rng, count
            )
            h, z = self(edges, features.to(like))
            entities[:, start : start + count] = h.transpose(0, 1)
            relations[:, start : start + count] = z[:, : graph.num_relations].transpose(0, 1)
        made = {"model": self.origin.get("id"), "seed": seed, "draws": draws}
        return Embeddings(entities.flatten(1), relations.flatten(1), graph, made)

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
