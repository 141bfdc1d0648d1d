import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.training.negatives import with_corruptions
from tests.strategies import graphs, random_graph, seeds


@given(
    graphs(max_entities=6, min_triples=1).filter(lambda g: g.num_entities > 1),
    seeds,
    st.integers(1, 4),
)
def test_a_corruption_replaces_one_end_by_another_entity(graph, seed, count):
    n = graph.num_entities
    drawn = with_corruptions(graph.triples, n, count, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(drawn[: graph.num_triples], graph.triples)
    false = drawn[graph.num_triples :]
    assert false.shape == (count * graph.num_triples, 3)
    true = np.repeat(graph.triples, count, axis=0)
    changed = false != true
    assert not changed[:, 1].any()
    assert (changed.sum(axis=1) == 1).all()
    assert false.min() >= 0
    assert false[:, [0, 2]].max() < n


def test_head_or_tail_and_each_other_entity_are_equally_likely():
    triples = np.array([[2, 0, 4]])
    false = with_corruptions(triples, 5, 40_000, rng=np.random.default_rng(0))[1:]
    heads, tails = false[:, 0], false[:, 2]
    assert (heads != 2).mean() == pytest.approx(0.5, abs=0.02)
    # 5,000 each, deviation about 66.
    replaced_heads = np.bincount(heads[heads != 2], minlength=5)
    replaced_tails = np.bincount(tails[tails != 4], minlength=5)
    assert replaced_heads[2] == replaced_tails[4] == 0
    assert np.abs(np.delete(replaced_heads, 2) - 5_000).max() < 350
    assert np.abs(np.delete(replaced_tails, 4) - 5_000).max() < 350


def test_true_triples_are_not_left_out():
    # Of the complete graph on two entities every corruption is true.
    triples = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]])
    drawn = with_corruptions(triples, 2, 5, rng=np.random.default_rng(0))
    assert len(drawn) == 4 + 20


def test_nothing_has_no_corruptions():
    drawn = with_corruptions(np.empty((0, 3), np.int64), 5, 10, rng=np.random.default_rng(0))
    assert drawn.shape == (0, 3)


def test_the_generator_rules():
    graph = random_graph(0, 9, 2, 20)
    one, same, other = (
        with_corruptions(graph.triples, 9, 3, rng=np.random.default_rng(s)) for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
