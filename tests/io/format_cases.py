"""What the tests of formats share: graphs to write, and how to tell that two are the same."""

import bz2
import gzip

import numpy as np
import polars as pl
import zstandard
from hypothesis import strategies as st

from ingram.graph import KnowledgeGraph

PACK = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    ".bz2": bz2.compress,
}

LABELS = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
    st.text(st.sampled_from('ab"\'\t\n\r\\,;<>%_:# .{}|^`\ufeff\x00é日🜁'), min_size=1, max_size=8),
    st.sampled_from([
        "_:b1", "_:", "http://x/y", "http://x/a b", "urn:ingram:x", "urn:ingram:%41", "a:b",
        '"x"@en', "<http://x>", "%41", "null", "NaN", "1", "1.0", "true", "head", "weight", " ",
        "\u2028",
    ]),
)  # fmt: skip


def triples(labels=LABELS, max_size=8):
    row = st.tuples(labels, labels, labels)
    return st.lists(row, min_size=1, max_size=max_size)


def graph_of(rows, weights=None):
    table = pl.DataFrame(
        rows, schema=dict.fromkeys(("head", "relation", "tail"), pl.String), orient="row"
    )
    if weights is not None:
        table = table.with_columns(pl.Series("weight", weights, pl.Float64))
    return KnowledgeGraph.from_labels(table)


def assert_same(a: KnowledgeGraph, b: KnowledgeGraph) -> None:
    assert a.entities.labels.to_list() == b.entities.labels.to_list()
    assert a.relations.labels.to_list() == b.relations.labels.to_list()
    assert a.triples.tolist() == b.triples.tolist()
    assert (a.weights is None) == (b.weights is None)
    if a.weights is not None:
        np.testing.assert_array_equal(a.weights, b.weights)


def one_line(caught) -> str:
    """The message of an error, which must be one line."""
    message = str(caught.value)
    assert "\n" not in message
    return message
