"""An epoch of the query-conditioned model: a fresh split and questions about what it holds out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from ingram.graph import Ids, KnowledgeGraph
from ingram.models.ingram_q import InGramQ, QueryGraph
from ingram.splits import CoveringSplit, check_targets
from ingram.training.config import QueryConfig
from ingram.training.objectives import masked_cross_entropy
from ingram.training.questions import Questions, TrueAnswers
from ingram.training.streams import EPOCH, stream


@dataclass(frozen=True, eq=False)
class QueryEpoch:
    """targets: (T, 3) triples that are no facts of ``graph``."""

    graph: QueryGraph
    targets: Ids
    answers: TrueAnswers
    queries: int
    rng: np.random.Generator

    def ask(self) -> Questions:
        """The next step's questions: some targets, each asked from both sides."""
        count = min(self.queries // 2, len(self.targets))
        return self.answers.ask(self.targets[self.rng.choice(len(self.targets), count, False)])


class QueryEpochs:
    """The epochs of a run on one training graph."""

    def __init__(self, graph: KnowledgeGraph, config: QueryConfig) -> None:
        self.graph = graph
        self.config = config
        self.split = CoveringSplit(graph, config.training.message_share)
        check_targets(self.split)
        self.answers = TrueAnswers(graph)

    def prepare(self, number: int) -> QueryEpoch:
        """Epoch ``number``, counted from 1."""
        graph, training = self.graph, self.config.training
        rng = stream(training.seed, EPOCH, number)
        split_rng = rng if training.dynamic_split else np.random.default_rng(training.seed)
        is_fact = self.split.draw(split_rng)
        weights = None if graph.weights is None else graph.weights[is_fact]
        facts = graph.triples[is_fact]
        return QueryEpoch(
            QueryGraph.of(
                facts, graph.num_entities, graph.num_relations, self.config.model, weights
            ),
            graph.triples[~is_fact],
            self.answers,
            training.queries,
            rng,
        )


def query_loss(model: InGramQ, graph: QueryGraph, questions: Questions) -> Tensor:
    """Cross-entropy over all entities of the graph."""
    scores = model(graph, questions.anchors, questions.relations)
    return masked_cross_entropy(scores, questions)
