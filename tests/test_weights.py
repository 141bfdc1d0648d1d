"""Weights: how often a triple counts in the relation graph."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.errors import TriplesError
from ingram.graph import KnowledgeGraph
from ingram.models.config import ModelConfig
from ingram.models.ingram import InGram
from ingram.relation_graph import affinities, build_relation_graph
from ingram.splits import three_way_split
from ingram.training.embedding_epochs import EmbeddingEpochs
from ingram.training.presets import PRESETS


def weighted(rows):
    schema = {"head": pl.String, "relation": pl.String, "tail": pl.String, "weight": pl.Float64}
    return KnowledgeGraph.from_labels(pl.DataFrame(rows, schema=schema, orient="row"))


@st.composite
def facts(draw, low=1, high=30):
    """Distinct triples over few entities and relations, with whole weights."""
    ids = st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 6))
    triples = draw(st.lists(ids, min_size=low, max_size=high, unique=True))
    weights = draw(st.lists(st.integers(1, 4), min_size=len(triples), max_size=len(triples)))
    return [
        (f"e{h}", f"r{r}", f"e{t}", float(w)) for (h, r, t), w in zip(triples, weights, strict=True)
    ]


def test_a_triple_of_weight_three_counts_three_times_in_the_affinity():
    # v is head of r0 three times and of r1 once: E_h[v] = (3, 1), degree 4.
    triples = np.array([[0, 0, 1], [0, 1, 2]])
    affinity = affinities(triples, 3, 2, np.array([3.0, 1.0])).toarray()
    head = np.array([[9, 3], [3, 1]]) / 16
    tail = np.eye(2)  # each tail has one relation only
    np.testing.assert_allclose(affinity, head + tail)


@given(facts())
@settings(max_examples=50, deadline=None)
def test_a_whole_weight_is_the_same_as_the_triple_written_so_often(rows):
    graph = weighted(rows)
    often = np.repeat(graph.triples, graph.weights.astype(int), axis=0)
    want = affinities(often, graph.num_entities, graph.num_relations)
    got = affinities(graph.triples, graph.num_entities, graph.num_relations, graph.weights)
    np.testing.assert_allclose(got.toarray(), want.toarray(), rtol=1e-12)


@given(facts())
@settings(max_examples=50, deadline=None)
def test_weights_of_one_change_no_bit_of_the_relation_graph(rows):
    plain = KnowledgeGraph.from_labels([row[:3] for row in rows])
    ones = weighted([(*row[:3], 1.0) for row in rows])
    assert ones.weights is not None
    for name in ("rows", "cols", "weights", "bins", "pointers"):
        a = getattr(build_relation_graph(plain, 4), name)
        b = getattr(build_relation_graph(ones, 4), name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_weights_of_a_triple_stated_twice_add_up():
    graph = weighted([("a", "r", "b", 2), ("b", "r", "a", 1), ("a", "r", "b", 0.5)])
    assert graph.triples.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert graph.weights.tolist() == [2.5, 1.0]
    assert graph.duplicates == 1


@given(facts(), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_triples_taken_from_a_weighted_graph_keep_their_weights(rows, random):
    graph = weighted(rows)
    place = random.sample(range(graph.num_triples), random.randint(1, graph.num_triples))
    part = graph.with_triples(graph.triples[place])
    assert part.weights.tolist() == graph.weights[place].tolist()


def test_a_triple_that_a_weighted_graph_does_not_hold_counts_once():
    graph = weighted([("a", "r", "b", 5), ("b", "r", "c", 2)])
    assert graph.with_triples([[0, 0, 1], [0, 0, 2]]).weights.tolist() == [5.0, 1.0]


def test_a_graph_without_weights_stays_without():
    graph = KnowledgeGraph.from_labels([("a", "r", "b")])
    assert graph.weights is None
    assert graph.with_triples(graph.triples).weights is None


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_must_be_positive_and_finite(weight):
    with pytest.raises(TriplesError, match="triple 2: want a positive weight, got"):
        weighted([("a", "r", "b", 1), ("b", "r", "a", weight)])


def test_a_weight_for_each_triple_is_wanted():
    graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "a")])
    with pytest.raises(TriplesError, match=r"weights want shape \(2,\), got \(1,\)"):
        graph.with_triples(graph.triples, [1.0])


def test_weights_cannot_be_changed_from_outside():
    graph = weighted([("a", "r", "b", 5)])
    with pytest.raises(ValueError, match="read-only"):
        graph.weights[0] = 1


def test_the_facts_of_a_split_carry_their_weights():
    rows = [(f"e{i}", f"r{(i + j) % 3}", f"e{j}", float(1 + i)) for i in range(6) for j in range(6)]
    graph = weighted(rows)
    facts, _, _ = three_way_split(graph, seed=0)
    assert 0 < facts.num_triples < graph.num_triples
    assert facts.weights.tolist() == (1.0 + facts.triples[:, 0]).tolist()


def test_the_model_and_an_epoch_see_the_weights():
    rows = [(f"e{i}", f"r{(i * j) % 3}", f"e{j}") for i in range(9) for j in range(9) if i != j]
    rng = np.random.default_rng(0)
    plain = KnowledgeGraph.from_labels(rows)
    heavy = weighted(
        [(*row, float(w)) for row, w in zip(rows, rng.integers(1, 50, len(rows)), strict=True)]
    )
    model = InGram(ModelConfig())
    bins = [model.message_graph(g).relations.kinds.tolist() for g in (plain, heavy)]
    assert bins[0] != bins[1]
    epochs = [EmbeddingEpochs(g, PRESETS["paper"]).prepare(1) for g in (plain, heavy)]
    bins = [epoch.graph.relations.kinds.tolist() for epoch in epochs]
    assert bins[0] != bins[1]
    assert (epochs[0].triples == epochs[1].triples).all()  # only the relation graph differs
