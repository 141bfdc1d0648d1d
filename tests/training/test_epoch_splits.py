"""The split of every epoch, of a graph or of tasks cut out of it."""

import numpy as np
import pytest

from ingram.errors import SplitError
from ingram.splits import CoveringSplit
from ingram.training.config import EmbeddingTraining
from ingram.training.epoch_splits import FEWEST_TARGETS, EpochSplits, weights_of
from ingram.training.task_config import TaskConfig
from ingram.training.tasks import Task
from tests.strategies import graph_of, random_graph

GRAPH = random_graph(0, 60, 6, 700)
SMALL = TaskConfig(entities=(5, 20), neighbours=(2, 5), least_triples=3)


def splits(graph=GRAPH, tasks=SMALL, **training):
    return EpochSplits(graph, EmbeddingTraining(**training), tasks)


def draws(made, count=20):
    return [made.draw(np.random.default_rng(seed)) for seed in range(count)]


def test_every_task_leaves_enough_to_predict():
    made = splits()
    sizes = []
    for task, is_fact in draws(made):
        assert task is not made.whole
        assert len(is_fact) - is_fact.sum() >= FEWEST_TARGETS
        sizes.append(len(is_fact))
    assert len(set(sizes)) > 10


def test_where_every_task_is_a_tree_the_whole_graph_serves():
    """All triples of a tree are facts in any split; the rest of the graph is what is predicted."""
    tree = [(i // 2, i % 3, i) for i in range(1, 200)]
    made = splits(graph_of([*tree, *((i // 2, (i + 1) % 3, i) for i in range(1, 9))], 200, 3))
    for task, is_fact in draws(made, 3):
        assert task is made.whole
        assert 1 <= len(is_fact) - is_fact.sum() < FEWEST_TARGETS


def test_a_graph_too_small_to_cut_is_split_once_and_not_over_and_over(monkeypatch):
    made = splits(random_graph(1, 6, 2, 30), TaskConfig())
    monkeypatch.setattr("ingram.training.epoch_splits.CoveringSplit", None)
    task, is_fact = made.draw(np.random.default_rng(0))
    assert task is made.whole
    assert not is_fact.all()


def test_without_cutting_the_whole_graph_is_split_anew_or_once_for_all():
    whole = TaskConfig(cut=False)
    anew, fixed = (splits(tasks=whole, dynamic_split=way) for way in (True, False))
    masks = [mask for _, mask in draws(anew, 5)]
    assert len({mask.tobytes() for mask in masks}) == 5
    assert np.array_equal(masks[3], CoveringSplit(GRAPH, 0.75).draw(np.random.default_rng(3)))
    assert len({mask.tobytes() for _, mask in draws(fixed, 5)}) == 1
    other = splits(tasks=whole, dynamic_split=False, seed=1)
    assert not np.array_equal(draws(fixed, 1)[0][1], draws(other, 1)[0][1])


def test_a_graph_that_leaves_nothing_to_predict_is_refused():
    with pytest.raises(SplitError, match="too sparse to train on"):
        splits(graph_of([(0, 0, 1), (1, 0, 2)], 3, 1))


def test_the_facts_of_a_task_keep_their_weights():
    weights = np.arange(1.0, 5.0)
    task = Task(np.zeros((4, 3), np.int64), 1, 1, weights)
    mask = np.array([True, False, True, False])
    assert weights_of(task, mask).tolist() == [1, 3]
    assert weights_of(Task(task.triples, 1, 1), mask) is None
