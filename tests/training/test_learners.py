"""What a model learns from in an epoch, of one graph or several."""

from collections import Counter

import numpy as np
import pytest
import torch

from ingram.embeddings import Embeddings
from ingram.errors import ConfigError
from ingram.models import InGram, InGramQ
from ingram.models.ingram_q import QueryScorer
from ingram.training.embedding_epochs import EmbeddingEpochs, embedding_loss
from ingram.training.learners import EmbeddingLearner, QueryLearner, learner_of
from ingram.training.query_epochs import QueryEpochs, query_loss
from ingram.training.sources import Choice
from tests.strategies import graph_of, random_graph
from tests.tiny import tiny_query_config, tiny_run_config

GRAPHS = [random_graph(seed, 10 + seed, 3, 60) for seed in range(3)]
QUERY = tiny_query_config(tasks__cut=False, training__power=0.0)
MODELS = {
    "ingram": (tiny_run_config(), InGram, EmbeddingEpochs, EmbeddingLearner),
    "ingram-q": (QUERY, InGramQ, QueryEpochs, QueryLearner),
}


@pytest.fixture
def taken(monkeypatch):
    """Which graph each prepared epoch was of, by its number of entities."""
    seen = {}
    for epochs in (EmbeddingEpochs, QueryEpochs):
        original = epochs.prepare

        def noted(self, number, original=original):
            epoch = original(self, number)
            seen[number] = epoch.graph.entities.num_nodes
            return epoch

        monkeypatch.setattr(epochs, "prepare", noted)
    return seen


def losses(learner, model, number):
    return [loss.item() for loss in learner.losses(model, number)]


@pytest.mark.parametrize("name", MODELS)
def test_each_epoch_takes_one_of_several_graphs_drawn_by_seed_and_number(name, taken):
    config, make, _, kind = MODELS[name]
    learner, model = learner_of(GRAPHS, config), make(config.model)
    assert isinstance(learner, kind)
    for number in range(1, 31):
        losses(learner, model, number)
    first = dict(taken)
    assert set(first.values()) == {10, 11, 12}
    assert min(Counter(first.values()).values()) >= 4  # thirty throws of a fair die
    again = learner_of(GRAPHS, config)
    for number in (17, 3):
        losses(again, model, number)
        assert taken[number] == first[number]
    other = learner_of(GRAPHS, config.with_settings({"training.seed": 1}))
    for number in range(1, 31):
        losses(other, model, number)
    assert taken != first


def test_graphs_are_taken_alike_or_by_their_triples():
    graphs = [graph_of([(0, 0, tail) for tail in range(size)], size, 1) for size in (5, 15)]
    for sources, wanted in (("alike", 500), ("triples", 750)):
        choice = Choice(graphs, QUERY.with_settings({"training.sources": sources}))
        counts = np.bincount([choice.of_epoch(number) for number in range(1, 1_001)])
        assert counts[1] == pytest.approx(wanted, abs=60)  # four standard deviations


def test_of_one_graph_there_is_nothing_to_choose():
    with pytest.raises(ConfigError, match="there is but one"):
        learner_of(GRAPHS[:1], QUERY.with_settings({"training.sources": "triples"}))


def test_an_epoch_of_the_embedding_model_is_one_step_on_the_whole_of_its_split():
    config = MODELS["ingram"][0]
    model = InGram(config.model)
    [found] = losses(learner_of(GRAPHS[:1], config), model, 5)
    epoch = EmbeddingEpochs(GRAPHS[0], config).prepare(5)
    assert found == embedding_loss(model, epoch, config.training).item()


def test_an_epoch_of_the_query_conditioned_model_is_several_steps_on_one_split():
    model = InGramQ(QUERY.model)
    config = QUERY.with_settings({"training.steps": 3})
    found = losses(learner_of(GRAPHS[:1], config), model, 5)
    epoch = QueryEpochs(GRAPHS[0], config).prepare(5)
    assert found == [query_loss(model, epoch.graph, epoch.ask()).item() for _ in range(3)]
    assert len(set(found)) == 3


def test_the_settings_of_questions_reach_them():
    config = tiny_query_config(tasks__cut=False, training__power=0.5)
    model = InGramQ(config.model, seed=0)
    mild, plain = (
        losses(QueryLearner(GRAPHS[:1], one), model, 1)
        for one in (config, config.with_settings({"training.power": 0}))
    )
    assert all(m < min(p, 2) for m, p in zip(mild, plain, strict=True))  # (1 - p^.5) / .5 < 2
    graph = graph_of(GRAPHS[0].triples[GRAPHS[0].triples[:, 0] != GRAPHS[0].triples[:, 2]], 10, 3)
    assert QueryEpochs(graph, config).answers.loopless.all()
    for name in ("default", "paper"):  # vectors are better with the anchor among the false answers
        assert not EmbeddingEpochs(graph, tiny_run_config(name)).answers.loopless.any()


def test_a_step_is_made_before_the_next_questions_are_answered():
    """Losses come one by one: each is of the weights as they are then."""
    model = InGramQ(QUERY.model)
    stream = learner_of(GRAPHS[:1], QUERY).losses(model, 1)
    next(stream)
    with torch.no_grad():
        model.score_output.weight.zero_()
        model.score_output.bias.zero_()
    epoch = QueryEpochs(GRAPHS[0], QUERY).prepare(1)
    epoch.ask()
    questions = epoch.ask()
    rivals = torch.full((8,), 10.0).index_add(0, questions.rows, -torch.ones(len(questions.rows)))
    torch.testing.assert_close(next(stream), rivals.log().mean())


def test_a_validation_graph_is_read_as_the_model_wants_it():
    config = MODELS["ingram"][0]
    scorer, made = learner_of(GRAPHS, config).scorer(InGram(config.model), GRAPHS[0], 40)
    assert isinstance(scorer, Embeddings)
    assert made == {"features": [0, 1, 40], "draws": 8}
    assert scorer.made["seed"] == [0, 1, 40]
    scorer, made = learner_of(GRAPHS, QUERY).scorer(InGramQ(QUERY.model), GRAPHS[0], 40)
    assert isinstance(scorer, QueryScorer)
    assert made == {}
