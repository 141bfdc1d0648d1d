"""An epoch of the embedding model: a fresh split, its relation graph, features and targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ingram.graph import Ids, KnowledgeGraph
from ingram.kernels.adjacency import BYTES_A_TRIPLE, Adjacency
from ingram.kernels.edge_attention import kept_of_an_edge
from ingram.kernels.parallel import together
from ingram.kernels.triple_scores import triple_scores
from ingram.models.features import Features
from ingram.models.ingram import InGram, MessageGraph
from ingram.training.config import Config, EmbeddingTraining
from ingram.training.epoch_splits import EpochSplits, weights_of
from ingram.training.negatives import with_corruptions
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
        self.config = config
        self.splits = EpochSplits(graph, config.training, config.tasks)
        self.answers = TrueAnswers(self.splits.whole)

    def prepare(self, number: int) -> EmbeddingEpoch:
        """Epoch ``number``, counted from 1."""
        training, model = self.config.training, self.config.model
        rng = stream(training.seed, EPOCH, number)
        task, is_fact = self.splits.draw(rng)
        n, m = task.num_entities, task.num_relations
        facts = task.triples.compress(is_fact, axis=0)
        targets = task.triples.compress(~is_fact, axis=0)

        def draw() -> tuple[Tensor | None, Questions | None, Features]:
            triples = questions = None
            if training.objective == "margin":
                drawn = with_corruptions(targets, n, training.negatives, rng=rng)
                triples = torch.from_numpy(drawn)
            else:
                answers = self.answers if task is self.splits.whole else TrueAnswers(task)
                questions = answers.ask(_some(targets, training.queries // 2, rng))
            return triples, questions, Features.draw(n, m, model, rng, training.draws)

        parts = MessageGraph.parts(facts, n, m, model, weights_of(task, is_fact))
        drawn, *made = together(draw, *(partial(_both_ways, make) for make in parts.values()))
        graph = MessageGraph(**dict(zip(parts, made, strict=True)))
        triples, questions, features = drawn
        return EmbeddingEpoch(graph, features, triples, len(targets), questions)


def _both_ways(make: Callable[[], Any]) -> Any:
    """Edges that gradients will want by their sources too: now that a thread may be free."""
    made = make()
    if isinstance(made, Adjacency):
        made.outgoing  # noqa: B018 -- it is kept
    return made


def epoch_bytes(config: Config, graph: KnowledgeGraph) -> int:
    """Of one step: edges, five arrays a layer that backward reads and six it fills, the targets.

    Of an edge a layer keeps a weight and signs, head by head. Of a sketch there are three blocks,
    and as many again for each of what backward fills.
    """
    model, training = config.model, config.training
    entities, triples = config.tasks.largest(graph.num_entities, graph.num_triples)
    layers = entities * model.entity_hidden * (5 * model.entity_layers + 6)
    layers += 15 * entities * model.sketch_width
    layers += 2 * graph.num_relations * model.relation_hidden * (5 * model.relation_layers + 6)
    of_edges = kept_of_an_edge(model.entity_hidden // model.entity_heads) * model.entity_heads
    edges = round(2 * training.message_share * triples) + entities
    layers += edges * of_edges * model.entity_layers
    targets = round((1 - training.message_share) * triples)
    predicted = 64 * targets * (1 + training.negatives)
    if training.objective == "cross-entropy":
        predicted = 24 * min(training.queries, 2 * targets) * entities
    return 4 * layers * training.draws + 2 * BYTES_A_TRIPLE * triples + predicted


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
    q, asked = epoch.questions, epoch.questions.relations
    if model.config.head_questions == "relation":  # DistMult treats both sides alike
        asked = asked % (len(relations) // 2)
    scores = (entities[q.anchors] * relations[asked]) @ entities.T
    return masked_cross_entropy(scores, q)


def _concatenated(drawn: Tensor) -> Tensor:
    """(S, count, width) -> (count, S * width)."""
    return drawn[0] if len(drawn) == 1 else drawn.transpose(0, 1).flatten(1)
