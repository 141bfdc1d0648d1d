"""The query-conditioned model: it propagates from the question itself.

For a question (v_q, r_q, ?) on facts F with their inverses, over the relation graph of section 4::

    u_i = q if i = r_q else 0                                        relations, L_r times:
    a_i = sum_j u_j * c[s(i, j)] / sqrt(deg i)
    u_i = u_i + ReLU(LayerNorm(Linear [u_i | a_i]))

    h_v = u_{r_q} if v = v_q else 0                                  entities, L_e times:
    w_k = MLP(u_k)
    a_v = h0_v + sum_{(x, k, v) in F} h_x * w_k / sqrt(deg v)
    b_v = max_{(x, k, v) in F} h_x * w_k                             (where it has maxima)
    h_v = h_v + ReLU(LayerNorm(Linear [h_v | a_v | b_v]))

    f(v) = MLP [h_v | u_{r_q}]

Two relations that share heads and two that share tails are neighbours of two kinds, each with its
own bins s and vectors c. A head question is the tail question of the inverse relation. Nothing
depends on which entities or relations exist, and there is no random feature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ingram.answers import GraphScorer
from ingram.graph import Ids, KnowledgeGraph, Weights
from ingram.kernels import parallel
from ingram.kernels.adjacency import (
    BYTES_A_TRIPLE,
    Adjacency,
    entity_adjacency,
    group_by_destination,
)
from ingram.kernels.edge_messages import edge_messages
from ingram.kernels.state_update import state_update
from ingram.memory import ensure
from ingram.models.base import Model
from ingram.models.config import SIDES, QueryModelConfig
from ingram.relation_graph import relation_edges_by_side

BUDGET = 2**23
"""Bytes that the states of the questions answered together may take: they are walked over many
times, in the cache if they fit."""


@dataclass(frozen=True, eq=False)
class QueryGraph:
    """What the model reads of a graph: n entities with edges of 2m kinds, 2m relations with edges
    of (side, bin) kinds.
    """

    entities: Adjacency
    relations: Adjacency

    @classmethod
    def of(
        cls,
        facts: Ids,
        num_entities: int,
        num_relations: int,
        config: QueryModelConfig,
        weights: Weights | None = None,
    ) -> QueryGraph:
        """From facts (T, 3) without inverses: they are added here."""
        edges = relation_edges_by_side(facts, num_entities, num_relations, config.bins, weights)
        return cls(
            entity_adjacency(facts, num_entities, num_relations),
            group_by_destination(*edges, 2 * num_relations),
        )

    def to(self, device: torch.device) -> QueryGraph:
        return QueryGraph(self.entities.to(device), self.relations.to(device))


@dataclass(frozen=True, eq=False)
class Messages:
    """An entity layer at work: states (Q, n, D) go along edges with weights (R, 2m, D), and arrive
    as sums (Q, n, D), with maxima beside them (Q, n, 2D).
    """

    states: Tensor
    weights: Tensor
    arrived: Tensor


class Update(nn.Module):
    """State + ReLU(LayerNorm(Linear [state | messages])); of messages there may be several."""

    def __init__(self, width: int, messages: int = 1) -> None:
        super().__init__()
        self.linear = nn.Linear((1 + messages) * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, states: Tensor, messages: Tensor) -> Tensor:
        own, other = self.linear.weight.tensor_split([states.shape[-1]], dim=1)
        norm = self.norm
        return state_update(
            states, messages, own, other, self.linear.bias, norm.weight, norm.bias, norm.eps
        )


class InGramQ(Model):
    """Answers questions without embedding the graph first."""

    Config = QueryModelConfig

    def _create(self, c: QueryModelConfig) -> None:
        width, kinds = c.width, SIDES * c.bins
        self.query = nn.Parameter(torch.empty(width))  # q
        self.bins = nn.Parameter(torch.empty(c.relation_layers, kinds, width))  # c
        if not self.query.is_meta:  # there torch would load its compiler to draw nothing
            self.query.data = torch.randn(width)
            self.bins.data = 1 + 0.1 * torch.randn(c.relation_layers, kinds, width)
        self.relation_updates = nn.ModuleList(Update(width) for _ in range(c.relation_layers))
        self.entity_updates = nn.ModuleList(
            Update(width, 1 + c.maxima) for _ in range(c.entity_layers)
        )
        self.edge_weights = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
            for _ in range(c.entity_layers)
        )
        self.score_hidden = nn.Linear(2 * width, 2 * width)
        self.score_output = nn.Linear(2 * width, 1)

    def forward(self, graph: QueryGraph, anchors: Tensor, relations: Tensor) -> Tensor:
        """(Q, n): every entity as the tail of (anchor, relation), relations in [0, 2m)."""
        distinct, rows = torch.unique(relations, return_inverse=True)
        return self.entity_scores(graph, self.relation_states(graph, distinct), rows, anchors)

    def relation_states(self, graph: QueryGraph, asked: Tensor) -> tuple[Tensor, Tensor]:
        """All relations as seen from each asked one, (R, 2m, D), and the asked ones' own (R, D)."""
        every = torch.arange(len(asked), device=asked.device)
        states = self.query.new_zeros(len(asked), graph.relations.num_nodes, len(self.query))
        states = states.index_put((every, asked), self.query)
        scale = graph.relations.degree_scale(states)
        for update, bins in zip(self.relation_updates, self.bins, strict=True):
            table = bins.unsqueeze(0)
            sums = edge_messages(states, table, torch.zeros_like(asked), scale, graph.relations)
            states = update(states, sums)
        return states, states[every, asked]

    def entity_scores(
        self,
        graph: QueryGraph,
        asked: tuple[Tensor, Tensor],
        rows: Tensor,
        anchors: Tensor,
        trace: list[Messages] | None = None,
    ) -> Tensor:
        """(Q, n) for anchors (Q,) whose relations' states stand in ``rows`` of ``asked``.

        A ``trace`` is given the messages of each layer.
        """
        relations, own = asked[0], asked[1][rows]
        places = (torch.arange(len(anchors), device=anchors.device), anchors)
        states = own.new_zeros(len(anchors), graph.entities.num_nodes, own.shape[1])
        states = states.index_put(places, own)
        scale = graph.entities.degree_scale(states)
        for update, weigh in zip(self.entity_updates, self.edge_weights, strict=True):
            weights = _each(weigh, relations)
            arrived = edge_messages(
                states, weights, rows, scale, graph.entities, maxima=self.config.maxima
            )
            if trace is not None:
                trace.append(Messages(states, weights, arrived))
                arrived = arrived.clone()
            arrived[..., : own.shape[1]].index_put_(places, own, accumulate=True)
            states = update(states, arrived)
        return _each(self._score, states, own.unsqueeze(1)).squeeze(-1)

    def _score(self, states: Tensor, own: Tensor) -> Tensor:
        """(Q, n, 1) from states (Q, n, D) and those of the asked relations (Q, 1, D)."""
        ours, query = self.score_hidden.weight.chunk(2, dim=1)
        hidden = states @ ours.T + nn.functional.linear(own, query, self.score_hidden.bias)
        scores: Tensor = self.score_output(hidden.relu_())
        return scores

    def query_graph(self, graph: KnowledgeGraph) -> QueryGraph:
        """The edges of a graph's facts as this model wants them, on its device."""
        edges = QueryGraph.of(
            graph.triples, graph.num_entities, graph.num_relations, self.config, graph.weights
        )
        return edges.to(self.query.device)

    def scorer(self, graph: KnowledgeGraph, *, ensure_memory: bool = True) -> QueryScorer:
        """What answers questions about a graph; refused if that does not fit into memory."""
        if ensure_memory:
            need = scorer_bytes(self.config, graph)
            ensure(need, "answering", "take a smaller model or graph")
        return QueryScorer(self, graph)


def scorer_bytes(config: QueryModelConfig, graph: KnowledgeGraph) -> int:
    """Of :class:`QueryScorer`: edges, and five arrays of the states that go together."""
    states = 4 * config.width * (graph.num_entities + 2 * graph.num_relations)
    return BYTES_A_TRIPLE * graph.num_triples + 5 * max(states, BUDGET)


def _each(function: Callable[..., Tensor], *tables: Tensor) -> Tensor:
    """The function of all questions, one by one where no gradient is wanted.

    A matrix product rounds by its shape: like this an answer does not depend on who else asks. And
    what is made on the way stays in the cache.
    """
    if not parallel.bare() or len(tables[0]) == 0:
        return function(*tables)
    return torch.cat([function(*rows) for rows in zip(*(t.split(1) for t in tables), strict=True)])


class QueryScorer(GraphScorer):
    """The query-conditioned model on one graph."""

    def __init__(self, model: InGramQ, graph: KnowledgeGraph) -> None:
        self.model, self.graph = model, graph
        self.edges = model.query_graph(graph)

    @property
    def stated_loops(self) -> bool:
        return bool(self.model.config.loops == "stated")

    @torch.no_grad()
    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n), in batches under a budget; questions about one relation go together."""
        asked = relations + self.graph.num_relations if side == "head" else relations
        order = torch.argsort(asked, stable=True).to(self.model.query.device)
        sources, kinds = anchors.to(order.device)[order], asked.to(order.device)[order]
        scores = self.model.query.new_empty(len(order), self.graph.num_entities)
        nodes = self.graph.num_entities + 2 * self.graph.num_relations
        each = 4 * self.model.config.width * max(nodes, 1)
        batch = max(1, BUDGET // each)
        for start in range(0, len(order), batch):
            some = slice(start, start + batch)
            scores[order[some]] = self.model(self.edges, sources[some], kinds[some])
        return self.lower_loops(scores, anchors, relations)

    def score(self, triples: Ids) -> Tensor:
        """(T,): each distinct (head, relation) is asked once."""
        ids = torch.from_numpy(triples.copy()).to(self.model.query.device)
        questions, places = torch.unique(ids[:, :2], dim=0, return_inverse=True)
        scores = self.model.query.new_empty(len(ids))
        rows = max(1, BUDGET // (4 * max(self.graph.num_entities, 1)))
        for start in range(0, len(questions), rows):
            some = questions[start : start + rows]
            table = self.candidate_scores(some[:, 0], some[:, 1], "tail")
            here = (places >= start) & (places < start + rows)
            scores[here] = table[places[here] - start, ids[here, 2]]
        return scores
