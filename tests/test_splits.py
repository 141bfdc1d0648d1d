import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.errors import SplitError
from ingram.splits import CoveringSplit, check_targets, three_way_split
from tests.strategies import graph_of, graphs, random_graph, seeds

any_graph = graphs(max_entities=12, max_relations=5, min_triples=1, max_triples=60)


class Components:
    """Union-find, to know a forest from a graph with a cycle."""

    def __init__(self, count):
        self.parent = list(range(count))

    def root(self, v):
        while self.parent[v] != v:
            v = self.parent[v]
        return v

    def join(self, one, other):
        """Whether the two were apart."""
        one, other = self.root(one), self.root(other)
        self.parent[one] = other
        return one != other


def components(triples, count):
    """The set of entities that each entity can reach."""
    joined = Components(count)
    for head, _, tail in triples.tolist():
        joined.join(head, tail)
    return [[joined.root(v) == joined.root(u) for u in range(count)] for v in range(count)]


@given(any_graph, seeds, st.sampled_from([0.25, 0.6, 0.75]))
def test_facts_reach_every_entity_and_hold_every_relation(graph, seed, share):
    is_fact = CoveringSplit(graph, share).draw(np.random.default_rng(seed))
    assert is_fact.shape == (graph.num_triples,)  # facts and targets: disjoint, complete
    facts = graph.triples[is_fact]
    assert components(facts, graph.num_entities) == components(graph.triples, graph.num_entities)
    assert set(facts[:, 1]) == set(graph.triples[:, 1])


def distances(triples, count):
    """How far each entity is from the first that it can reach, in steps along triples."""
    far = {}
    for first in range(count):
        layer, steps = {first} - far.keys(), 0
        while layer:
            far |= dict.fromkeys(layer, steps)
            ends = [(h, t) for h, _, t in triples.tolist()]
            reached = {t for h, t in ends if h in layer} | {h for h, t in ends if t in layer}
            layer, steps = reached - far.keys(), steps + 1
    return far


@given(graphs(max_entities=12, max_relations=1, min_triples=1, max_triples=60), seeds)
def test_trees_grow_breadth_first(graph, seed):
    """With one relation and no room for more, the facts are the forest alone (or one loop)."""
    facts = graph.triples[CoveringSplit(graph, 0.01).draw(np.random.default_rng(seed))]
    assert distances(facts, graph.num_entities) == distances(graph.triples, graph.num_entities)


@given(any_graph, seeds, st.sampled_from([0.25, 0.6, 0.75]))
def test_facts_are_the_wanted_share_unless_forest_and_cover_need_more(graph, seed, share):
    size = math.floor(share * graph.num_triples)
    facts = graph.triples[CoveringSplit(graph, share).draw(np.random.default_rng(seed))]
    assert len(facts) >= size
    if len(facts) > size:
        # Each fact is then needed: those that share their relation with another fact were taken
        # for the forest, so they close no cycle.
        uses = Counter(facts[:, 1].tolist())
        joined = Components(graph.num_entities)
        assert all(joined.join(h, t) for h, r, t in facts.tolist() if uses[r] > 1)


def test_three_quarters_of_a_dense_graph_are_facts():
    graph = random_graph(0, 10, 3, 200)
    is_fact = CoveringSplit(graph).draw(np.random.default_rng(0))
    assert is_fact.sum() == math.floor(0.75 * graph.num_triples)


@given(any_graph, seeds)
def test_the_same_generator_gives_the_same_split(graph, seed):
    one, other = (CoveringSplit(graph).draw(np.random.default_rng(seed)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_each_draw_is_another_split():
    split, rng = CoveringSplit(random_graph(0, 30, 4, 300)), np.random.default_rng(0)
    draws = {split.draw(rng).tobytes() for _ in range(20)}
    assert len(draws) == 20


def test_every_triple_that_may_be_a_target_is_one_sometimes():
    # A triangle 0-1-2, each side twice: any triple can be spared.
    triples = [(0, 0, 1), (0, 1, 1), (1, 0, 2), (1, 1, 2), (2, 0, 0), (2, 1, 0)]
    split, rng = CoveringSplit(graph_of(triples, 3, 2)), np.random.default_rng(0)
    facts = np.array([split.draw(rng) for _ in range(200)])
    assert facts.sum(axis=1).tolist() == [4] * 200
    assert not facts.all(axis=0).any()
    assert facts.any(axis=0).all()


def test_the_only_triple_of_a_relation_and_the_only_link_of_an_entity_are_always_facts():
    dense = random_graph(0, 8, 2, 100).triples
    triples = np.concatenate([dense, [[0, 2, 1], [3, 0, 8]]])  # relation 2, entity 8: once each
    split, rng = CoveringSplit(graph_of(triples, 9, 3)), np.random.default_rng(0)
    assert all(split.draw(rng)[-2:].all() for _ in range(50))


def test_a_tree_is_refused_in_one_line():
    tree = graph_of([(0, 0, 1), (1, 0, 2), (1, 0, 3)], 4, 1)
    with pytest.raises(SplitError) as caught:
        check_targets(CoveringSplit(tree))
    assert str(caught.value) == (
        "this graph is too sparse to train on: all of its 3 triples are needed to reach every "
        "entity and relation, which leaves none to predict; add facts, or take weights that were "
        "trained elsewhere"
    )


def test_a_graph_without_triples_is_refused():
    with pytest.raises(SplitError, match="all of its 0 triples"):
        check_targets(CoveringSplit(graph_of([], 3, 1)))
    with pytest.raises(SplitError, match="all of its 0 triples"):
        check_targets(CoveringSplit(graph_of([], 0, 0)))


def test_a_graph_with_one_triple_to_spare_is_accepted():
    check_targets(CoveringSplit(graph_of([(0, 0, 1), (1, 0, 0)], 2, 1)))


@given(any_graph, seeds)
def test_three_ways_are_disjoint_complete_and_the_facts_cover_everything(graph, seed):
    left = ~CoveringSplit(graph, 0.6).draw(np.random.default_rng(seed))
    if left.sum() < 2:  # forest and cover leave too few for two more parts
        with pytest.raises(SplitError, match="too sparse to hold triples out"):
            three_way_split(graph, seed)
        return
    facts, valid, test = three_way_split(graph, seed)
    parts = [facts.triples.tolist(), valid.tolist(), test.tolist()]
    assert sorted(itertools.chain(*parts)) == sorted(graph.triples.tolist())
    assert len(valid) - len(test) in (0, 1)
    assert set(facts.triples[:, 1]) == set(graph.triples[:, 1])
    n = graph.num_entities
    assert components(facts.triples, n) == components(graph.triples, n)
    assert (facts.entities, facts.relations) == (graph.entities, graph.relations)


def test_three_ways_are_3_to_1_to_1():
    graph = random_graph(0, 20, 3, 500)
    facts, valid, test = three_way_split(graph, seed=1)
    total = graph.num_triples
    assert facts.num_triples == math.floor(0.6 * total)
    assert abs(len(valid) - total / 5) <= 1
    assert abs(len(test) - total / 5) <= 1


def test_three_ways_follow_their_seed():
    graph = random_graph(0, 20, 3, 200)
    one, same, other = (three_way_split(graph, seed)[2].tolist() for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_a_split_that_happens_to_leave_nothing_is_drawn_again():
    """If r0 is taken between 0 and 1, r1 is covered by the last triple left; else one stays."""
    graph = graph_of([(0, 0, 1), (0, 1, 1), (1, 0, 2)], 3, 2)
    split = CoveringSplit(graph)
    for seed in range(30):
        facts = split.draw(np.random.default_rng(seed))
        assert facts.tolist() == [False, True, True]
