"""How often a pattern of relations comes with another, against counting one by one."""

from hypothesis import given
from hypothesis import strategies as st

from ingram.inference import patterns
from ingram.inference.patterns import Evidence, Patterns
from tests.inference.test_paths import all_paths, edges_of, ends
from tests.strategies import graph_of, graphs, random_graph


def test_grandparents_worked_by_hand():
    # r: parent of; s: grandparent of. 0 > 1 > 2 > 3, and 4 > 5 > 6. s holds for (0, 2) and (4, 6).
    facts = [(0, 0, 1), (1, 0, 2), (2, 0, 3), (4, 0, 5), (5, 0, 6), (0, 1, 2), (4, 1, 6)]
    found = Patterns(graph_of(facts, 7, 2)).evidence((0, 0), 1, apart_from=(1, 3))
    assert found == Evidence(joined=2, holding=2, sampled=False)
    assert found.share == 1.0
    with_it = Patterns(graph_of(facts, 7, 2)).evidence((0, 0), 1, apart_from=(0, 6))
    assert with_it == Evidence(joined=3, holding=2, sampled=False)


def test_a_way_there_and_back_is_no_path():
    facts = [(0, 0, 1), (1, 0, 2), (0, 1, 1)]
    found = Patterns(graph_of(facts, 3, 2))
    assert found.evidence((0, 2), 1, (9, 9)).joined == 0  # r and then r backwards
    # s, r, r backwards would visit 1 twice: it must not speak for the facts of s themselves.
    assert found.evidence((1, 0, 2), 1, (9, 9)).joined == 0


@given(graphs(max_triples=16), st.data())
def test_counts_are_those_of_all_paths(graph, data):
    edges, m = edges_of(graph), graph.num_relations
    kind = st.integers(0, 2 * m - 1)
    pattern = tuple(data.draw(st.lists(kind, min_size=1, max_size=3)))
    relation = data.draw(st.integers(0, m - 1))
    entity = st.integers(0, graph.num_entities - 1)
    apart = (data.draw(entity), data.draw(entity))
    listed, facts = ends(edges), {tuple(t) for t in graph.triples.tolist()}
    every = range(graph.num_entities)
    pairs = {
        (a, b)
        for a in every
        for b in every
        for path in all_paths(edges, a, b, len(pattern))
        if tuple(listed[e][1] for e in path) == pattern
    } - {apart}
    found = Patterns(graph).evidence(pattern, relation, apart)
    assert found.joined == len(pairs)
    assert found.holding == sum((a, relation, b) in facts for a, b in pairs)
    assert not found.sampled


def test_of_too_many_paths_some_are_followed_and_it_says_so(monkeypatch):
    graph = random_graph(0, 40, 1, 700)
    whole = Patterns(graph).evidence((0, 0), 0, (0, 1))
    monkeypatch.setattr(patterns, "BUDGET", 3_000)
    found = Patterns(graph).evidence((0, 0), 0, (0, 1))
    assert found.sampled
    assert found == Patterns(graph).evidence((0, 0), 0, (0, 1))
    assert found.joined < whole.joined
    assert abs(found.share - whole.share) < 0.1


def test_a_pattern_that_occurs_nowhere_has_a_share_of_nothing():
    found = Patterns(graph_of([(0, 0, 1)], 2, 2)).evidence((1, 1), 0, (0, 1))
    assert found == Evidence(0, 0, False)
    assert found.share == 0.0
