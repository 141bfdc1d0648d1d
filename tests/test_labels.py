"""Labels and their ids, and frames of labelled triples."""

import polars as pl
import pytest

from ingram.errors import TriplesError, UnknownLabelError
from ingram.graph import KnowledgeGraph
from ingram.labels import Vocabulary, label_frame
from tests.strategies import vocabulary


def test_ids_of_many_labels_are_null_where_unknown():
    vocab = vocabulary("e", 3, "entity")
    assert vocab.ids(pl.Series(["e2", "nobody", "e0", "e2"])).to_list() == [2, None, 0, 2]
    assert vocab.take([2, 0]) == ["e2", "e0"]
    assert "e1" in vocab
    assert "e3" not in vocab
    assert len(vocab) == 3


@pytest.mark.parametrize("bad", [("a", "", "b"), ("", "r", "b"), ("a", "r", None)])
def test_an_empty_label_is_refused_by_its_number(bad):
    with pytest.raises(TriplesError, match="triple 2: want three non-empty labels"):
        label_frame([("a", "r", "b"), bad])


def test_a_frame_without_the_columns_is_refused():
    with pytest.raises(TriplesError, match="want columns head, relation, tail, got h, r"):
        label_frame(pl.DataFrame({"h": ["a"], "r": ["b"]}))


def test_a_frame_of_numbers_becomes_labels():
    frame = label_frame(pl.DataFrame({"tail": [3], "head": [1], "relation": [2]}))
    assert frame.rows() == [("1", "2", "3")]


def test_an_unknown_label_is_refused_with_the_nearest_known_ones():
    graph = KnowledgeGraph.from_labels([("Paris", "capital_of", "France")])
    with pytest.raises(UnknownLabelError, match=r"no entity 'Pariss' .* did you mean 'Paris'\?"):
        graph.entities.id("Pariss")
    with pytest.raises(UnknownLabelError, match=r"no relation 'zzz' in this graph$"):
        graph.relations.id("zzz")


def test_a_label_in_another_case_is_offered_and_no_more_than_three_are():
    labels = pl.Series([*(f"entity {i}" for i in range(50)), "Nairobi"])
    with pytest.raises(UnknownLabelError, match=r"did you mean 'Nairobi'\?"):
        Vocabulary(labels).id("NAIROBI")
    with pytest.raises(UnknownLabelError, match="did you mean") as said:
        Vocabulary(labels).id("entity x")
    assert str(said.value).count("'entity ") == 4
