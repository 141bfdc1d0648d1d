"""Files of questions: one part of each line is left open."""

import polars as pl
import pytest

from ingram.errors import TriplesError
from ingram.io.reading import read_queries, read_triples

ROWS = [("a", "r", None), (None, "r", "b"), ("a", None, "b"), ("a", "r", "?")]
TABLE = pl.DataFrame(ROWS, schema=["head", "relation", "tail"], orient="row")


def rows(path):
    return [tuple(part or None for part in row) for row in read_queries(path).iter_rows()]


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(("suffix", "separator"), [("tsv", "\t"), ("csv", ",")])
def test_text_may_have_empty_fields_and_a_header(tmp_path, suffix, separator, header):
    file = tmp_path / f"q.{suffix}"
    TABLE.write_csv(file, separator=separator, include_header=header)
    assert rows(file) == ROWS


def test_parquet_may_have_nulls_and_a_column_of_nothing_else(tmp_path):
    file = tmp_path / "q.parquet"
    TABLE.write_parquet(file)
    assert rows(file) == ROWS
    pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": [None]}).write_parquet(file)
    assert rows(file) == ROWS[:1]


def test_objects_may_leave_a_key_out(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text(
        '{"head": "a", "relation": "r"}\n{"tail": "b", "relation": "r", "head": ""}\n'
        '{"head": "a", "relation": null, "tail": "b"}\n{"head": "a", "relation": "r", "tail": "?"}'
    )
    assert rows(file) == ROWS


def test_triples_are_held_to_all_their_labels_as_before(tmp_path):
    file = tmp_path / "q.tsv"
    file.write_text("a\tr\t\n")
    with pytest.raises(TriplesError, match="want a label in each field, got none for the tail"):
        read_triples(file)


def test_rdf_has_no_way_to_ask(tmp_path):
    with pytest.raises(TriplesError, match="want questions in tsv, csv, parquet, jsonl, got nt"):
        read_queries(tmp_path / "q.nt")
