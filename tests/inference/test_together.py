"""Two models together against the slow way: sort, cut, sort again; or add."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.answers import GraphScorer
from ingram.answers.loops import LOWEST
from ingram.errors import ConfigError, DivergedError
from ingram.inference.together import Added, Reranked
from tests.strategies import graph_of, random_graph
from tests.tiny import random_model, random_query_model, tiny_config

LARGE = 1e6


class Fixed(GraphScorer):
    """The same scores for every question."""

    def __init__(self, scores):
        self.scores = torch.tensor([scores])
        self.graph = graph_of([], len(scores), 1)

    def candidate_scores(self, anchors, relations, side):
        return self.scores.expand(len(anchors), -1)

    def score(self, triples):
        return self.scores[0, torch.from_numpy(triples[:, 2].copy())]


def together(proposer, ranker, candidates):
    zero = torch.zeros(1, dtype=torch.long)
    return Reranked(proposer, ranker, candidates).candidate_scores(zero, zero, "tail")[0]


def by_brute_force(proposed, ranked, candidates):
    """Entities from the best to the worst: the first ones by the ranker, then as proposed."""
    order = sorted(range(len(proposed)), key=lambda e: -proposed[e])
    first = sorted(order[:candidates], key=lambda e: -ranked[e])
    return first, order[candidates:]


scores = st.floats(-LARGE, LARGE, width=32)


@given(st.data(), st.integers(1, 8), st.integers(1, 10))
def test_the_best_are_ranked_anew_and_the_rest_follows_as_proposed(data, count, candidates):
    distinct = st.lists(scores, min_size=count, max_size=count, unique=True)
    proposed, ranked = data.draw(distinct), data.draw(distinct)
    found = together(Fixed(proposed), Fixed(ranked), candidates)
    first, rest = by_brute_force(proposed, ranked, candidates)
    assert found.argsort(descending=True, stable=True).tolist() == first + rest
    assert len(set(found.tolist())) == count
    assert found[first].tolist() == torch.tensor(ranked)[first].tolist()


def test_a_difference_too_small_to_be_told_beside_a_large_score_keeps_its_order():
    proposed = [1.0, 2e-8, 1e-8, 3e-8]
    found = together(Fixed(proposed), Fixed([1e5, 0.0, 0.0, 0.0]), 1)
    assert found.argsort(descending=True).tolist() == [0, 3, 1, 2]


def test_scores_that_were_equal_stay_equal_below_the_proposed():
    found = together(Fixed([5.0, 2.0, 2.0, 1.0]), Fixed([-3.0, 0.0, 0.0, 0.0]), 1)
    assert found.tolist() == [-3, -5, -5, -6]


def test_of_equal_proposals_the_first_are_ranked_anew():
    found = together(Fixed([2.0, 2.0, 2.0, 1.0]), Fixed([7.0, 9.0, 99.0, 99.0]), 2)
    assert found.argsort(descending=True).tolist() == [1, 0, 2, 3]


def test_two_models_together_answer_as_one():
    graph = random_graph(0, 12, 3, 50)
    proposer = random_model(tiny_config()).embed(graph, draws=2)
    ranker = random_query_model().scorer(graph)
    both = Reranked(proposer, ranker, 4)
    anchors, relations = torch.tensor([3, 0, 3]), torch.tensor([1, 2, 0])
    for side in ("head", "tail"):
        found = both.candidate_scores(anchors, relations, side)
        parts = [s.candidate_scores(anchors, relations, side) for s in (proposer, ranker)]
        for row, proposed, ranked in zip(found, *parts, strict=True):
            first, rest = by_brute_force(proposed.tolist(), ranked.tolist(), 4)
            assert row.argsort(descending=True).tolist() == first + rest
    assert torch.equal(both.score(graph.triples), ranker.score(graph.triples))
    table = both.predict(head="e3", relation="r1", k=12)
    best = both.candidate_scores(torch.tensor([3]), torch.tensor([1]), "tail")[0]
    assert table["tail"].to_list() == [f"e{i}" for i in best.argsort(descending=True).tolist()]


def test_more_candidates_than_entities_is_the_ranker_alone():
    graph = random_graph(0, 12, 3, 50)
    proposer = random_model(tiny_config()).embed(graph)
    ranker = random_query_model().scorer(graph)
    query = (torch.tensor([3]), torch.tensor([1]), "tail")
    found = Reranked(proposer, ranker, 100).candidate_scores(*query)
    torch.testing.assert_close(found, ranker.candidate_scores(*query))


@pytest.mark.parametrize("which", [0, 1], ids=["proposer", "ranker"])
def test_a_diverged_model_of_the_two_is_refused(which):
    scorers = [Fixed([1.0, 2.0]), Fixed([1.0, 2.0])]
    scorers[which].scores[0, 1] = np.nan
    with pytest.raises(DivergedError, match="scores hold NaN or infinity"):
        Reranked(*scorers, 1).predict(head="e0", relation="r0")


def test_no_candidates_are_refused():
    with pytest.raises(ConfigError, match="want at least one candidate to rank anew, got 0"):
        Reranked(Fixed([1.0]), Fixed([1.0]), 0)


def test_a_loop_that_either_model_rules_out_scores_lowest_as_a_triple_too():
    graph = graph_of([(0, 0, 1), (1, 1, 2), (2, 1, 2)], 3, 2)  # of relation 1 there is a loop
    stated = random_model(tiny_config(loops="stated")).embed(graph)
    both = Reranked(stated, random_query_model().scorer(graph), 2)
    one = torch.tensor([1])
    for relation, ruled_out in ((0, True), (1, False)):
        table = both.candidate_scores(one, torch.tensor([relation]), "tail")
        loop = both.score(np.array([[1, relation, 1]])).item()
        assert (loop == LOWEST) == ruled_out == (table[0, 1].item() == LOWEST)
        assert both.relation_scores(one, one)[0, relation].item() == pytest.approx(loop)


@pytest.mark.parametrize("side", ["tail", "head"])
def test_added_scores_are_the_first_s_and_the_mean_over_draws_of_the_second_s(side):
    graph = random_graph(4, 7, 2, 16)
    vectors = random_model(tiny_config()).embed(graph, draws=3)
    asked = random_query_model().scorer(graph)
    anchors, relations = torch.tensor([0, 3, 5]), torch.tensor([1, 0, 1])
    question = (anchors, relations, side)
    one, other = (s.candidate_scores(*question) for s in (asked, vectors))
    found = Added(asked, vectors, 0.5).candidate_scores(*question)
    torch.testing.assert_close(found, one + 0.5 * other / 3)
    found = Added(vectors, asked, 0.5).candidate_scores(*question)
    torch.testing.assert_close(found, other + 0.5 * one * 3)
    triples = graph.triples[:5]
    wanted = asked.score(triples) + 0.5 * vectors.score(triples) / 3
    torch.testing.assert_close(Added(asked, vectors, 0.5).score(triples), wanted)


def test_scores_of_three_are_added_each_by_its_kind():
    graph = random_graph(4, 7, 2, 16)
    vectors = random_model(tiny_config()).embed(graph, draws=3)
    asked, twin = (random_query_model(seed=seed).scorer(graph) for seed in (0, 1))
    question = (torch.tensor([0, 3]), torch.tensor([1, 0]), "tail")
    one, two, three = (s.candidate_scores(*question) for s in (asked, twin, vectors))
    found = Added(Added(asked, twin), vectors).candidate_scores(*question)
    torch.testing.assert_close(found, one + two + 0.2 * three / 3)
    found = Added(Added(vectors, asked), twin).candidate_scores(*question)
    torch.testing.assert_close(found, three + 3 * (one + two))


def test_added_scores_keep_the_rule_about_loops_of_either():
    graph = graph_of([(0, 0, 1), (1, 1, 2), (2, 1, 2)], 3, 2)  # of relation 1 there is a loop
    stated = random_model(tiny_config(loops="stated")).embed(graph)
    anything = random_query_model().scorer(graph)
    for first, second in ((stated, anything), (anything, stated)):
        both = Added(first, second, 0.1)
        table = both.candidate_scores(torch.tensor([1, 1]), torch.tensor([0, 1]), "tail")
        assert (table == LOWEST).tolist() == [[False, True, False], [False] * 3]
        assert both.score(np.array([[1, 0, 1]])).item() == LOWEST


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), float("nan")])
def test_a_weight_that_is_none_is_refused(weight):
    one = Fixed([1.0, 2.0])
    with pytest.raises(ConfigError, match="want a weight above 0"):
        Added(one, one, weight)
