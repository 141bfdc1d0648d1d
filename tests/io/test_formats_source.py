"""Where graphs are read from: names, compression, standard input, and input that means harm."""

import bz2
import gzip
import io
import subprocess
import sys
import zlib
from types import SimpleNamespace

import polars as pl
import pytest
import zstandard

from ingram.cli import main
from ingram.errors import TriplesError
from ingram.io import read_graph, read_triples
from ingram.io import source as source_module
from ingram.io.formats import FORMATS, compression_of, format_of
from tests.io.format_cases import PACK, one_line

TEXT = b"a\tr\tb\nb\tr\tc\n"
ROWS = [("a", "r", "b"), ("b", "r", "c")]


def refused(path, **options):
    with pytest.raises(TriplesError) as caught:
        read_triples(path, **options)
    return one_line(caught)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("g.tsv", "tsv"),
        ("g.txt", "tsv"),
        ("triples", "tsv"),
        ("g.v1.dat", "tsv"),
        ("g.csv.gz", "csv"),
        ("g.PARQUET", "parquet"),
        ("a.b.ndjson.zst", "jsonl"),
        ("g.nt.bz2", "nt"),
        ("g.nq", "nq"),
        ("g.TTL.GZ", "ttl"),
        ("g.owl", "rdfxml"),
        ("g.trig", "trig"),
        ("g.gz", "tsv"),
        (".csv", "tsv"),
    ],
)
def test_the_suffix_says_the_format(name, want):
    assert format_of(name) == want


def test_a_given_format_wins_over_the_suffix(tmp_path):
    path = tmp_path / "g.nt"
    path.write_bytes(TEXT)
    assert read_triples(path, format="tsv").rows() == ROWS
    assert format_of("g.tsv", "turtle") == "ttl"
    assert {format_of("-", name) for name in FORMATS} == set(FORMATS)
    with pytest.raises(TriplesError, match="no format 'xlsx'; known are tsv, csv, parquet"):
        read_triples(path, format="xlsx")


@pytest.mark.parametrize("packing", PACK)
def test_each_compression_is_unpacked_by_suffix_and_without(tmp_path, packing):
    for name in (f"g.tsv{packing}", "g.tsv"):
        path = tmp_path / name
        path.write_bytes(PACK[packing](TEXT))
        assert read_triples(path).rows() == ROWS
    assert compression_of("g.TSV.GZ") == "gzip"


@pytest.mark.parametrize("packing", [".gz", ".zst", ".bz2"])
def test_packed_parts_one_after_the_other_are_one_file(tmp_path, packing):
    path = tmp_path / f"g.tsv{packing}"
    path.write_bytes(b"".join(PACK[packing](bytes([byte])) for byte in TEXT))
    assert read_triples(path).rows() == ROWS


@pytest.mark.parametrize("packing", [".gz", ".zst", ".bz2"])
@pytest.mark.parametrize("cut", [1, 5, -1, -9])
def test_a_packed_file_that_was_cut_off_is_refused(tmp_path, packing, cut):
    path = tmp_path / f"g.tsv{packing}"
    path.write_bytes(PACK[packing](TEXT * 1000)[:cut])
    assert "got a broken one" in refused(path)


@pytest.mark.parametrize("packing", [".gz", ".zst", ".bz2"])
@pytest.mark.parametrize("data", [TEXT, b"\x00" * 50, b"PK\x03\x04" * 9])
def test_a_file_that_is_not_packed_as_its_name_says_is_refused(tmp_path, packing, data):
    path = tmp_path / f"g.tsv{packing}"
    path.write_bytes(data)
    assert "got a broken one" in refused(path)


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl", "parquet", "nt", "ttl", "rdf", "tsv.gz"])
def test_an_empty_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"g.{suffix}"
    path.touch()
    assert str(path) in refused(path)


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl", "nt", "nq", "ttl", "trig"])
@pytest.mark.parametrize(
    "text", ["a\tr\tü\n".encode("latin-1"), "a\tr\tb\n".encode("utf-16"), bytes(range(256)) * 9]
)
def test_what_is_not_utf_8_is_refused(tmp_path, suffix, text):
    path = tmp_path / f"g.{suffix}"
    path.write_bytes(text)
    assert str(path) in refused(path)


def test_a_missing_file_a_folder_and_a_forbidden_path_are_refused(tmp_path):
    assert refused(tmp_path / "no.nt").endswith("no.nt: no such file")
    assert refused(tmp_path).endswith("want a file of triples, got a folder")
    assert "cannot be read" in refused("a\x00b")


class Stdin(io.BytesIO):
    """Standard input whose pieces come one at a time."""

    def readinto1(self, buffer):
        part = self.read(min(20, len(buffer)))
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize("packing", PACK)
def test_standard_input_is_read_as_tsv_unless_said_otherwise(monkeypatch, packing):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Stdin(PACK[packing](TEXT))))
    assert read_triples("-").rows() == ROWS
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Stdin(PACK[packing](b"a,r,b"))))
    assert read_triples("-", format="csv").rows() == ROWS[:1]
    table = io.BytesIO()
    pl.DataFrame(ROWS, schema=["head", "relation", "tail"], orient="row").write_parquet(table)
    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=Stdin(PACK[packing](table.getvalue())))
    )
    assert read_triples("-", format="parquet").rows() == ROWS


def test_errors_call_standard_input_by_its_name(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Stdin(b"a\tb\n")))
    assert refused("-").startswith("standard input:1: want 3 tab-separated fields, got 2")


@pytest.mark.parametrize("packing", [".gz", ".zst", ".bz2"])
def test_what_grows_beyond_the_limit_is_refused_unless_the_limit_is_raised(
    tmp_path, monkeypatch, packing
):
    monkeypatch.setattr(source_module, "FLOOR", 10_000)
    lines = b"a\tr\tb\n" * 100_000
    path = tmp_path / f"g.tsv{packing}"
    path.write_bytes(PACK[packing](lines))
    assert "unpacks to more than " in refused(path)
    assert "if it may, say how many with the option limit" in refused(path)
    assert len(read_triples(path, limit=len(lines))) == 100_000
    assert "unpacks to more than 599,999 bytes" in refused(path, limit=len(lines) - 1)


def test_the_limit_follows_the_size_of_what_was_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(source_module, "FLOOR", 10)
    path = tmp_path / "g.tsv.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\tr\tb\n" % i for i in range(10_000))))
    assert len(read_triples(path)) == 10_000


BOMBS = """
import resource, sys
from ingram.errors import IngramError
from ingram.io import read_graph
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
for path in sys.argv[1:]:
    try:
        read_graph(path)
    except IngramError as error:
        print(f"{peak() - before:.0f}", error, flush=True)
"""


def test_files_that_unpack_without_end_cost_little_memory(tmp_path):
    """Small files that unpack to hundreds of megabytes, or are one line without end."""
    packer = zlib.compressobj(wbits=31)
    lines = b"a\tb\tc\n" * 2**16
    same = b"".join([packer.compress(lines) for _ in range(400)] + [packer.flush()])
    nested = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    files = {
        "zeros.tsv.gz": zlib.compress(bytes(2**28), 1, wbits=31),
        "same.tsv.gz": same,
        "zeros.nt.zst": zstandard.compress(bytes(2**28), 1),
        "long.csv.bz2": bz2.compress(b"a" * 2**25),
        "quote.csv": b'a,b,"' + b"x\n" * 2**24,
        "line.jsonl": b'{"head": "' + b"x" * 2**25,
        "long.ttl": b'<http://x/a> <http://x/p> "' + b"x" * 2**25,
        "laughs.rdf": f'<!DOCTYPE r [<!ENTITY e0 "x">{nested}]><r>&e11;</r>'.encode(),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    table = pl.select(pl.repeat("x", 2**24).alias(name) for name in ("head", "relation", "tail"))
    table.lazy().sink_parquet(tmp_path / "rows.parquet")
    paths = [tmp_path / name for name in (*files, "rows.parquet")]
    command = [sys.executable, "-c", BOMBS, *map(str, paths)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    said = out.stdout.splitlines()
    assert len(said) == len(paths), out.stdout + out.stderr
    for line, path in zip(said, paths, strict=True):
        megabytes, message = line.split(" ", 1)
        assert int(megabytes) < 1200, line
        assert message.startswith(str(path))
    assert out.stderr == ""


def test_a_graph_may_be_named_by_text_or_path(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_bytes(TEXT)
    assert read_graph(str(path)).num_triples == read_graph(path).num_triples == 2


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cut.tsv.gz", gzip.compress(TEXT * 99)[:-4]),
        ("ragged.csv", b"a,r,b\na,r\n"),
        ("binary.tsv", bytes(range(256))),
        ("empty.nt", b""),
        ("broken.parquet", b"PAR1" + bytes(99) + b"PAR1"),
        ("mis-encoded.jsonl", b'{"head": "\xff"}'),
        ("long.nt", b"<http://x/" + b"a" * 2**25),
    ],
)
def test_the_command_line_says_one_line_and_exits_with_two(
    tmp_path, monkeypatch, capsys, name, data
):
    path = tmp_path / name
    path.write_bytes(data)
    monkeypatch.setattr(sys, "argv", ["ingram", "data", "info", str(path)])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {path}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]
