import fnmatch
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.answers.candidates import Candidates, Roles, glob_regex
from ingram.errors import QueryError
from tests.strategies import graph_of, graphs, vocabulary

characters = st.text("ab-^!]\\.*?[", max_size=6)


@pytest.mark.parametrize(
    ("glob", "label", "matches"),
    [
        ("K*", "Kenya", True),
        ("K*", "Not Kenya", False),
        ("*a", "line\nenda", True),
        ("e?", "e10", False),
        ("[A-C]*", "Bo", True),
        ("[!A-C]*", "Bo", False),
        ("[^B]o", "Bo", True),
        ("[^B]o", "Co", False),
        ("a.c", "abc", False),
        ("[]]x", "]x", True),
        ("[ab", "[ab", True),
        ("http://x/*", "http://x/y", True),
    ],
)
def test_a_pattern_stands_for_the_whole_label(glob, label, matches):
    assert bool(re.match(glob_regex(glob), label)) is matches
    assert fnmatch.fnmatchcase(label, glob) is matches


@given(st.text("ab*?.", max_size=6), st.text("ab*?.", max_size=5))
def test_patterns_mean_what_they_mean_in_a_shell(glob, label):
    assert bool(re.match(glob_regex(glob), label)) is fnmatch.fnmatchcase(label, glob)


@given(characters)
def test_any_text_is_a_pattern_or_is_refused_in_one_line(glob):
    labels = vocabulary("e", 3, "entity")
    try:
        Candidates(glob=glob).named(labels)
        said = ""
    except QueryError as error:
        said = str(error)
    assert "\n" not in said


def test_conditions_are_joined_and_ids_are_in_order():
    labels = vocabulary("e", 12, "entity")
    assert Candidates().named(labels) is None
    assert Candidates(["e11", "e3", "e1", "e3"]).named(labels).tolist() == [1, 3, 11]
    assert Candidates(["e11", "e3", "e1"], glob="e1*").named(labels).tolist() == [1, 11]
    assert Candidates(glob="e1*", regex="0$").named(labels).tolist() == [10]
    assert Candidates([]).named(labels).tolist() == []


@given(graphs())
def test_roles_are_the_entities_seen_on_that_side(graph):
    roles = Roles(graph)
    for relation in range(graph.num_relations):
        for side, column in (("head", 0), ("tail", 2)):
            seen = {t[column] for t in graph.triples.tolist() if t[1] == relation}
            assert roles.of(relation, side).tolist() == sorted(seen)


def test_a_relation_without_facts_has_no_roles():
    assert Roles(graph_of([(0, 1, 1)], 2, 3)).of(2, "tail").tolist() == []
