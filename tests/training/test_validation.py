"""Validation while training: which triples, and the mean over datasets."""

from dataclasses import replace

import numpy as np
import pytest

from ingram.answers import KnownAnswers
from ingram.evaluation.metrics import overall
from ingram.evaluation.ranking import rank
from ingram.graph import Dataset
from ingram.models import InGramQ
from ingram.training.config import EvaluationConfig
from ingram.training.learners import learner_of
from ingram.training.validation import Validation
from tests.strategies import graph_of, random_graph
from tests.tiny import tiny_dataset, tiny_query_config

CONFIG = tiny_query_config()
MODEL = InGramQ(CONFIG.model)
ONE, OTHER = tiny_dataset(), replace(tiny_dataset(seed=5), name="other")


def validation(*datasets, **changes):
    learner = learner_of([ONE.train], CONFIG)
    return Validation(datasets, learner, EvaluationConfig(**changes))


def figures(*datasets, **changes):
    return validation(*datasets, **changes).figures(MODEL, 1)[0]


def figures_of(dataset, triples=None, ties="realistic"):
    """Ranked apart from training."""
    scorer = MODEL.scorer(dataset.inference)
    triples = dataset.valid if triples is None else triples
    known = KnownAnswers.of(dataset)
    return overall(rank(scorer, triples, known, dataset.inference.num_entities), ties=ties)


@pytest.mark.parametrize("ties", ["realistic", "pessimistic"])
def test_the_figures_of_one_dataset_are_those_of_its_validation_triples(ties):
    wanted = figures_of(ONE, ties=ties)
    del wanted["queries"]
    assert figures(ONE, ties=ties) == pytest.approx(wanted)


def test_the_figures_of_several_are_their_means_however_many_triples_each_has():
    few = replace(OTHER, valid=OTHER.valid[:1])
    one, other, found = figures_of(ONE), figures_of(few), figures(ONE, few)
    for name in ("mr", "mrr", "hits@1", "hits@10"):
        assert found[name] == pytest.approx((one[name] + other[name]) / 2)
    assert found["by_graph"] == pytest.approx({"tiny": one["mrr"], "other": other["mrr"]})
    assert "by_graph" not in figures(ONE)


def test_datasets_of_one_name_are_told_apart():
    found = figures(ONE, replace(OTHER, name="tiny"), ONE)["by_graph"]
    assert list(found) == ["tiny", "tiny (2)", "tiny (3)"]
    assert found["tiny"] == found["tiny (3)"] != found["tiny (2)"]


def test_a_sample_is_the_same_at_every_validation_and_filtered_by_all_that_is_known():
    many = replace(ONE, valid=np.unique(np.concatenate([ONE.valid, OTHER.valid]), axis=0))
    found = validation(many, sample=4)
    [triples] = found.triples
    assert len(triples) == 4
    assert {tuple(t) for t in triples.tolist()} <= {tuple(t) for t in many.valid.tolist()}
    assert np.array_equal(validation(many, sample=4).triples[0], triples)
    assert found.figures(MODEL, 7)[0]["mrr"] == figures_of(many, triples)["mrr"]
    assert np.array_equal(validation(many, sample=100).triples[0], many.valid)


def test_chance_is_the_mean_reciprocal_of_random_ranks():
    harmonic = [sum(1 / rank for rank in range(1, n + 1)) / n for n in (12, 30)]
    larger = replace(ONE, inference=random_graph(0, 30, 4, 60))
    assert validation(ONE).chance == pytest.approx(harmonic[0])
    assert validation(ONE, larger).chance == pytest.approx(sum(harmonic) / 2)


def test_where_every_rank_is_sure_there_is_no_amri():
    """One candidate each: no rank could be worse than another."""
    lone = graph_of([(0, 0, 0)], 1, 2)
    sure = Dataset("sure", ONE.train, lone, np.array([[0, 1, 0]]), np.empty((0, 3), np.int64))
    found = figures(sure)
    assert (found["mrr"], found["amri"]) == (1, None)
    assert figures(sure, ONE)["amri"] == figures_of(ONE)["amri"]
