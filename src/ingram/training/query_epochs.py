"""An epoch of the query-conditioned model: a fresh split and questions about what it holds out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from ingram.graph import Ids, KnowledgeGraph
from ingram.kernels.adjacency import BYTES_A_TRIPLE
from ingram.models.ingram_q import InGramQ, QueryGraph
from ingram.training.config import QueryConfig
from ingram.training.epoch_splits import EpochSplits, weights_of
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
        self.config = config
        self.splits = EpochSplits(graph, config.training, config.tasks)
        self.answers = TrueAnswers(self.splits.whole, config.model.loops)

    def prepare(self, number: int) -> QueryEpoch:
        """Epoch ``number``, counted from 1."""
        training, model = self.config.training, self.config.model
        rng = stream(training.seed, EPOCH, number)
        task, is_fact = self.splits.draw(rng)
        whole = task is self.splits.whole
        answers = self.answers if whole else TrueAnswers(task, model.loops)
        graph = QueryGraph.of(
            task.triples.compress(is_fact, axis=0),
            task.num_entities,
            task.num_relations,
            model,
            weights_of(task, is_fact),
        )
        return QueryEpoch(
            graph, task.triples.compress(~is_fact, axis=0), answers, training.queries, rng
        )


def epoch_bytes(config: QueryConfig, graph: KnowledgeGraph) -> int:
    """Of one step: edges, and seven arrays of states a layer, kept or filled by backward.

    Maxima, what they need to be differentiated, and their gradients are three more.
    """
    model = config.model
    entities, triples = config.tasks.largest(graph.num_entities, graph.num_triples)
    arrays = 3 * model.maxima + 7
    rows = arrays * model.entity_layers * entities
    rows += 7 * model.relation_layers * 2 * graph.num_relations
    return 2 * BYTES_A_TRIPLE * triples + 4 * model.width * config.training.queries * rows


def query_loss(
    model: InGramQ, graph: QueryGraph, questions: Questions, power: float = 0.0
) -> Tensor:
    """Cross-entropy over all entities of the graph, or its ``power``."""
    scores = model(graph, questions.anchors, questions.relations)
    return masked_cross_entropy(scores, questions, power)
