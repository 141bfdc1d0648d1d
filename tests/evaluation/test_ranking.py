"""Filtered ranks against a brute-force ranker on scores with many ties."""

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.answers import KnownAnswers
from ingram.embeddings import Embeddings
from ingram.errors import DivergedError
from ingram.evaluation import TIES, rank
from ingram.evaluation.ranking import RankCounter
from ingram.graph import Dataset
from tests.strategies import graph_of, random_graph, seeds


class TableScorer:
    """Scores drawn beforehand: one row for each (side, anchor, relation)."""

    def __init__(self, seed, num_entities, num_relations, levels=3, dtype=np.float32):
        rng = np.random.default_rng(seed)
        shape = (num_entities, num_relations, num_entities)
        self.rows = {
            side: rng.integers(0, levels, shape).astype(dtype) for side in ("tail", "head")
        }

    def candidate_scores(self, anchors, relations, side):
        return torch.from_numpy(self.rows[side][anchors.numpy(), relations.numpy()])


def brute_force(scorer, triples, known, num_entities):
    """{(triple, side): (rank by policy, candidates)}, from a sorted list of the candidates."""
    known = {tuple(t) for t in known.tolist()}
    places = {}
    for head, relation, tail in triples.tolist():
        for side, anchor, answer in (("tail", head, tail), ("head", tail, head)):
            row = scorer.rows[side][anchor, relation]
            other = {
                "tail": lambda c, h=head, r=relation: (h, r, c),
                "head": lambda c, t=tail, r=relation: (c, r, t),
            }[side]
            candidates = [c for c in range(num_entities) if c == answer or other(c) not in known]
            descending = sorted((row[c] for c in candidates), reverse=True)
            best = 1 + descending.index(row[answer])
            worst = len(descending) - descending[::-1].index(row[answer])
            places[(head, relation, tail), side] = {
                "optimistic": best,
                "pessimistic": worst,
                "realistic": (best + worst) / 2,
                "official": best + (worst - best) // 2,
                "candidates": len(candidates),
            }
    return places


def places_of(ranks, policy):
    table = ranks.with_columns(rank=TIES[policy])
    return {
        ((row["head"], row["relation"], row["tail"]), row["side"]): row["rank"]
        for row in table.iter_rows(named=True)
    }


@pytest.mark.parametrize("policy", list(TIES))
@given(seed=seeds, sizes=st.tuples(st.integers(1, 8), st.integers(1, 3), st.integers(1, 40)))
def test_ranks_are_those_of_a_sorted_list(policy, seed, sizes):
    graph = random_graph(seed, *sizes)
    n, m = graph.num_entities, graph.num_relations
    asked = graph.triples[: 1 + seed % 10]
    scorer = TableScorer(seed, n, m)
    ranks = rank(scorer, asked, KnownAnswers(graph.triples, m), n)
    wanted = brute_force(scorer, asked, graph.triples, n)
    assert places_of(ranks, policy) == {query: p[policy] for query, p in wanted.items()}
    assert {
        ((h, r, t), side): c
        for h, r, t, side, c in ranks.select(
            "head", "relation", "tail", "side", "candidates"
        ).rows()
    } == {query: p["candidates"] for query, p in wanted.items()}


@given(seeds)
def test_an_answer_that_the_filter_does_not_know_is_ranked_all_the_same(seed):
    graph = random_graph(seed, 6, 2, 20)
    scorer = TableScorer(seed, 6, 2)
    known, asked = graph.triples[3:], graph.triples[:3]
    ranks = rank(scorer, asked, KnownAnswers(known, 2), 6)
    wanted = brute_force(scorer, asked, known, 6)
    assert places_of(ranks, "realistic") == {q: p["realistic"] for q, p in wanted.items()}


@given(seeds)
def test_a_triple_that_stands_in_two_splits_is_filtered_once(seed):
    graph = random_graph(seed, 6, 2, 20)
    scorer = TableScorer(seed, 6, 2)
    twice = np.concatenate([graph.triples, graph.triples])
    once = rank(scorer, graph.triples, KnownAnswers(graph.triples, 2), 6)
    assert rank(scorer, graph.triples, KnownAnswers(twice, 2), 6).equals(once)


def test_the_filter_of_a_dataset_is_its_facts_validation_and_test():
    inference = graph_of([(0, 0, 1)], 5, 1)
    valid, test = np.array([[0, 0, 2]]), np.array([[0, 0, 3]])
    known = KnownAnswers.of(Dataset("d", inference, inference, valid, test))
    pointers, answers = known.of_queries(np.array([0, 1]), np.array([0, 0]), "tail")
    assert pointers.tolist() == [0, 3, 3]
    assert sorted(answers.tolist()) == [1, 2, 3]


@given(seeds, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=8))
def test_known_answers_are_those_of_a_search(seed, queries):
    graph = random_graph(seed, 6, 3, 30)
    known = KnownAnswers(graph.triples, 3)
    anchors, relations = np.array(queries, np.int64).reshape(-1, 2).T
    for side, given_at, asked_at in (("tail", 0, 2), ("head", 2, 0)):
        pointers, answers = known.of_queries(anchors, relations, side)
        for q, (anchor, relation) in enumerate(queries):
            wanted = [
                t[asked_at]
                for t in graph.triples.tolist()
                if (t[given_at], t[1]) == (anchor, relation)
            ]
            assert sorted(answers[pointers[q] : pointers[q + 1]].tolist()) == sorted(wanted)


@pytest.mark.parametrize("budget", [1, 4 * 7, 4 * 7 * 5, 10**9])
def test_the_budget_changes_nothing(budget):
    graph = random_graph(0, 7, 2, 30)
    known, scorer = KnownAnswers(graph.triples, 2), TableScorer(0, 7, 2)
    whole = rank(scorer, graph.triples, known, 7)
    assert rank(scorer, graph.triples, known, 7, budget=budget).equals(whole)
    assert whole["side"].to_list() == ["tail"] * graph.num_triples + ["head"] * graph.num_triples


def test_a_batch_of_scores_stays_within_the_budget():
    graph = random_graph(0, 50, 2, 200)
    scorer, largest = TableScorer(0, 50, 2), []

    class Watched:
        def candidate_scores(self, anchors, relations, side):
            scores = scorer.candidate_scores(anchors, relations, side)
            largest.append(scores.numel() * scores.element_size())
            return scores

    rank(Watched(), graph.triples, KnownAnswers(graph.triples, 2), 50, budget=4_000)
    assert max(largest) <= 4_000
    assert max(largest) > 2_000


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("side", ["head", "tail"])
def test_a_score_that_is_not_finite_is_refused(bad, side):
    graph = random_graph(0, 7, 2, 30)
    scorer = TableScorer(0, 7, 2)
    head, relation, tail = graph.triples[4]
    scorer.rows[side][head if side == "tail" else tail, relation, 3] = bad
    with pytest.raises(DivergedError, match="NaN or infinity"):
        rank(scorer, graph.triples, KnownAnswers(graph.triples, 2), 7)


def test_infinities_of_both_signs_do_not_cancel():
    graph = random_graph(0, 7, 2, 30)
    scorer = TableScorer(0, 7, 2)
    head, relation, _ = graph.triples[0]
    scorer.rows["tail"][head, relation, :2] = np.inf, -np.inf
    with pytest.raises(DivergedError):
        rank(scorer, graph.triples, KnownAnswers(graph.triples, 2), 7)


def test_no_triples_have_no_ranks_but_all_columns():
    graph = random_graph(0, 7, 2, 30)
    none = rank(TableScorer(0, 7, 2), graph.triples[:0], KnownAnswers(graph.triples, 2), 7)
    some = rank(TableScorer(0, 7, 2), graph.triples, KnownAnswers(graph.triples, 2), 7)
    assert len(none) == 0
    assert none.schema == some.schema
    assert isinstance(none, pl.DataFrame)


def random_embeddings(graph, width=5, scale=1.0):
    generator = torch.Generator().manual_seed(0)
    tables = [
        scale * torch.randn(count, width, generator=generator)
        for count in (graph.num_entities, graph.num_relations)
    ]
    return Embeddings(*tables, graph)


def test_embeddings_rank_without_a_table_of_scores_and_all_the_same():
    graph = random_graph(0, 300, 4, 900)
    embeddings, known = random_embeddings(graph), KnownAnswers(graph.triples, 4)

    class Tabled:
        def candidate_scores(self, anchors, relations, side):
            return embeddings.candidate_scores(anchors, relations, side)

    found = rank(embeddings, graph.triples[:200], known, 300)
    assert isinstance(embeddings, RankCounter)
    assert not isinstance(Tabled(), RankCounter)
    assert found.equals(rank(Tabled(), graph.triples[:200], known, 300))


def test_embeddings_whose_scores_overflow_are_refused():
    graph = random_graph(0, 50, 2, 90)
    known = KnownAnswers(graph.triples, 2)
    with pytest.raises(DivergedError, match="NaN or infinity"):
        rank(random_embeddings(graph, scale=1e20), graph.triples, known, 50)
