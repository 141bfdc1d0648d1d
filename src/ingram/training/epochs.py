"""What an epoch works on: a fresh split, its relation graph, features and negatives.

The draws of an epoch depend on the seed and its number alone, so a run resumes anywhere without a
generator's state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ingram.graph import KnowledgeGraph
from ingram.models.ingram import Features, MessageGraph
from ingram.splits import CoveringSplit, check_targets
from ingram.training.config import Config
from ingram.training.negatives import corrupt

EPOCH, VALIDATION, TEST = 0, 1, 2
"""Streams of randomness: generators are seeded with (seed, stream, epoch)."""


@dataclass(frozen=True, eq=False)
class Epoch:
    """triples: (T * (1 + N), 3): the targets, then the corruptions of each."""

    number: int
    graph: MessageGraph
    features: Features
    triples: Tensor
    positives: int


class Epochs:
    """The epochs of a run on one training graph."""

    def __init__(self, graph: KnowledgeGraph, config: Config) -> None:
        self.graph = graph
        self.config = config
        self.split = CoveringSplit(graph, config.training.message_share)
        check_targets(self.split)

    def prepare(self, number: int) -> Epoch:
        """Epoch ``number``, counted from 1."""
        training, n, m = self.config.training, self.graph.num_entities, self.graph.num_relations
        rng = np.random.default_rng([training.seed, EPOCH, number])
        split_rng = rng if training.dynamic_split else np.random.default_rng(training.seed)
        is_fact = self.split.draw(split_rng)
        targets = self.graph.triples[~is_fact]
        weights = None if self.graph.weights is None else self.graph.weights[is_fact]
        false = corrupt(targets, n, training.negatives, rng=rng)
        return Epoch(
            number,
            MessageGraph.of(self.graph.triples[is_fact], n, m, self.config.model, weights),
            Features.draw(n, m, self.config.model, rng),
            torch.from_numpy(np.concatenate([targets, false])),
            len(targets),
        )
