"""Every format, read back, is the same graph."""

import csv
import io
import json

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingram.errors import TriplesError
from ingram.io import read_graph, write_graph, write_triples
from ingram.io.terms import encoded
from tests.io.format_cases import LABELS, PACK, assert_same, graph_of, triples

quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WEIGHTS = st.floats(min_value=1e-300, max_value=1e300)
BREAKS_TSV = ("\t", "\n", "\r")
TSV_LABELS = LABELS.filter(lambda label: not any(c in label for c in BREAKS_TSV))


@given(triples(), st.sampled_from(list(PACK)))
@quick
def test_parquet_read_back_is_the_same_graph(tmp_path, rows, packing):
    path = tmp_path / f"g.parquet{packing}"
    write_graph(graph_of(rows), path)
    assert_same(read_graph(path), graph_of(rows))


@given(triples(), st.sampled_from(list(PACK)))
@quick
def test_n_triples_read_back_is_the_same_graph(tmp_path, rows, packing):
    path = tmp_path / f"g.nt{packing}"
    write_graph(graph_of(rows), path)
    assert_same(read_graph(path), graph_of(rows))


@given(triples(TSV_LABELS), st.sampled_from(list(PACK)))
@quick
def test_tsv_read_back_is_the_same_graph(tmp_path, rows, packing):
    path = tmp_path / f"g.tsv{packing}"
    write_graph(graph_of(rows), path)
    assert_same(read_graph(path), graph_of(rows))


@given(st.lists(st.tuples(TSV_LABELS, TSV_LABELS, TSV_LABELS, WEIGHTS), min_size=1, max_size=6))
@quick
@pytest.mark.parametrize("suffix", ["tsv", "parquet", "tsv.gz"])
def test_weights_read_back_are_the_same_to_the_last_bit(tmp_path, suffix, rows):
    graph = graph_of([row[:3] for row in rows], [row[3] for row in rows])
    write_graph(graph, tmp_path / f"g.{suffix}")
    assert_same(read_graph(tmp_path / f"g.{suffix}"), graph)


@given(triples(), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.booleans())
@quick
def test_csv_as_python_writes_it_is_the_same_graph(tmp_path, rows, quoting, header):
    text = io.StringIO(newline="")
    end = "\r\n" if quoting == csv.QUOTE_MINIMAL else "\n"  # "\n" would leave a "\r" unquoted
    writer = csv.writer(text, quoting=quoting, lineterminator=end)
    writer.writerows([("head", "relation", "tail")] * header + rows)
    path = tmp_path / "g.csv"
    path.write_bytes(text.getvalue().encode())
    if not header and path.read_bytes().startswith(b"\xef\xbb\xbf"):
        return  # a mark at the start of a file is no part of its first label
    assert_same(read_graph(path, header=header), graph_of(rows))


@given(triples(), st.booleans(), st.sampled_from(list(PACK)))
@quick
def test_json_lines_are_the_same_graph(tmp_path, rows, ascii_only, packing):
    lines = [
        json.dumps({"tail": t, "head": h, "relation": r}, ensure_ascii=ascii_only)
        for h, r, t in rows
    ]
    path = tmp_path / f"g.jsonl{packing}"
    path.write_bytes(PACK[packing]("\n".join(lines).encode()))
    assert_same(read_graph(path), graph_of(rows))


@given(
    st.lists(st.tuples(LABELS, st.sampled_from("pqr"), LABELS), min_size=1, max_size=6),
    st.sampled_from(["nq", "ttl", "trig", "rdf"]),
    st.sampled_from(list(PACK)),
)
@quick
def test_rdf_as_pyoxigraph_writes_it_is_the_same_graph(tmp_path, rows, suffix, packing):
    ox = pytest.importorskip("pyoxigraph")
    formats = {
        "nq": ox.RdfFormat.N_QUADS,
        "ttl": ox.RdfFormat.TURTLE,
        "trig": ox.RdfFormat.TRIG,
        "rdf": ox.RdfFormat.RDF_XML,
    }
    quads = [
        ox.Triple(ox.NamedNode(encoded(h)), ox.NamedNode(f"http://x/{r}"), ox.NamedNode(encoded(t)))
        for h, r, t in rows
    ]
    path = tmp_path / f"g.{suffix}{packing}"
    path.write_bytes(PACK[packing](ox.serialize(quads, format=formats[suffix])))
    plain = [(h, f"http://x/{r}", t) for h, r, t in rows]
    if any(_stands_as_it_is(label) for h, _, t in rows for label in (h, t)):
        return
    assert_same(read_graph(path), graph_of(plain))


def _stands_as_it_is(label):
    from ingram.io.terms import terms

    return terms(pl.Series([label]))[0] != f"<{encoded(label)}>"


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "nt", "tsv.zst", "nt.gz", "parquet.bz2"])
def test_a_label_of_a_megabyte_survives(tmp_path, suffix):
    long = "ü long label " * 77_000
    assert len(long.encode()) > 10**6
    graph = graph_of([("a", long + "r", long), (long, "r", "b")])
    write_graph(graph, tmp_path / f"g.{suffix}")
    assert_same(read_graph(tmp_path / f"g.{suffix}"), graph)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_label_of_a_megabyte_is_read(tmp_path, suffix):
    long = 'say "x", \n' * 110_000
    graph = graph_of([("a", "r", long), (long, "r", "b")])
    path = tmp_path / f"g.{suffix}"
    if suffix == "csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("a", "r", long), (long, "r", "b")])
    else:
        rows = [{"head": "a", "relation": "r", "tail": long}]
        rows += [{"head": long, "relation": "r", "tail": "b"}]
        path.write_text("\n".join(json.dumps(row) for row in rows))
    assert_same(read_graph(path), graph)


@pytest.mark.parametrize("bad", ["a\tb", "a\nb", "a\r"])
def test_a_label_that_breaks_a_line_is_refused_by_tsv_and_nothing_is_written(tmp_path, bad):
    path = tmp_path / "g.tsv"
    with pytest.raises(TriplesError, match="TSV has no way to write a tab or a line end") as caught:
        write_graph(graph_of([("a", "r", "b"), ("a", "r", bad)]), path)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_backslashes_and_quotes_in_tsv_are_plain_characters(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_bytes(b'a\\tb\t"r\t\'c\\\\\\n"\n')
    assert read_graph(path).decode(read_graph(path).triples).rows() == [
        ("a\\tb", '"r', "'c\\\\\\n\"")
    ]


def test_a_table_of_triples_is_written_like_a_graph(tmp_path):
    table = pl.DataFrame({"head": ["b", "a"], "relation": ["r", "r"], "tail": ["a", "b"]})
    write_triples(table, tmp_path / "g.nt")
    assert (tmp_path / "g.nt").read_text() == (
        "<urn:ingram:b> <urn:ingram:r> <urn:ingram:a> .\n"
        "<urn:ingram:a> <urn:ingram:r> <urn:ingram:b> .\n"
    )
