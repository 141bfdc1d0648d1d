"""A run applied to a graph, whichever model it holds."""

import pytest
import torch

from ingram.embeddings import Embeddings
from ingram.errors import ConfigError, RunError
from ingram.inference.applying import apply_run, embedding_model, run_draws
from ingram.models import InGram, InGramQ
from ingram.models.ingram_q import QueryScorer
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import dump_config
from tests.strategies import random_graph
from tests.tiny import tiny_query_config, tiny_run_config

GRAPH = random_graph(0, 9, 3, 30)
CONFIGS = {"ingram": tiny_run_config(evaluation__draws=3), "ingram-q": tiny_query_config()}


@pytest.fixture
def runs(tmp_path):
    """A run directory of each model."""
    for name, config in CONFIGS.items():
        run = RunDirectory(tmp_path / name)
        run.make()
        (run.path / "config.yaml").write_text(dump_config(config))
        kind = InGramQ if name == "ingram-q" else InGram
        kind(config.model, seed=1).save(run.model_path, {})
    return tmp_path


def test_an_embedding_run_is_applied_with_its_own_number_of_draws_and_seed_0(runs):
    model = InGram.load(runs / "ingram")
    for found, wanted in (
        (apply_run(runs / "ingram", GRAPH), model.embed(GRAPH, seed=0, draws=3)),
        (apply_run(runs / "ingram", GRAPH, draws=2), model.embed(GRAPH, seed=0, draws=2)),
        (apply_run(runs / "ingram", GRAPH, seed=7), model.embed(GRAPH, seed=7, draws=3)),
    ):
        assert isinstance(found, Embeddings)
        assert torch.equal(found.entities, wanted.entities)
        assert found.made == wanted.made


def test_a_run_of_the_query_conditioned_model_is_applied_as_it_is(runs):
    found = apply_run(runs / "ingram-q", GRAPH)
    wanted = InGramQ.load(runs / "ingram-q").scorer(GRAPH)
    assert isinstance(found, QueryScorer)
    assert found.graph is GRAPH
    assert torch.equal(found.score(GRAPH.triples), wanted.score(GRAPH.triples))


@pytest.mark.parametrize("given", [{"draws": 1}, {"seed": 0}])
def test_draws_and_seed_are_refused_where_nothing_is_drawn(runs, given):
    with pytest.raises(ConfigError, match="ingram-q draws no random features"):
        apply_run(runs / "ingram-q", GRAPH, **given)


def test_only_the_embedding_model_gives_vectors(runs):
    assert isinstance(embedding_model(runs / "ingram"), InGram)
    with pytest.raises(ConfigError, match="holds ingram-q, which answers questions") as caught:
        embedding_model(runs / "ingram-q")
    assert "\n" not in str(caught.value)


def test_the_draws_of_a_run_are_those_of_its_settings(runs):
    assert run_draws(runs / "ingram") == 3
    with pytest.raises(RunError, match="want a run directory"):
        run_draws(runs)
