"""Components and sampled neighbours against slow searches."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ingram.datasets.subgraphs import Neighbours, giant_component, two_hops


def reachable(triples, start) -> set:
    """A slow search, direction ignored."""
    beside: dict = {}
    for head, _, tail in triples:
        beside.setdefault(head, set()).add(tail)
        beside.setdefault(tail, set()).add(head)
    seen, open_ = {start}, [start]
    while open_:
        for other in beside[open_.pop()] - seen:
            seen.add(other)
            open_.append(other)
    return seen


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(0, 60))
def test_the_giant_component_is_the_largest_one_a_slow_search_finds(seed, entities, count):
    ends = np.random.default_rng(seed).integers(entities, size=(count, 2))
    triples = np.stack([ends[:, 0], np.zeros(count, int), ends[:, 1]], 1)
    named = [tuple(t) for t in triples.tolist()]
    found = {tuple(t) for t in giant_component(triples, entities).tolist()}
    if not count:
        assert not found
        return
    largest = max(len(reachable(named, t[0])) for t in named)
    members = reachable(named, next(iter(found))[0])
    assert len(members) == largest
    assert found == {t for t in named if t[0] in members}


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 90), st.integers(1, 5))
def test_sampled_neighbours_are_neighbours_at_most_so_many_of_each(seed, entities, count, limit):
    rng = np.random.default_rng(seed)
    ends = rng.integers(entities, size=(count, 2))
    triples = np.stack([ends[:, 0], np.zeros(count, int), ends[:, 1]], 1)
    beside = {v: {int(b) for a, b in [*ends, *ends[:, ::-1]] if a == v} for v in range(entities)}
    neighbours = Neighbours.of(triples, entities)
    for v, others in beside.items():
        others.discard(v)
        alone = neighbours.sample(np.array([v]), limit, rng)
        assert len(alone) == min(limit, len(others))
        assert set(alone.tolist()) <= others
    nodes = np.unique(rng.integers(entities, size=3))
    together = neighbours.sample(nodes, limit, rng)
    assert set(together.tolist()) <= set().union(*(beside[int(v)] for v in nodes))
    assert len(together) <= sum(min(limit, len(beside[int(v)])) for v in nodes)
    first = set(nodes.tolist()).union(*(beside[int(v)] for v in nodes))
    second = first.union(*(beside[v] for v in first))
    assert set(two_hops(neighbours, nodes, entities, rng).tolist()) == second


def test_each_neighbour_of_a_crowded_entity_is_equally_likely():
    star = np.array([[0, 0, leaf] for leaf in range(1, 11)])
    neighbours, rng = Neighbours.of(star, 11), np.random.default_rng(0)
    counts = np.zeros(11)
    for _ in range(2_000):
        counts[neighbours.sample(np.array([0]), 3, rng)] += 1
    assert counts[0] == 0
    # 600 expected, standard deviation 20.5
    assert (abs(counts[1:] - 600) < 90).all()
