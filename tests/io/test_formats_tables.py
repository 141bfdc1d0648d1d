"""Tables: CSV, TSV, JSON Lines and Parquet, and which of their columns hold what."""

import csv
import io
import json

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ingram.errors import TriplesError
from ingram.io import lines as lines_module
from ingram.io import read_graph, read_triples
from tests.io.format_cases import one_line

many = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def put(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path, **options):
    with pytest.raises(TriplesError) as caught:
        read_triples(path, **options)
    return one_line(caught).replace(str(path), path.name)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,r,b\n", {}),
        ("head,relation,tail\na,r,b\n", {}),
        ("Tail,HEAD, relation\nb,a,r\n", {}),
        ("id,subject,predicate,object\n7,a,r,b\n", {}),
        ("head,relation,tail\na,r,b\n", {"header": True}),
        ("x,y,z\na,r,b\n", {"header": True}),
        ("x,y,z,w\nb,0,a,r\n", {"columns": ("z", "w", "x")}),
        ("b,0,a,r\n", {"columns": (2, 3, 0)}),
        ("x,y,z,w\nb,0,a,r\n", {"columns": (2, 3, 0), "header": True}),
        ("a,r,b\r\n\r\n", {}),
        ("\n,,\na,r,b\n", {}),
        ("\ufeffa,r,b", {}),
        ('"a","r","b"', {}),
        ("a,r,b,5\n", {"weight": 3, "columns": (0, 1, 2)}),
    ],
)
def test_csv_columns_are_found(tmp_path, text, options):
    table = read_triples(put(tmp_path, "g.csv", text), **options)
    assert table.select("head", "relation", "tail").rows() == [("a", "r", "b")]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,r\n", {}, "g.csv:1: want 3 comma-separated fields, got 2: 'a,r'"),
        ("1,a,r,b\n", {}, "got 4: '1,a,r,b'; the option columns chooses among more"),
        ("a,r,b\n\na,r,b,c\n", {}, "g.csv:3: want 3 comma-separated fields, got 4: 'a,r,b,c'"),
        ('a,r,"b\n\n"\na,r\n', {}, "g.csv:4: want 3 comma-separated fields, got 2"),
        ("a,,b\n", {}, "g.csv:1: want a label in each field, got none for the relation: 'a,,b'"),
        (
            'a,r,b\n\n"x\ny",r,""\n',
            {},
            "g.csv:3: want a label in each field, got none for the tail",
        ),
        ('a,r,"b\n', {}, "g.csv:1: want CSV, got a quotation mark that is never closed"),
        ('a,r,b\n"a"x,r,b\n', {}, "g.csv:2: want CSV, got a quotation mark inside a field"),
        ('a,r,b"c\n', {}, "g.csv:1: want CSV, got a quotation mark inside a field"),
        ("a,r,b\rc,r,d\r", {}, "g.csv:1: want CSV, got a carriage return without a line feed"),
        (
            "a,r,b\nx,r,\xff\n".encode("latin-1"),
            {},
            "g.csv:2: want UTF-8, got byte 0xff at column 5",
        ),
        ("x,y,z,w\n1,2,3,4\n", {"header": True}, "want columns head, relation, tail"),
        ("a,r,b\n", {"columns": ("a", "r", "q")}, "g.csv: no column 'q'; got 'a', 'r', 'b'"),
        ("a,r,b\n", {"columns": (0, 1, 3)}, "g.csv: no column 3; there are 3"),
        ("a,r,b\n", {"weight": 5}, "g.csv: no column 5; there are 3"),
        ("a,r,b,x\n", {"weight": 3}, "g.csv:1: want a positive number as weight, got 'x'"),
        ("a,r,b,\n", {"weight": 3}, "g.csv:1: want a positive number as weight, got ''"),
        ("a,r,b,-1\n", {"weight": 3}, "g.csv:1: want a positive number as weight, got '-1'"),
        (
            "head,relation,tail,weight\na,r,b,1\n\na,r,b,0\n",
            {},
            "g.csv:4: want a positive number as weight, got '0': 'a,r,b,0'",
        ),
        ("head,relation,tail\na,r\n", {}, "g.csv:2: want 3 comma-separated fields, got 2"),
        ("a,r,b,nan\n", {"weight": 3}, "g.csv:1: want a positive number as weight, got 'nan'"),
        ("", {}, "g.csv: want lines of head, relation, tail, got an empty file"),
        ("head,relation,tail\n", {}, "g.csv: want lines of head, relation, tail, got none"),
    ],
)
def test_csv_that_will_not_do_is_refused_with_its_place(tmp_path, text, options, message):
    assert message in refused(put(tmp_path, "g.csv", text), **options)


@given(st.text(st.sampled_from('ab,,,"\n\n\r '), max_size=40))
@example('a,b,"c\nd"\n"a""",b,c')
@many
def test_csv_that_is_read_is_read_as_python_reads_it(tmp_path, text):
    path = put(tmp_path, "g.csv", text)
    try:
        got = read_triples(path, header=False).rows()
    except TriplesError:
        return
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert got == [tuple(row) for row in rows if any(row)]


@given(
    st.lists(st.lists(st.text('a,"\n', min_size=1, max_size=4), min_size=3, max_size=3), min_size=1)
)
@settings(parent=many, max_examples=60)
def test_csv_records_may_lie_across_blocks(tmp_path, rows):
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    path = put(tmp_path, "g.csv", text.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "BLOCK", 16)
        assert read_triples(path, header=False).rows() == [tuple(row) for row in rows]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("width", [50, 51, 3000])
def test_tables_may_be_wide_and_are_still_not_ragged(tmp_path, suffix, width):
    comma = "," if suffix == "csv" else "\t"
    row = comma.join(map(str, range(width)))
    path = put(tmp_path, f"g.{suffix}", f"{row}\n{row}\n")
    last = (width - 1, 0, 1)
    assert read_triples(path, columns=last).rows() == [(str(width - 1), "0", "1")] * 2
    for bad in (row + comma, row.rpartition(comma)[0]):
        path = put(tmp_path, f"g.{suffix}", f"{row}\n{bad}\n")
        message = refused(path, columns=(0, 1, 2))
        assert message.startswith(f"g.{suffix}:2: want {width} ")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_the_number_of_a_bad_line_counts_from_the_start_of_the_file(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(lines_module, "BLOCK", 64)
    line = {"csv": "a,r,b\n", "tsv": "a\tr\tb\n"}.get(
        suffix, '{"head":"a","relation":"r","tail":"b"}\n'
    )
    path = put(tmp_path, f"g.{suffix}", line * 99 + "\n" + line + "x\n")
    assert f"g.{suffix}:102: want " in refused(path)
    assert len(read_triples(put(tmp_path, f"h.{suffix}", line * 99))) == 99


def test_tsv_columns_can_be_chosen(tmp_path):
    path = put(tmp_path, "g.tsv", "id\ts\tp\to\n1\ta\tr\tb\n")
    assert read_triples(path, columns=("s", "p", "o")).rows() == [("a", "r", "b")]
    assert read_triples(path, columns=(1, 2, 3), header=True).rows() == [("a", "r", "b")]
    assert read_triples(path, columns=(1, 2, 3)).rows()[0] == ("s", "p", "o")


def test_a_header_over_three_columns_of_tsv_is_a_triple_unless_said_otherwise(tmp_path, caplog):
    path = put(tmp_path, "g.tsv", "head\trelation\ttail\na\tr\tb\n")
    assert len(read_triples(path)) == 2
    assert (
        "g.tsv:1: read as a triple; if it is a header, say so with the option header" in caplog.text
    )
    assert read_triples(path, header=True).rows() == [("a", "r", "b")]


def test_four_fields_of_tsv_want_to_be_told_which_is_the_weight(tmp_path):
    path = put(tmp_path, "g.tsv", "a\tr\tb\t2\n")
    assert "g.tsv:1: want 3 tab-separated fields, got 4" in refused(path)
    assert read_triples(path, weight=3).rows() == [("a", "r", "b", 2.0)]
    assert read_triples(path, columns=(0, 1, 2)).rows() == [("a", "r", "b")]


def test_weights_of_a_file_reach_the_graph_and_add_up(tmp_path, caplog):
    text = "head,relation,tail,weight\na,r,b,2\nb,r,a,0.5\na,r,b,3\n"
    path = put(tmp_path, "g.csv", text)
    assert read_graph(path).weights.tolist() == [5.0, 0.5]
    assert "added up the weights of 1 duplicate triples" in caplog.text
    assert read_graph(path, weight=False).weights is None


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (['{"head": "a", "relation": "r", "tail": "b"}'], {}),
        (['  {"tail": "b", "x": [1, {"y": 2}], "head": "a", "relation": "r"}  ', "", " \r"], {}),
        (['{"s": "a", "p": "r", "o": "b", "n": 1}'], {"columns": ("s", "p", "o")}),
        (['{"subject": "a", "predicate": "r", "object": "b", "n": 1}'], {}),
        (['{"u": "a", "v": "r", "w": "b"}'], {}),
    ],
)
def test_json_lines_are_read(tmp_path, lines, options):
    path = put(tmp_path, "g.jsonl", "\n".join(lines))
    assert read_triples(path, **options).rows() == [("a", "r", "b")]


def test_a_number_in_json_is_its_text_and_a_weight_its_value(tmp_path):
    lines = [{"head": 12, "relation": "r", "tail": 10**30, "weight": w} for w in (1, 0.1, 1e-300)]
    path = put(tmp_path, "g.jsonl", "\n".join(map(json.dumps, lines)))
    assert read_triples(path).rows() == [("12", "r", str(10**30), w) for w in (1.0, 0.1, 1e-300)]


GOOD = '{"head": "a", "relation": "r", "tail": "b"}\n'


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"head": "a", "relation": "r"', "g.jsonl:2: want a JSON object, got Expecting"),
        (
            '{"head": "a", "relation": "r"}',
            "g.jsonl:2: want a label in each field, got none for the",
        ),
        ('{"head": "a", "relation": "r", "tail": null}', "g.jsonl:2: want a label in each field"),
        (
            '{"head": "a", "relation": "r", "tail": ["b"]}',
            "g.jsonl:2: want text as tail, got ['b']",
        ),
        (
            '{"head": "a", "relation": "r", "tail": "\\ud800"}',
            "g.jsonl:2: want Unicode text as tail",
        ),
        ('["a", "r", "b"]', 'g.jsonl:2: want a JSON object, got \'["a", '),
        ("null", "g.jsonl:2: want a JSON object, got 'null'"),
        (f"{GOOD.strip()}{GOOD.strip()}", "g.jsonl:2: want a JSON object, got Extra data"),
        (f"{GOOD.strip()},{GOOD.strip()}", "g.jsonl:2: want a JSON object, got Extra data"),
        ("[" * 100_000, "g.jsonl:2: want a JSON object, got "),
        ('{"head": NaN, "relation": "r", "tail": "b"}', "g.jsonl:2: want a JSON object, got NaN"),
    ],
)
def test_json_that_will_not_do_is_refused_with_its_line(tmp_path, bad, message):
    assert message in refused(put(tmp_path, "g.jsonl", GOOD + bad + "\n" + GOOD))


def test_parquet_takes_text_categories_and_whole_numbers(tmp_path):
    table = pl.DataFrame({"object": [7, 8], "subject": ["a", "b"], "predicate": ["r", "r"]})
    table = table.with_columns(pl.col("predicate").cast(pl.Categorical))
    table.write_parquet(tmp_path / "g.parquet")
    assert read_triples(tmp_path / "g.parquet").rows() == [("a", "r", "7"), ("b", "r", "8")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"head": ["a"], "relation": ["r"], "tail": [0.5]},
            "text or whole numbers in column 'tail'",
        ),
        ({"head": ["a"], "relation": ["r"], "tail": [["b"]]}, "text or whole numbers in column"),
        ({"head": ["a"] * 2, "relation": ["r"] * 2, "tail": ["b", None]}, "row 2: want a label in"),
        ({"a": ["a"], "b": ["r"]}, "want columns head, relation, tail"),
        ({"head": [], "relation": [], "tail": []}, "want text or whole numbers in column 'head'"),
        (
            {"head": ["a"], "relation": ["r"], "tail": ["b"], "weight": [0]},
            "row 1: want a positive number as weight, got '0'",
        ),
    ],
)
def test_parquet_that_will_not_do_is_refused(tmp_path, columns, message):
    path = tmp_path / "g.parquet"
    pl.DataFrame(columns).write_parquet(path)
    assert message in refused(path)
