"""Tasks cut out of a graph: what holds for every one of them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.graph import KnowledgeGraph
from ingram.training.task_config import TaskConfig
from ingram.training.tasks import Task, TaskSampler
from tests.strategies import graph_of, graphs, random_graph, seeds

DENSE = random_graph(0, 60, 6, 700)


def marked(graph):
    """The same graph; the weight of a triple tells which one it is."""
    places = np.arange(1.0, graph.num_triples + 1)
    return KnowledgeGraph(graph.triples, graph.entities, graph.relations, weights=places)


def sampler(graph=DENSE, **changes):
    small = {"entities": (5, 20), "neighbours": (2, 5), "density": (1, 1), "least_triples": 20}
    return TaskSampler(Task.whole(graph), TaskConfig(**small | changes))


def draws(made, count=20):
    return [made.draw(np.random.default_rng(seed)) for seed in range(count)]


@given(graphs(max_entities=12, max_triples=60), seeds, st.integers(1, 15), st.integers(1, 20))
def test_a_task_is_a_connected_part_of_its_graph_with_ids_of_its_own(graph, seed, least, most):
    graph = marked(graph)
    made = sampler(graph, least_triples=least, most_triples=most, entities=(1, 6), density=(0.5, 1))
    task = made.draw(np.random.default_rng(seed))
    if task is made.whole:
        assert task.triples is graph.triples
        return
    assert least <= len(task.triples) <= most
    source = graph.triples[task.weights.astype(int) - 1]
    for column, count in ((0, "num_entities"), (1, "num_relations"), (2, "num_entities")):
        assert len(task.triples) == 0 or task.triples[:, column].max() < getattr(task, count)
    # One old id for each new one, and none left over: entities, then relations.
    for columns, count in (([0, 2], task.num_entities), ([1], task.num_relations)):
        pairs = {*zip(task.triples[:, columns].flat, source[:, columns].flat, strict=True)}
        new, old = zip(*pairs, strict=True)
        assert sorted(new) == list(range(count))
        assert len(set(old)) == count
    assert nx.is_connected(nx.Graph([(h, t) for h, _, t in task.triples.tolist()]))


@pytest.mark.parametrize(
    "graph",
    [
        graph_of([], 1, 1),
        graph_of([], 5, 2),
        graph_of([(0, 0, 0)], 1, 1),
        graph_of([(0, 0, 1), (2, 1, 3)], 6, 3),
    ],
    ids=["one entity", "no triple", "one loop", "two pairs"],
)
def test_a_graph_too_small_to_cut_is_taken_whole(graph):
    made = sampler(graph)
    task = made.draw(np.random.default_rng(0))
    assert task is made.whole
    assert (task.num_entities, task.num_relations) == (graph.num_entities, graph.num_relations)


def test_tasks_differ_and_follow_their_generator():
    made = sampler()
    one, same, other = (made.draw(np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.triples, same.triples)
    assert not np.array_equal(one.triples, other.triples)
    assert one is not made.whole


def test_of_too_many_triples_some_are_drawn():
    made = sampler(entities=(60, 60), neighbours=(60, 60), relations=(1, 1), most_triples=300)
    sizes = [len(task.triples) for task in draws(made)]
    assert max(sizes) <= 300
    assert min(sizes) > 250  # the largest component of 300 random ones
    assert len({task.triples.tobytes() for task in draws(made)}) == 20


@pytest.mark.parametrize(
    ("share", "kept"), [((0, 0), None), ((0.4, 0.6), (1, 5)), ((1, 1), (6, 6))]
)
def test_a_part_of_the_relations_is_kept(share, kept):
    made = sampler(entities=(60, 60), neighbours=(60, 60), relations=share)
    tasks = draws(made)
    if kept is None:
        assert all(task is made.whole for task in tasks)
        return
    counts = [task.num_relations for task in tasks]
    assert kept[0] <= min(counts)
    assert np.mean(counts) <= kept[1]


def test_a_part_of_the_triples_is_kept():
    everything = {"entities": (60, 60), "neighbours": (60, 60), "relations": (1, 1)}
    sizes = [len(task.triples) for task in draws(sampler(**everything, density=(0.5, 0.5)))]
    half = round(DENSE.num_triples / 2)
    assert half - 10 < min(sizes) <= max(sizes) == half  # what is not connected is left out
    all_of_it = sampler(**everything).draw(np.random.default_rng(0))
    assert len(all_of_it.triples) == DENSE.num_triples


def test_the_more_entities_are_asked_for_the_larger_the_task():
    few, many = (
        [t.num_entities for t in draws(sampler(entities=(size, size), relations=(1, 1)))]
        for size in (5, 40)
    )
    assert np.mean(few) < np.mean(many)
    assert max(few) < 60  # two hops of a few seeds
    assert min(many) >= 35


def test_triples_of_a_task_keep_their_weights():
    heavy = marked(DENSE)
    for task in draws(sampler(heavy), 3):
        source = heavy.triples[task.weights.astype(int) - 1]
        assert np.all(np.diff(task.weights) > 0)  # in the order of the graph
        assert np.array_equal(np.unique(source[:, 1], return_inverse=True)[1], task.triples[:, 1])
    assert sampler(DENSE).draw(np.random.default_rng(0)).weights is None
    assert Task.whole(heavy).weights is heavy.weights


def test_a_small_graph_is_cut_as_often_as_it_is_taken_whole():
    made = sampler(entities=(1, 100_000), neighbours=(1, 1), relations=(1, 1), least_triples=1)
    cut = [task.num_entities < DENSE.num_entities for task in draws(made, 200)]
    assert 0.3 < np.mean(cut) < 0.7
    above = sampler(entities=(1_000, 2_000), relations=(1, 1))  # more than there are
    assert {task.num_entities for task in draws(above)} == {DENSE.num_entities}
