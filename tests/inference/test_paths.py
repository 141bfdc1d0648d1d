"""Paths between two entities, against listing them all."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.inference import paths
from ingram.inference.paths import Walk, best_paths, steps_from, without
from ingram.kernels.adjacency import entity_adjacency
from tests.strategies import graph_of, graphs, seeds


def edges_of(graph):
    return entity_adjacency(graph.triples, graph.num_entities, graph.num_relations)


def ends(edges):
    """(source, kind, target) of every edge."""
    targets = np.repeat(np.arange(edges.num_nodes), np.diff(edges.pointers.numpy()))
    return [*zip(edges.sources.tolist(), edges.kinds.tolist(), targets.tolist(), strict=True)]


def all_paths(edges, first, last, longest):
    """Edges of every path without an entity visited twice, one by one."""
    listed = ends(edges)

    def go(at, visited, taken):
        if at == last and taken:
            yield tuple(taken)
            return
        if len(taken) == longest:
            return
        for i, (source, _, target) in enumerate(listed):
            if source == at and target not in visited:
                yield from go(target, [*visited, target], [*taken, i])

    return [*go(first, [first], [])] if first != last else []


@given(graphs(max_triples=14), seeds, st.integers(1, 4), st.data())
def test_the_strongest_of_all_paths_are_found(graph, seed, longest, data):
    entity = st.integers(0, graph.num_entities - 1)
    first, last = data.draw(entity), data.draw(entity)
    edges = edges_of(graph)
    gains = np.random.default_rng(seed).standard_normal(edges.num_edges)
    every = all_paths(edges, first, last, longest)
    wanted = sorted((float(np.mean(gains[list(p)])) for p in every), reverse=True)
    found = best_paths(edges, gains, first, last, longest, 3)
    assert [walk.weight for walk in found] == pytest.approx(wanted[:3])
    listed = ends(edges)
    for walk in found:
        assert walk.edges in every
        assert (walk.nodes[0], walk.nodes[-1]) == (first, last)
        for edge, (source, target) in zip(walk.edges, pairwise(walk.nodes), strict=True):
            assert (listed[edge][0], listed[edge][2]) == (source, target)


def test_a_long_path_does_not_win_by_its_length():
    graph = graph_of([(0, 0, 3), (0, 0, 1), (1, 0, 2), (2, 0, 3)], 4, 1)
    edges = edges_of(graph)
    (best,) = best_paths(edges, np.ones(edges.num_edges), 0, 3, 3, 1)
    assert best.nodes == (0, 3)


def test_from_an_entity_to_itself_there_is_none():
    edges = edges_of(graph_of([(0, 0, 0), (0, 0, 1)], 2, 1))
    assert best_paths(edges, np.ones(edges.num_edges), 0, 0, 3, 5) == []


def test_a_hub_is_looked_at_within_bounds(monkeypatch):
    monkeypatch.setattr(paths, "EXPANSION", 10)
    star = [(0, 0, i) for i in range(1, 30)] + [(i, 1, 30) for i in range(1, 30)]
    edges = edges_of(graph_of(star, 31, 2))
    (best,) = best_paths(edges, np.ones(edges.num_edges), 0, 30, 2, 1)
    assert len(best.edges) == 2


def test_distances_are_those_of_a_breadth_first_search():
    edges = edges_of(graph_of([(0, 0, 1), (2, 0, 1), (2, 0, 3), (4, 0, 4)], 5, 1))
    assert steps_from(edges, 0, 5).tolist() == [0, 1, 2, 3, 6]
    assert steps_from(edges, 0, 2).tolist() == [0, 1, 2, 3, 3]


@given(graphs(min_triples=1), st.data())
def test_without_a_path_its_facts_are_gone_both_ways_and_nothing_else(graph, data):
    edges = edges_of(graph)
    facts = data.draw(st.lists(st.sampled_from(range(graph.num_triples)), min_size=1, unique=True))
    m, left = graph.num_relations, edges
    for fact in facts:
        h, r, t = graph.triples[fact].tolist()
        left = without(left, Walk((h, t), (ends(left).index((h, r, t)),), 0.0), m)
    kept = np.delete(graph.triples, facts, axis=0)
    wanted = entity_adjacency(kept, graph.num_entities, m)
    assert left.pointers.tolist() == wanted.pointers.tolist()
    assert left.sources.tolist() == wanted.sources.tolist()
    assert left.kinds.tolist() == wanted.kinds.tolist()
