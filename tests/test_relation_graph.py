"""The relation graph as a value; section 4 itself is checked in ``paper/``."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse

from ingram.graph import with_inverses
from ingram.meetings import _compiled_meetings, _plain_meetings
from ingram.relation_graph import (
    affinities,
    build_relation_graph,
    folded_affinities,
    relation_edges_by_side,
    relation_graph_of,
)
from tests import oracle
from tests.strategies import graph_of, graphs, random_graph


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
    found = affinities(graph.triples, 500, 100, inverses=True)
    assert issparse(found)
    assert found.nnz < 200 * 200 / 4


def test_facts_and_graph_give_the_same():
    graph = random_graph(0, 9, 3, 30)
    one = build_relation_graph(graph, 4)
    other = relation_graph_of(graph.triples, 9, 3, 4)
    for name in ("rows", "cols", "weights", "bins", "pointers"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def by_side(triples, num_entities, num_relations, num_bins, weights=None):
    """Two dictionaries {(row, col): bin}, of heads and of tails; no edge stands twice."""
    edges = relation_edges_by_side(triples, num_entities, num_relations, num_bins, weights)
    sides = [{}, {}]
    for row, col, kind in zip(*(part.tolist() for part in edges), strict=True):
        side, number = divmod(kind, num_bins)
        assert (row, col) not in sides[side]
        sides[side][row, col] = number
    return sides


def oracle_by_side(triples, num_entities, num_relations, num_bins):
    facts = oracle.with_reverses(triples, num_relations)
    a_h, a_t, _ = oracle.affinity_matrices(facts, num_entities, 2 * num_relations)
    return [
        {pair: number - 1 for pair, number in oracle.bins(affinity, num_bins).items()}
        for affinity in (a_h, a_t)
    ]


@given(graphs(), st.integers(1, 12))
def test_edges_by_side_are_those_of_the_dense_definition_with_bins_of_their_own(graph, num_bins):
    sizes = (graph.num_entities, graph.num_relations, num_bins)
    assert by_side(graph.triples, *sizes) == oracle_by_side(graph.triples, *sizes)


@given(graphs(max_triples=12), st.integers(1, 6), st.data())
def test_a_whole_weight_counts_on_each_side_as_the_triple_written_so_often(graph, num_bins, data):
    count = graph.num_triples
    times = data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    often = np.repeat(graph.triples, times, axis=0)
    sizes = (graph.num_entities, graph.num_relations, num_bins)
    found = by_side(graph.triples, *sizes, np.array(times, float))
    assert found == oracle_by_side(often, *sizes)


def test_relations_that_share_heads_and_relations_that_share_tails_by_hand():
    # r0 and r1 share head 0; r0 and r2 share tail 1; the inverses 3, 4, 5 the other way round.
    triples = np.array([[0, 0, 1], [0, 1, 2], [3, 2, 1]])
    heads, tails = by_side(triples, 4, 3, num_bins=10)
    # Of 10 affinities two are 1, where r2 and the inverse of r1 stand alone; the rest, a quarter,
    # shares rank 3. With 10 bins a bin is a rank.
    alone, shared = (
        [(2, 2), (4, 4)],
        [(0, 0), (1, 1), (3, 3), (5, 5), (0, 1), (1, 0), (3, 5), (5, 3)],
    )
    assert heads == dict.fromkeys(alone, 0) | dict.fromkeys(shared, 2)
    turned = {
        (i, j): heads[(i + 3) % 6, (j + 3) % 6]
        for i in range(6)
        for j in range(6)
        if ((i + 3) % 6, (j + 3) % 6) in heads
    }
    assert tails == turned
    assert tails[0, 2] == tails[2, 0] == tails[3, 4] == tails[4, 3] == 2


def test_a_graph_without_triples_has_no_edges_on_either_side():
    rows, cols, kinds = relation_edges_by_side(np.empty((0, 3), np.int64), 2, 2, 3)
    assert len(rows) == len(cols) == len(kinds) == 0


def test_inverses_by_their_exchange_are_inverses_written_out():
    graph = random_graph(0, 40, 6, 90)
    short = affinities(graph.triples, 40, 6, inverses=True)
    long = affinities(with_inverses(graph.triples, 6), 40, 12)
    for one, other in ((short.indptr, long.indptr), (short.indices, long.indices)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(short.data, long.data)


@given(graphs())
def test_folding_adds_what_lies_between_a_relation_and_the_other_s_inverse(graph):
    m = graph.num_relations
    whole = affinities(graph.triples, graph.num_entities, m, graph.weights, inverses=True).toarray()
    wanted = whole[:m, :m] + whole[:m, m:] + whole[m:, :m] + whole[m:, m:]
    np.testing.assert_allclose(folded_affinities(graph).toarray(), wanted)


@given(graphs(), st.booleans(), st.integers(0, 99))
def test_the_first_calls_and_the_compiled_ones_give_the_same_bits(graph, weighted, seed):
    rng = np.random.default_rng(seed)
    heads, relations, _ = np.ascontiguousarray(graph.triples.T)
    times = rng.uniform(0.1, 9, len(heads)) if weighted else np.ones(len(heads))
    sizes = graph.num_entities, graph.num_relations
    found = [
        csr_array((values, cols, pointers), (sizes[1], sizes[1])).toarray()
        for pointers, cols, values in (
            form(heads, relations, times, *sizes) for form in (_plain_meetings, _compiled_meetings)
        )
    ]
    assert np.array_equal(*found)


@given(graphs(), st.booleans())
def test_the_first_edges_are_in_the_order_of_all_later_ones(graph, sides):
    """A sum in another order has other last bits: a run that goes on would end otherwise."""
    facts = graph.triples, graph.num_entities, graph.num_relations, 3
    made = []
    for form in (_plain_meetings, _compiled_meetings):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ingram.relation_graph.meetings", form)
            if sides:
                made.append(relation_edges_by_side(*facts))
            else:
                found = relation_graph_of(*facts)
                made.append((found.rows, found.cols, found.bins))
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)
