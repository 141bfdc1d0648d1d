"""What a model learns from in an epoch, and how it is asked at a validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from torch import Tensor

from ingram.answers import GraphScorer
from ingram.graph import KnowledgeGraph
from ingram.models import InGram, InGramQ
from ingram.training.config import Config, QueryConfig
from ingram.training.embedding_epochs import EmbeddingEpochs, embedding_loss
from ingram.training.query_epochs import QueryEpochs, query_loss
from ingram.training.sources import Choice
from ingram.training.streams import VALIDATION


class Learner(Protocol):
    """One model's way of learning from graphs."""

    def losses(self, model: Any, number: int) -> Iterator[Tensor]:
        """The losses of epoch ``number``, counted from 1: one for each optimiser step."""
        ...

    def scorer(
        self, model: Any, graph: KnowledgeGraph, epoch: int
    ) -> tuple[GraphScorer, dict[str, Any]]:
        """The model on a validation graph, and what a test needs to know to repeat it."""
        ...


class EmbeddingLearner:
    """Section 5.4: a fresh split and fresh features, one step with all that is to be predicted."""

    def __init__(self, graphs: Sequence[KnowledgeGraph], config: Config) -> None:
        self.config = config
        self.choice = Choice(graphs, config)
        self.sources = [EmbeddingEpochs(graph, config) for graph in graphs]

    def losses(self, model: InGram, number: int) -> Iterator[Tensor]:
        training = self.config.training
        source = self.sources[self.choice.of_epoch(number)]
        yield embedding_loss(model, source.prepare(number), training)

    def scorer(
        self, model: InGram, graph: KnowledgeGraph, epoch: int
    ) -> tuple[GraphScorer, dict[str, Any]]:
        draws = self.config.evaluation.draws
        features = [self.config.training.seed, VALIDATION, epoch]
        made = {"features": features, "draws": draws}
        embeddings = model.embed(
            graph, seed=features, draws=draws, features="rows", ensure_memory=False
        )
        return embeddings, made


class QueryLearner:
    """A fresh split, several steps with some questions each."""

    def __init__(self, graphs: Sequence[KnowledgeGraph], config: QueryConfig) -> None:
        self.config = config
        self.choice = Choice(graphs, config)
        self.sources = [QueryEpochs(graph, config) for graph in graphs]

    def losses(self, model: InGramQ, number: int) -> Iterator[Tensor]:
        training = self.config.training
        source = self.sources[self.choice.of_epoch(number)]
        epoch = source.prepare(number)
        for _ in range(training.steps):
            yield query_loss(model, epoch.graph, epoch.ask(), training.power)

    def scorer(
        self, model: InGramQ, graph: KnowledgeGraph, epoch: int
    ) -> tuple[GraphScorer, dict[str, Any]]:
        return model.scorer(graph, ensure_memory=False), {}


def learner_of(graphs: Sequence[KnowledgeGraph], config: Config | QueryConfig) -> Learner:
    """The learner of the configuration's model."""
    if isinstance(config, QueryConfig):
        return QueryLearner(graphs, config)
    return EmbeddingLearner(graphs, config)
