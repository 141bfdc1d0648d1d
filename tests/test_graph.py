import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.errors import TriplesError, UnknownLabelError
from ingram.graph import (
    Dataset,
    KnowledgeGraph,
    distinct,
    triple_keys,
    with_inverses,
)
from tests import oracle
from tests.strategies import graph_of, graphs

labels = st.text(min_size=1, max_size=4)
labelled = st.lists(st.tuples(labels, labels, labels), max_size=20)


def first_seen(items):
    return list(dict.fromkeys(items))


@given(labelled)
def test_labels_come_back_and_repeated_triples_are_dropped_and_counted(triples):
    graph = KnowledgeGraph.from_labels(triples)
    assert graph.decode(graph.triples).rows() == first_seen(triples)
    assert graph.duplicates == len(triples) - len(set(triples))


@given(labelled)
def test_ids_follow_the_heads_then_the_tails_in_order_of_appearance(triples):
    graph = KnowledgeGraph.from_labels(triples)
    entities = first_seen([h for h, _, _ in triples] + [t for _, _, t in triples])
    assert graph.entities.labels.to_list() == entities
    assert graph.relations.labels.to_list() == first_seen(r for _, r, _ in triples)


def test_labels_of_other_frames_get_ids_but_no_facts():
    frame = pl.DataFrame({"head": ["x"], "relation": ["new"], "tail": ["y"]})
    graph = KnowledgeGraph.from_labels([("a", "r", "b")], frame)
    assert graph.entities.labels.to_list() == ["a", "b", "x", "y"]
    assert graph.relations.labels.to_list() == ["r", "new"]
    assert graph.triples.tolist() == [[0, 0, 1]]
    assert graph.encode(frame).tolist() == [[2, 1, 3]]


@given(graphs(max_triples=12))
def test_inverses_follow_the_triples_with_the_relation_moved_by_m(graph):
    m = graph.num_relations
    wanted = oracle.with_reverses(graph.triples, m)
    assert [tuple(t) for t in with_inverses(graph.triples, m).tolist()] == wanted


@given(graphs())
def test_keys_tell_triples_apart(graph):
    keys = triple_keys(graph.triples, graph.num_entities, graph.num_relations)
    assert len(set(keys.tolist())) == graph.num_triples


@given(st.lists(st.integers(0, 2**63 - 1)))
def test_distinct_keys_are_sorted_and_stand_once(keys):
    assert distinct(np.array(keys, np.int64)).tolist() == sorted(set(keys))


@given(graphs())
def test_degrees_count_the_ends_of_triples(graph):
    ends = [v for h, _, t in graph.triples.tolist() for v in (h, t)]
    assert graph.degrees().tolist() == [ends.count(v) for v in range(graph.num_entities)]


def test_a_graph_too_large_for_keys_is_refused():
    with pytest.raises(TriplesError, match="64-bit"):
        triple_keys(np.zeros((1, 3), np.int64), 2**31, 3)


def test_encoding_an_unknown_label_is_refused():
    graph = KnowledgeGraph.from_labels([("a", "r", "b")])
    with pytest.raises(UnknownLabelError, match="no entity 'c'"):
        graph.encode(pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["c"]}))


@pytest.mark.parametrize("triple", [(3, 0, 0), (0, 2, 0), (0, 0, 3), (-1, 0, 0)])
def test_ids_outside_the_vocabularies_are_refused(triple):
    with pytest.raises(TriplesError, match=r"want ids below \(3, 2, 3\)"):
        graph_of([triple], 3, 2)


def test_a_graph_cannot_be_changed():
    graph = graph_of([(0, 0, 1)], 2, 1)
    with pytest.raises(ValueError, match="read-only"):
        graph.triples[0, 0] = 1
    with pytest.raises(AttributeError):
        graph.triples = None


@pytest.mark.parametrize("weights", [None, [2.0, 0.5]])
def test_labelled_facts_give_the_same_graph_again(weights):
    graph = graph_of([(0, 0, 1), (1, 1, 0)], 2, 2).with_triples([(0, 0, 1), (1, 1, 0)], weights)
    again = KnowledgeGraph.from_labels(graph.labelled())
    assert again.triples.tolist() == graph.triples.tolist()
    assert (None if again.weights is None else again.weights.tolist()) == weights


def test_a_graph_says_its_sizes():
    assert repr(graph_of([(0, 0, 1)], 2000, 1)) == (
        "KnowledgeGraph(2,000 entities, 1 relations, 1 triples)"
    )


def test_known_relations_are_those_that_training_has_by_label():
    train = KnowledgeGraph.from_labels([("a", "old", "b"), ("a", "other", "b")])
    inference = KnowledgeGraph.from_labels([("x", "new", "y"), ("x", "old", "y")])
    none = np.empty((0, 3), np.int64)
    test = np.array([[0, 0, 1]])
    dataset = Dataset("d", train, inference, none, test)
    assert dataset.known_relations.tolist() == [False, True]
    assert dataset.split("test") is test
    assert dataset.split("valid") is none
