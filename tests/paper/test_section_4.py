"""Section 4: the relation graph, and Eq. (3): its bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.graph import with_inverses
from ingram.relation_graph import affinities, affinity_bins, build_relation_graph
from tests import oracle
from tests.strategies import graphs


def dense(graph, values):
    table = np.zeros((graph.num_relations, graph.num_relations))
    table[graph.rows, graph.cols] = values
    return table


@given(graphs())
def test_affinities_are_those_of_the_dense_definition(graph):
    m = graph.num_relations
    facts = oracle.with_reverses(graph.triples, m)
    a_h, a_t, wanted = oracle.affinity_matrices(facts, graph.num_entities, 2 * m)
    found = build_relation_graph(graph, num_bins=1)
    assert found.num_relations == 2 * m
    # A reverse triple turns heads into tails, so A_t is A_h with each relation and its reverse
    # exchanged; both must be right for the sum to be.
    turned = [*range(m, 2 * m), *range(m)]
    assert a_t == [[a_h[i][j] for j in turned] for i in turned]
    np.testing.assert_allclose(
        dense(found, found.weights), np.array(wanted, dtype=float), rtol=1e-14, atol=0
    )


@given(graphs())
def test_affinities_without_reverses_keep_head_and_tail_apart(graph):
    """On bare triples A_h and A_t differ, so each is checked on its own."""
    n, m = graph.num_entities, graph.num_relations
    triples = [tuple(map(int, triple)) for triple in graph.triples]
    _, _, wanted = oracle.affinity_matrices(triples, n, m)
    found = affinities(graph.triples, n, m).toarray()
    np.testing.assert_allclose(found, np.array(wanted, dtype=float), rtol=1e-14, atol=0)


@given(graphs(min_triples=1), st.integers(1, 12))
def test_bins_are_those_of_exact_ranks(graph, num_bins):
    facts = oracle.with_reverses(graph.triples, graph.num_relations)
    _, _, affinity = oracle.affinity_matrices(facts, graph.num_entities, 2 * graph.num_relations)
    found = build_relation_graph(graph, num_bins)
    pairs = zip(found.rows.tolist(), found.cols.tolist(), strict=True)
    assert dict(zip(pairs, found.bins + 1, strict=True)) == oracle.bins(affinity, num_bins)


@given(graphs(min_triples=1), st.integers(1, 12))
def test_bins_of_a_pair_and_its_mirror_are_the_same(graph, num_bins):
    found = build_relation_graph(graph, num_bins)
    table = dense(found, found.bins + 1)
    np.testing.assert_array_equal(table, table.T)
    assert found.bins.min() >= 0
    assert found.bins.max() < num_bins


@given(graphs())
def test_the_affinities_that_an_entity_brings_sum_to_one_on_each_side(graph):
    """The paper's reason for the degree terms. After reversing, an entity is head and tail."""
    touched = len(np.unique(graph.triples[:, [0, 2]]))
    found = build_relation_graph(graph, num_bins=1)
    assert found.weights.sum() == pytest.approx(2 * touched)


@given(graphs())
def test_rows_are_sorted_and_each_used_relation_neighbours_itself(graph):
    found = build_relation_graph(graph, num_bins=3)
    assert np.all(np.diff(found.rows * found.num_relations + found.cols) > 0)
    assert np.array_equal(
        np.repeat(np.arange(found.num_relations), np.diff(found.pointers)), found.rows
    )
    used = np.unique(with_inverses(graph.triples, graph.num_relations)[:, 1])
    assert set(used) == set(found.rows[found.rows == found.cols])


def test_bins_by_hand_with_ties_at_the_lowest_rank():
    # Descending: 5 | 3, 3, 3 | 2 | 1. Ranks 1, 2, 2, 2, 5, 6 of 6 with B = 3: ceil(rank / 2).
    weights = np.array([3.0, 1.0, 3.0, 5.0, 2.0, 3.0])
    assert affinity_bins(weights, 3).tolist() == [0, 2, 0, 0, 2, 0]
    # B = 6: the bin is the rank.
    assert affinity_bins(weights, 6).tolist() == [1, 5, 1, 0, 4, 1]


def test_affinities_that_differ_in_the_last_digits_tie():
    one = 0.1 + 0.2
    other = 0.3
    assert one != other
    assert affinity_bins(np.array([one, other]), 2).tolist() == [0, 0]
    assert affinity_bins(np.array([0.3 + 1e-9, 0.3]), 2).tolist() == [0, 1]


def test_no_affinities_have_no_bins():
    assert affinity_bins(np.empty(0), 10).tolist() == []
