"""Tables written block by block are the tables that were given."""

import polars as pl
import pytest

from ingram.errors import TriplesError
from ingram.io import read_triples
from ingram.io.tables import write_tables

TABLE = pl.DataFrame(
    {
        "head": ["a", 'quo"te', "Ōsaka"],
        "relation": ["r", "r", "s"],
        "tail": ["b", "c,d", "e"],
        "score": [1.5, -1e-12, 3.0],
        "rank": [1, 2, 3],
        "known": [True, False, True],
    }
)


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.jsonl.gz", "t.parquet.zst"])
def test_blocks_become_one_table(tmp_path, name):
    write_tables([TABLE[:1], TABLE[:0], TABLE[1:]], tmp_path / name)
    read = pl.read_ndjson if "jsonl" in name else pl.read_parquet
    if "." not in name[2:]:
        assert read(tmp_path / name).equals(TABLE)
    assert read_triples(tmp_path / name).rows() == TABLE.select("head", "relation", "tail").rows()
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_tsv_has_one_header_and_labels_as_they_are(tmp_path):
    write_tables([TABLE[:2], TABLE[2:]], tmp_path / "t.tsv")
    lines = (tmp_path / "t.tsv").read_text().splitlines()
    assert lines[0] == "head\trelation\ttail\tscore\trank\tknown"
    assert lines[2].startswith('quo"te\tr\tc,d\t')
    assert len(lines) == 4


@pytest.mark.parametrize("name", ["t.tsv", "t.parquet", "t.jsonl"])
def test_a_failure_leaves_what_stood_there(tmp_path, name):
    (tmp_path / name).write_text("before")

    def blocks():
        yield TABLE
        raise KeyError

    with pytest.raises(KeyError):
        write_tables(blocks(), tmp_path / name)
    assert (tmp_path / name).read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_table_of_many_small_blocks_is_whole(tmp_path):
    write_tables([TABLE[i % 3 : i % 3 + 1] for i in range(50)], tmp_path / "t.parquet")
    assert len(pl.read_parquet(tmp_path / "t.parquet")) == 50


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("t.nt", "want tsv, parquet, jsonl to write, got nt"),
        ("t.csv", "want tsv, parquet, jsonl to write, got csv"),
        ("no/where.tsv", "cannot be written"),
        ("-", "want a file to write to"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_first_block(tmp_path, name, said):
    asked = []

    def blocks():
        asked.append(1)
        yield TABLE

    with pytest.raises(TriplesError, match=said):
        write_tables(blocks(), name if name == "-" else tmp_path / name)
    assert not asked


def test_a_tab_in_a_label_is_refused(tmp_path):
    bad = TABLE.with_columns(tail=pl.lit("a\tb"))
    with pytest.raises(TriplesError, match="no way to write a tab"):
        write_tables([bad], tmp_path / "t.tsv")
