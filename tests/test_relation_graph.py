"""The relation graph as a value; section 4 itself is checked in ``paper/``."""

import numpy as np
import pytest
from scipy.sparse import issparse

from ingram.graph import with_inverses
from ingram.relation_graph import affinities, build_relation_graph, relation_graph_of
from tests.strategies import graph_of, random_graph


def test_affinity_of_two_relations_sharing_one_head_is_one_quarter():
    # Head 0 has degree 2, one of each relation: 1 * 1 / 2^2. The tails share nothing.
    triples = np.array([[0, 0, 1], [0, 1, 2]])
    assert affinities(triples, 3, 2).toarray().tolist() == [[1.25, 0.25], [0.25, 1.25]]


def test_relations_that_share_no_entity_are_no_neighbours():
    found = build_relation_graph(graph_of([(0, 0, 1), (2, 1, 3)], 4, 2), 1)
    pairs = set(zip(found.rows.tolist(), found.cols.tolist(), strict=True))
    assert pairs == {(0, 0), (2, 2), (1, 1), (3, 3)}


def test_a_relation_meets_its_reverse_where_an_entity_is_head_and_tail_of_it():
    found = build_relation_graph(graph_of([(0, 0, 1), (1, 0, 2)], 3, 1), 1)
    # Entity 1 is head of r once and of r^-1 once: 1/4 by its heads, 1/4 by its tails.
    assert found.weights.tolist() == pytest.approx([2.5, 0.5, 0.5, 2.5])


def test_a_relation_type_without_triples_has_no_neighbours():
    found = build_relation_graph(graph_of([(0, 1, 1)], 2, 3), 2)
    assert np.diff(found.pointers).tolist() == [0, 1, 0, 0, 1, 0]


def test_a_graph_without_triples_has_a_relation_graph_without_edges():
    found = build_relation_graph(graph_of([], 2, 2), 3)
    assert found.num_relations == 4
    assert len(found.rows) == len(found.cols) == len(found.bins) == len(found.weights) == 0


def test_affinities_stay_sparse():
    graph = random_graph(0, 500, 100, 600)
    found = affinities(with_inverses(graph.triples, 100), 500, 200)
    assert issparse(found)
    assert found.nnz < 200 * 200 / 4


def test_facts_and_graph_give_the_same():
    graph = random_graph(0, 9, 3, 30)
    one = build_relation_graph(graph, 4)
    other = relation_graph_of(graph.triples, 9, 3, 4)
    for name in ("rows", "cols", "weights", "bins", "pointers"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
