"""Labels and their ids, and frames of labelled triples."""

import polars as pl
import pytest

from ingram.errors import TriplesError, UnknownLabelError
from ingram.graph import KnowledgeGraph
from ingram.labels import Vocabulary, label_frame, visible
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Köln 東京 🙂", "Köln 東京 🙂"),
        ("a\x1b[31m\x07", r"a\x1b[31m\x07"),
        ("\x9b2J", r"\x9b2J"),  # the same command in one character
        ("\u202egnp.exe\u2066", r"\u202egnp.exe\u2066"),
        ("a\nb\tc\r", r"a\x0ab\x09c\x0d"),
        ("\U000e0041", r"\U000e0041"),
        ("\u200b\u2028\u00a0", r"\u200b\u2028\xa0"),
        ("x" * 1_000, "x" * 1_000),
        ("x" * 10_000, "x" * 1_000 + "… (10,000 characters)"),
    ],
)
def test_what_could_do_harm_on_a_screen_is_spelled_out(text, shown):
    assert visible(text) == shown


def test_an_unknown_label_of_any_length_is_refused_shortly_and_at_once():
    labels = pl.Series("label", [f"{'x' * 10_000}{i}" for i in range(300)])
    with pytest.raises(UnknownLabelError) as caught:
        Vocabulary(labels).id("x" * 10_000)
    assert len(str(caught.value)) < 400
