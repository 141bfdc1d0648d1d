"""An epoch of the embedding model: a fresh split, its relation graph, features and targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ingram.graph import Ids, KnowledgeGraph
from ingram.kernels.triple_scores import triple_scores
from ingram.models.ingram import Features, InGram, MessageGraph
from ingram.splits import CoveringSplit, check_targets
from ingram.training.config import Config, EmbeddingTraining
from ingram.training.negatives import corrupt
from ingram.training.objectives import margin_loss, masked_cross_entropy
from ingram.training.questions import Questions, TrueAnswers
from ingram.training.streams import EPOCH, stream


@dataclass(frozen=True, eq=False)
class EmbeddingEpoch:
    """What is predicted: triples (T * (1 + N), 3), the targets and then the corruptions of each;
    or questions with the answers to leave out.
    """

    graph: MessageGraph
    features: Features
    triples: Tensor | None = None
    positives: int = 0
    questions: Questions | None = None


class EmbeddingEpochs:
    """The epochs of a run on one training graph."""

    def __init__(self, graph: KnowledgeGraph, config: Config) -> None:
        self.graph = graph
        self.config = config
        self.split = CoveringSplit(graph, config.training.message_share)
        check_targets(self.split)
        if config.training.objective == "cross-entropy":
            self.answers = TrueAnswers(graph)

    def prepare(self, number: int) -> EmbeddingEpoch:
        """Epoch ``number``, counted from 1."""
        training, n, m = self.config.training, self.graph.num_entities, self.graph.num_relations
        rng = stream(training.seed, EPOCH, number)
        split_rng = rng if training.dynamic_split else np.random.default_rng(training.seed)
        is_fact = self.split.draw(split_rng)
        targets = self.graph.triples[~is_fact]
        weights = None if self.graph.weights is None else self.graph.weights[is_fact]
        triples = questions = None
        if training.objective == "margin":
            false = corrupt(targets, n, training.negatives, rng=rng)
            triples = torch.from_numpy(np.concatenate([targets, false]))
        else:
            questions = self.answers.ask(_some(targets, training.queries // 2, rng))
        return EmbeddingEpoch(
            MessageGraph.of(self.graph.triples[is_fact], n, m, self.config.model, weights),
            Features.draw(n, m, self.config.model, rng, training.draws),
            triples,
            len(targets),
            questions,
        )


def _some(triples: Ids, count: int, rng: np.random.Generator) -> Ids:
    if len(triples) <= count:
        return triples
    return triples[rng.choice(len(triples), count, replace=False)]


def embedding_loss(model: InGram, epoch: EmbeddingEpoch, training: EmbeddingTraining) -> Tensor:
    """F_tr is the message graph, T_tr the batch. Draws are concatenated, as in inference."""
    drawn, kinds = model(epoch.graph, epoch.features)
    entities, relations = _concatenated(drawn), _concatenated(kinds)
    if epoch.triples is not None:
        scores = triple_scores(entities, relations, epoch.triples)
        positive, negative = scores[: epoch.positives], scores[epoch.positives :]
        return margin_loss(positive, negative.view(-1, training.negatives), training.margin)
    assert epoch.questions is not None
    q, m = epoch.questions, len(relations) // 2
    # DistMult treats both sides alike: the head of (?, r, t) is asked with r itself.
    scores = (entities[q.anchors] * relations[q.relations % m]) @ entities.T
    return masked_cross_entropy(scores, q)


def _concatenated(drawn: Tensor) -> Tensor:
    """(S, count, width) -> (count, S * width)."""
    return drawn[0] if len(drawn) == 1 else drawn.transpose(0, 1).flatten(1)
