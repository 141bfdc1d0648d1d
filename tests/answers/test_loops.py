"""Whether an entity answers a question about itself."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.answers import KnownAnswers
from ingram.answers.loops import LOWEST, loopless, with_own
from ingram.embeddings import Embeddings
from ingram.errors import CalibrationError
from ingram.evaluation import TIES, rank
from ingram.inference.answer_sample import sample_answers
from ingram.inference.calibrating import fit
from ingram.inference.drift import drift
from ingram.inference.explaining import explain
from ingram.inference.together import Reranked
from tests.strategies import graph_of, random_graph, seeds
from tests.tiny import random_model, random_query_model, tiny_config, tiny_query_model_config

STATED = {"loops": "stated"}
GRAPH = graph_of([(0, 0, 1), (1, 0, 2), (2, 1, 2), (0, 1, 2)], 3, 2)


def embeddings_of(graph, seed, made=STATED):
    rng = np.random.default_rng(seed)  # whole numbers: many ties
    shapes = (graph.num_entities, 4), (graph.num_relations, 4), (graph.num_relations, 4)
    vectors = [torch.from_numpy(rng.integers(-2, 3, shape)).float() for shape in shapes]
    return Embeddings(*vectors[:2], graph, dict(made), None, vectors[2])


def test_a_relation_is_loopless_if_no_fact_joins_an_entity_to_itself():
    assert loopless(GRAPH).tolist() == [True, False]
    assert embeddings_of(GRAPH, 0).loopless.tolist() == [True, False]
    without_facts = embeddings_of(graph_of([], 3, 2), 0)
    assert without_facts.loopless.tolist() == [False, False]  # nothing tells


def test_own_entities_join_the_exclusions_once():
    pointers, excluded = torch.tensor([0, 2, 2, 3]), torch.tensor([4, 1, 2])
    found = with_own(pointers, excluded, torch.tensor([0, 1]), torch.tensor([1, 3]), 5)
    assert [part.tolist() for part in found] == [[0, 2, 3, 4], [1, 4, 3, 2]]


@pytest.mark.parametrize("make", [embeddings_of, lambda graph, seed: query_scorer(graph, "stated")])
def test_an_entity_is_lowest_where_it_is_no_answer(make):
    scorer = make(GRAPH, 0)
    anchors, relations = torch.tensor([0, 1, 2]), torch.tensor([0, 0, 1])
    for side in ("tail", "head"):
        scores = scorer.candidate_scores(anchors, relations, side)
        assert (scores == LOWEST).nonzero().tolist() == [[0, 0], [1, 1]]
    loops = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert (scorer.score(loops) == LOWEST).tolist() == [True, False, False]
    of_relations = scorer.relation_scores(torch.tensor([0, 0]), torch.tensor([0, 1]))
    assert (of_relations == LOWEST).tolist() == [[True, False], [False, False]]
    assert "e0" not in scorer.predict(head="e0", relation="r0", k=2)["tail"]


def query_scorer(graph, loops):
    return random_query_model(tiny_query_model_config(loops=loops)).scorer(graph)


def test_where_any_loop_counts_nothing_is_lowered():
    for scorer in (embeddings_of(GRAPH, 0, {}), query_scorer(GRAPH, "any")):
        scores = scorer.candidate_scores(torch.tensor([0]), torch.tensor([0]), "tail")
        assert (scores > LOWEST).all()


def test_an_explanation_ranks_as_an_answer_does():
    model = random_query_model(tiny_query_model_config(loops="stated"))
    answers = model.scorer(GRAPH).predict(head="e0", relation="r0", known="hide", k=3)
    for row in answers.iter_rows(named=True):
        found = explain(model, GRAPH, "e0", "r0", row["tail"])
        assert (found.rank, found.score) == (row["rank"], pytest.approx(row["score"]))


class Table:
    """The same scores as tables, ranked by the general way."""

    def __init__(self, scorer):
        self.candidate_scores = scorer.candidate_scores


@given(seed=seeds, sizes=st.tuples(st.integers(1, 8), st.integers(1, 3), st.integers(1, 40)))
def test_counted_ranks_are_those_of_tables_of_scores(seed, sizes):
    graph = random_graph(seed, *sizes)
    scorer = embeddings_of(graph, seed)
    n, m = graph.num_entities, graph.num_relations
    rng = np.random.default_rng(seed)
    asked = np.stack([rng.integers(0, n, 9), rng.integers(0, m, 9), rng.integers(0, n, 9)], axis=1)
    known = KnownAnswers(np.concatenate([graph.triples, asked]), m)
    counted, tables = (rank(one, asked, known, n) for one in (scorer, Table(scorer)))
    assert counted.with_columns(rank=TIES["realistic"]).equals(
        tables.with_columns(rank=TIES["realistic"])
    )


def test_what_is_no_answer_stands_in_no_table():
    scorer = embeddings_of(GRAPH, 0)
    assert sorted(scorer.predict(head="e0", relation="r0", k=9)["tail"]) == ["e1", "e2"]
    assert scorer.predict(head="e0", tail="e0", k=9)["relation"].to_list() == ["r1"]


@pytest.mark.parametrize("stated", [0, 1])
@pytest.mark.parametrize("candidates", [1, 2, 3])
def test_of_two_models_together_one_is_enough_to_keep_the_rule(stated, candidates):
    parts = [embeddings_of(GRAPH, seed, STATED if seed == stated else {}) for seed in (0, 1)]
    scores = Reranked(*parts, candidates).candidate_scores(
        torch.tensor([1]), torch.tensor([0]), "tail"
    )
    assert (scores == LOWEST).tolist() == [[False, True, False]]
    assert (scores[0, [0, 2]] > -1_000).all()


def test_a_loop_that_is_no_answer_says_nothing_of_scores():
    scorer = embeddings_of(GRAPH, 0)
    triples = np.array([[0, 0, 2], [1, 0, 1]])
    known = KnownAnswers(np.concatenate([GRAPH.triples, triples]), 2)
    sample = sample_answers(scorer, triples, known, np.random.default_rng(0))
    assert np.isfinite(sample.scores).all()
    assert set(sample.triples[sample.right]) == {0}
    assert (sample.scores > LOWEST).all()
    with pytest.raises(CalibrationError, match="want two validation triples"):
        fit(sample, "auto")


def test_vectors_read_back_with_their_graph_keep_the_rule(tmp_path):
    model = random_model(tiny_config(loops="stated"))
    model.embed(GRAPH).save(tmp_path / "vectors.parquet")
    anchor, relation = torch.tensor([0]), torch.tensor([0])
    again = Embeddings.load(tmp_path / "vectors.parquet", GRAPH)
    assert again.candidate_scores(anchor, relation, "tail")[0, 0] == LOWEST
    bare = Embeddings.load(tmp_path / "vectors.parquet")
    assert bare.candidate_scores(anchor, relation, "tail")[0, 0] > LOWEST


def test_drift_does_not_take_an_entity_for_its_own_first_answer():
    made = {"model": "a", "seed": 0, "draws": 1, "features": "labels"}
    graph = random_graph(0, 30, 1, 60)

    def unrelated(loops):
        found = []
        for seed in (0, 1):
            generator = torch.Generator().manual_seed(seed)
            vectors = torch.randn(30, 16, generator=generator)
            found.append(Embeddings(vectors, torch.ones(1, 16), graph, {**made, "loops": loops}))
        return drift(*found)

    assert unrelated("any").first > 0.9  # x . x is hard to beat
    assert unrelated("stated").first < 0.5
