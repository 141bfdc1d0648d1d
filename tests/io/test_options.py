"""How a file is read, as a value."""

from dataclasses import FrozenInstanceError

import polars as pl
import pytest

from ingram.errors import TriplesError
from ingram.io import ReadOptions, read_graph, read_triples
from ingram.io.formats import FORMATS, RDF, TABLES


def test_options_and_keywords_say_the_same(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("1,a,r,b,2\n2,b,r,c,5\n")
    options = ReadOptions(columns=[1, 2, 3], weight=4)
    assert read_triples(path, options).rows() == [("a", "r", "b", 2.0), ("b", "r", "c", 5.0)]
    assert read_triples(path, columns=(1, 2, 3), weight=4).equals(read_triples(path, options))
    assert read_graph(path, options, weight=None).weights is None  # keywords win


def test_a_keyword_that_is_no_option_is_a_mistake_in_the_program(tmp_path):
    with pytest.raises(TypeError, match="colums"):
        read_graph(tmp_path / "g.csv", colums=(0, 1, 2))


def test_options_cannot_be_changed_and_compare_by_value():
    options = ReadOptions(columns=["a", "b", "c"])
    with pytest.raises(FrozenInstanceError):
        options.columns = None
    assert options == ReadOptions(columns=("a", "b", "c"))
    assert ReadOptions(format=".TTL") == ReadOptions(format="ttl")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xlsx"}, "no format 'xlsx'; known are tsv, csv"),
        ({"columns": ("a", "b")}, r"columns: want three names or positions, .* got \('a', 'b'\)"),
        ({"columns": "abc"}, "columns: want three names or positions, .* got 'abc'"),
        ({"weight": True}, "weight: want the name or position of a column, got True"),
        ({"limit": 0}, "limit: want a number of bytes above 0, got 0"),
    ],
)
def test_a_value_that_means_nothing_is_refused_before_any_file_is_opened(options, message):
    with pytest.raises(TriplesError, match=message):
        ReadOptions(**options)


@pytest.mark.parametrize(
    ("option", "kinds"),
    [
        ({"columns": (0, 1, 2)}, TABLES),
        ({"weight": 0}, TABLES),
        ({"weight": False}, TABLES),
        ({"header": False}, ("tsv", "csv")),
        ({"literals": True}, RDF),
        ({"base": "http://x/"}, ("ttl", "rdfxml", "trig")),
        ({"limit": 10**6}, tuple(FORMATS)),
    ],
)
def test_an_option_that_says_nothing_of_a_format_is_refused(option, kinds):
    options, (name,) = ReadOptions(**option), option
    for kind in FORMATS:
        if kind in kinds:
            options.insist_on_use("file", kind)
        else:
            with pytest.raises(
                TriplesError, match=f"file: the option {name} is for .*, got {kind}"
            ):
                options.insist_on_use("file", kind)


def test_reading_refuses_an_option_that_would_be_passed_over(tmp_path):
    path = tmp_path / "g.parquet"
    pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["b"]}).write_parquet(path)
    with pytest.raises(TriplesError, match=r"g\.parquet: the option header is for tsv, csv"):
        read_graph(path, header=True)


def test_the_weights_of_a_tsv_file_can_be_left_out(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_text("head\trelation\ttail\tweight\na\tr\tb\t2\n")
    assert read_graph(path).weights.tolist() == [2.0]
    assert read_graph(path, weight=False).weights is None
    assert read_graph(path, weight=3).weights.tolist() == [2.0]
