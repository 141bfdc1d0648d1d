"""The split of every epoch: facts to read and targets to predict, of a graph or of a task."""

from __future__ import annotations

import numpy as np

from ingram.datasets.subgraphs import Mask
from ingram.graph import KnowledgeGraph, Weights
from ingram.splits import CoveringSplit, check_targets
from ingram.training.config import TrainingConfig
from ingram.training.streams import EPOCH, stream
from ingram.training.task_config import TaskConfig
from ingram.training.tasks import TRIES, Task, TaskSampler

FEWEST_TARGETS = 16
"""A task that leaves fewer to predict is passed over."""


class EpochSplits:
    """Draws splits of one training graph."""

    def __init__(self, graph: KnowledgeGraph, training: TrainingConfig, tasks: TaskConfig) -> None:
        self.training = training
        self.whole = Task.whole(graph)
        self.sampler = TaskSampler(self.whole, tasks) if tasks.cut else None
        self.split = CoveringSplit(self.whole, training.message_share)
        check_targets(self.split)

    def draw(self, rng: np.random.Generator) -> tuple[Task, Mask]:
        """A task and which of its triples are facts.

        Where the tree and the cover take all triples of every task, the whole graph serves.
        """
        if self.sampler is not None:
            for _ in range(TRIES):
                task = self.sampler.draw(rng)
                if task is self.whole:
                    break
                is_fact = CoveringSplit(task, self.training.message_share).draw(rng)
                if len(is_fact) - is_fact.sum() >= FEWEST_TARGETS:
                    return task, is_fact
        if not self.training.dynamic_split:
            rng = stream(self.training.seed, EPOCH, 0)
        return self.whole, self.split.draw(rng)


def weights_of(task: Task, is_fact: Mask) -> Weights | None:
    """The facts' weights, if the graph has any."""
    return None if task.weights is None else task.weights[is_fact]
