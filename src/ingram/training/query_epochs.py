"""An epoch of the query-conditioned model: a fresh split and questions about what it holds out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from ingram.datasets.subgraphs import Mask
from ingram.graph import Ids, KnowledgeGraph
from ingram.models.ingram_q import InGramQ, QueryGraph
from ingram.splits import CoveringSplit, check_targets
from ingram.training.config import QueryConfig
from ingram.training.objectives import masked_cross_entropy
from ingram.training.questions import Questions, TrueAnswers
from ingram.training.streams import EPOCH, stream
from ingram.training.tasks import TRIES, Task, TaskSampler


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
        self.whole = Task.whole(graph)
        self.sampler = TaskSampler(self.whole, config.tasks) if config.tasks.cut else None
        self.split = CoveringSplit(self.whole, config.training.message_share)
        check_targets(self.split)
        self.answers = TrueAnswers(self.whole)

    def prepare(self, number: int) -> QueryEpoch:
        """Epoch ``number``, counted from 1."""
        training = self.config.training
        rng = stream(training.seed, EPOCH, number)
        task, is_fact = self._split(rng)
        answers = self.answers if task is self.whole else TrueAnswers(task)
        graph = QueryGraph.of(
            task.triples[is_fact],
            task.num_entities,
            task.num_relations,
            self.config.model,
            None if task.weights is None else task.weights[is_fact],
        )
        return QueryEpoch(graph, task.triples[~is_fact], answers, training.queries, rng)

    def _split(self, rng: np.random.Generator) -> tuple[Task, Mask]:
        """A task and which of its triples are facts; one that leaves nothing to ask is passed over.

        Where the tree and the cover take all triples of every task, the whole graph serves.
        """
        training = self.config.training
        if self.sampler is not None:
            for _ in range(TRIES):
                task = self.sampler.draw(rng)
                is_fact = CoveringSplit(task, training.message_share).draw(rng)
                if len(is_fact) - is_fact.sum() >= training.queries // 2:
                    return task, is_fact
        fixed = stream(training.seed, EPOCH, 0)
        return self.whole, self.split.draw(rng if training.dynamic_split else fixed)


def query_loss(model: InGramQ, graph: QueryGraph, questions: Questions) -> Tensor:
    """Cross-entropy over all entities of the graph."""
    scores = model(graph, questions.anchors, questions.relations)
    return masked_cross_entropy(scores, questions)
