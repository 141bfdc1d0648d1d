"""Labels are found while they are typed."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ingram.graph import KnowledgeGraph
from ingram.inference.lookup import Lookup, entity_lookup
from ingram.labels import Vocabulary

LABELS = st.lists(st.text("abAé ", max_size=4), min_size=1, max_size=12, unique=True)


def slow(labels, counts, typed, k):
    """Every label looked at: the word itself, those that begin so, those that hold it."""
    word = typed.lower()

    def place(i):
        label = labels[i].lower()
        return (not label.startswith(word), label != word, -counts[i], label, i)

    found = sorted((i for i in range(len(labels)) if word in labels[i].lower()), key=place)
    return [(labels[i], counts[i]) for i in found[:k]]


@given(LABELS, st.text("abAé ", max_size=3), st.integers(1, 5), st.data())
def test_it_finds_what_looking_at_every_label_finds(labels, typed, k, data):
    counts = data.draw(
        st.lists(st.integers(0, 99), min_size=len(labels), max_size=len(labels), unique=True)
    )
    lookup = Lookup(Vocabulary(pl.Series("label", labels, pl.String), "entity"), np.array(counts))
    assert lookup.find(typed, k) == slow(labels, counts, typed, k)


def test_entities_are_counted_at_both_ends():
    graph = KnowledgeGraph.from_labels([("Ab", "r", "abc"), ("Ab", "r", "xab"), ("abc", "r", "Ab")])
    assert entity_lookup(graph).find("AB", 5) == [("Ab", 3), ("abc", 2), ("xab", 1)]
