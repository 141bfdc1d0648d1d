"""Writing: whole files or none, and labels as N-Triples terms."""

import gzip

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.errors import TriplesError
from ingram.io import read_graph, tsv, write_graph, write_triples, writing
from ingram.io.terms import encoded, labels_of, terms
from tests.io.format_cases import LABELS, graph_of, one_line

GRAPH = graph_of([("a", "r", "b"), ("b", "r", "c")])


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "nt", "tsv.gz", "nt.zst", "parquet.bz2"])
def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"g.{suffix}"
    path.write_text("old")

    def broken(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "WRITERS", dict.fromkeys(writing.WRITERS, broken))
    with pytest.raises(TriplesError, match="cannot be written: No space left on device"):
        write_graph(GRAPH, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_fault_in_a_later_part_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tsv, "ROWS", 1)
    with pytest.raises(TriplesError, match="TSV has no way to write a tab"):
        write_graph(graph_of([("a", "r", "b"), ("a", "r", "x\ty")]), tmp_path / "g.tsv")
    assert list(tmp_path.iterdir()) == []
    write_graph(GRAPH, tmp_path / "g.tsv")
    assert (tmp_path / "g.tsv").read_text() == "a\tr\tb\nb\tr\tc\n"


def test_standard_input_is_not_written_to():
    with pytest.raises(TriplesError, match="want a file to write to, got -"):
        write_graph(GRAPH, "-")


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(TriplesError, match="cannot be written: No such file") as caught:
        write_graph(GRAPH, tmp_path / "no" / "g.tsv")
    one_line(caught)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "ttl", "rdf", "nq"])
def test_formats_that_are_only_read_are_refused(tmp_path, suffix):
    with pytest.raises(TriplesError, match="want tsv, parquet or nt to write, got"):
        write_graph(GRAPH, tmp_path / f"g.{suffix}")


def test_a_given_format_wins_over_the_suffix(tmp_path):
    write_graph(GRAPH, tmp_path / "g.txt", format="nt")
    assert (tmp_path / "g.txt").read_text().startswith("<urn:ingram:a> ")
    assert read_graph(tmp_path / "g.txt", format="nt").num_triples == 2


def test_the_same_graph_gives_the_same_bytes(tmp_path):
    for name in ("one.tsv.gz", "two.tsv.gz"):
        write_graph(GRAPH, tmp_path / name)
    assert (tmp_path / "one.tsv.gz").read_bytes() == (tmp_path / "two.tsv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.tsv.gz").read_bytes()) == b"a\tr\tb\nb\tr\tc\n"


def test_n_triples_refuse_weights(tmp_path):
    with pytest.raises(TriplesError, match="N-Triples has no place for weights"):
        write_graph(graph_of([("a", "r", "b")], [2.0]), tmp_path / "g.nt")


def test_weighted_tsv_has_a_header(tmp_path):
    write_graph(graph_of([("a", "r", "b")], [2.5]), tmp_path / "g.tsv")
    assert (tmp_path / "g.tsv").read_text() == "head\trelation\ttail\tweight\na\tr\tb\t2.5\n"


def test_a_table_without_the_columns_is_refused(tmp_path):
    with pytest.raises(TriplesError, match="want columns head, relation, tail, got x"):
        write_triples(pl.DataFrame({"x": ["a"]}), tmp_path / "g.tsv")


@pytest.mark.parametrize(
    ("label", "term"),
    [
        ("New York", "<urn:ingram:New%20York>"),
        ("Zürich/日本", "<urn:ingram:Zürich/日本>"),
        ("http://x/y?z=1#w", "<http://x/y?z=1#w>"),
        ("http://x/a b", "<urn:ingram:http://x/a%20b>"),
        ("concept:athlete", "<concept:athlete>"),
        ("/m/01", "<urn:ingram:/m/01>"),
        ("_:b1", "_:b1"),
        ("_:", "<urn:ingram:_:>"),
        ("urn:ingram:x", "<urn:ingram:urn:ingram:x>"),
        ('"chat"@fr', "<urn:ingram:%22chat%22@fr>"),
        ("50%", "<urn:ingram:50%25>"),
    ],
)
def test_a_label_becomes_a_term(label, term):
    assert terms(pl.Series([label]))[0] == term


def test_a_relation_is_never_a_blank_node():
    assert terms(pl.Series(["_:b1"]), blanks=False)[0] == "<urn:ingram:_:b1>"


@given(st.lists(LABELS, min_size=1, max_size=6), st.booleans())
@settings(max_examples=150, deadline=None)
def test_terms_are_distinct_and_read_back(labels, blanks):
    labels = pl.Series(labels, dtype=pl.String).unique(maintain_order=True)
    made = terms(labels, blanks=blanks)
    assert made.n_unique() == len(labels)
    assert labels_of(made.str.strip_chars("<>"), blanks=blanks).to_list() == labels.to_list()


@given(st.lists(LABELS, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_terms_are_what_a_strict_parser_takes(labels):
    ox = pytest.importorskip("pyoxigraph")
    for label, term in zip(labels, terms(pl.Series(labels, dtype=pl.String)), strict=True):
        quads = ox.parse(f"{term} <urn:p> <{encoded(label)}> .".encode(), ox.RdfFormat.N_TRIPLES)
        assert str(next(quads).subject) == term
