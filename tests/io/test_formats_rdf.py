"""RDF: what becomes of IRIs, blank nodes, literals, graphs and prefixes."""

import sys

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingram.errors import MissingPackageError, TriplesError
from ingram.io import lines as lines_module
from ingram.io import read_graph, read_prefixes, read_triples
from ingram.io.rdf_terms import Labels, faults, parser
from tests.io.format_cases import one_line

ox = pytest.importorskip("pyoxigraph")


def read(tmp_path, suffix, text, **options):
    path = tmp_path / f"g.{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_triples(path, **options).rows()


SUBJECTS = [
    "<http://x/a>",
    "_:b1",
    "_:b.2",
    "_:_",
    "_:é",
    "<http://x/é>",
    "<http://x/a b>",
    "<rel>",
]
SUBJECTS += ["<http://x/\\u0041>", "<http://x/\\uD800>", "<_:x>", '"s"', "<<( ", "<a:>", "_:a.", ""]
PREDICATES = ["<http://x/p>", "<urn:p>", "<http://x/{p}>", "_:p", "<p>", "<http://x/\\>"]
OBJECTS = [
    *SUBJECTS,
    '"l"',
    '"l"@en',
    '"l"@EN-x',
    '"a\\nb\\u00e9"',
    '"a\\uD83D"',
    '"a\tb"',
    '"\\x"',
]
OBJECTS += [
    '"5"^^<http://x/i>',
    '"x"^^<i>',
    '"x"@e_n',
    '"x"^^<http://www.w3.org/2001/XMLSchema#string>',
]
OBJECTS += ["<<( <http://x/a> <http://x/p> <http://x/o> )>>", '"a" "b"', '"a\rb"', '"unclosed']
GRAPHS = ["", " <http://x/g>", "_:g", "<http://x/g>", " _:g", ' "g"', " <g>"]
ENDS = [
    " .",
    ".",
    " . # c",
    " .\t",
    " . .",
    "",
    " ;",
    " .\r<http://x/a> <http://x/p> <http://x/z> .",
]
GAPS = [" ", "\t", "  ", ""]


@st.composite
def line(draw):
    usual = draw(st.booleans())  # most of a line is usual, or no two terms ever meet

    def choose(values, count=1):
        return draw(st.sampled_from(values[:count] if usual else values))

    if draw(st.integers(0, 19)) == 0:
        return draw(st.sampled_from(["# comment", "  ", "", "\t#", "x", "<", "@prefix a: <b> ."]))
    parts = [choose(SUBJECTS, 3), choose(GAPS, 2), choose(PREDICATES, 2), choose(GAPS, 2)]
    return "".join([*parts, draw(st.sampled_from(OBJECTS)), choose(GRAPHS, 2), choose(ENDS, 3)])


def by_the_parser_alone(text, kind, literals):
    labels = Labels("file", kind, keep_literals=literals)
    with faults("file", kind):
        return [row for row in map(labels, parser(text.encode(), kind)) if row]


@given(st.lists(line(), min_size=1, max_size=4), st.sampled_from(["nt", "nq"]), st.booleans())
@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_fast_path_gives_what_the_parser_gives(tmp_path, lines, kind, literals):
    text = "\n".join(lines)
    try:
        want = by_the_parser_alone(text, kind, literals)
    except TriplesError:
        want = None
    try:
        got = read(tmp_path, kind, text, literals=literals)
    except TriplesError as error:
        got = [] if "got none" in str(error) or "got an empty file" in str(error) else None
    assert got == want


def test_lines_are_numbered_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_module, "BLOCK", 64)
    good = "<http://x/a> <http://x/p> <http://x/b> .\n" * 9
    assert len(read(tmp_path, "nt", good)) == 9
    with pytest.raises(TriplesError, match=r"g\.nt:10: want N-Triples, got ") as caught:
        read(tmp_path, "nt", good + "<http://x/a> <http://x/p>\n")
    one_line(caught)


def test_literals_are_skipped_and_counted(tmp_path, caplog):
    text = '<http://x/a> <http://x/p> "one" , "zwei"@de , 3 , <http://x/b> .'
    assert read(tmp_path, "ttl", text) == [("http://x/a", "http://x/p", "http://x/b")]
    assert "skipped 3 triples whose object is a literal" in caplog.text


def test_literals_in_n_triples_are_counted_too(tmp_path, caplog):
    text = '<http://x/a> <http://x/p> "one" .\n<http://x/a> <http://x/p> "tw\\u00f6" . #\n'
    with pytest.raises(TriplesError, match=r"g\.nt: want triples, got none"):
        read(tmp_path, "nt", text)
    assert "skipped 2 triples whose object is a literal" in caplog.text


@pytest.mark.parametrize("suffix", ["nt", "ttl"])
def test_literals_can_be_kept_and_are_labelled_in_the_canonical_form(tmp_path, suffix):
    literals = ['"one"', '"ZWEI"@DE', '"5"^^<http://x/int>', '"\\u0041\\n"']
    literals += ['"s"^^<http://www.w3.org/2001/XMLSchema#string>']
    text = "".join(f"<http://x/a> <http://x/p> {literal} .\n" for literal in literals)
    tails = [row[2] for row in read(tmp_path, suffix, text, literals=True)]
    assert tails == ['"one"', '"ZWEI"@de', '"5"^^<http://x/int>', '"A\\n"', '"s"']


def test_triples_about_triples_are_skipped_and_counted(tmp_path, caplog):
    text = (
        "<http://x/a> <http://x/p> <<( <http://x/a> <http://x/p> <http://x/b> )>> .\n"
        "<http://x/a> <http://x/p> <http://x/b> .\n"
    )
    assert len(read(tmp_path, "nt", text)) == 1
    assert "skipped 1 triples about triples" in caplog.text


def test_blank_nodes_keep_their_names_and_nameless_ones_are_numbered(tmp_path):
    text = "@prefix : <http://x/> . _:n :p [ :q :b ] , [] . _:anon1 :p :c ."
    rows = read(tmp_path, "ttl", text)
    assert rows == read(tmp_path, "ttl", text)  # though the parser draws names at random
    assert rows == [
        ("_:anon1", "http://x/q", "http://x/b"),
        ("_:n", "http://x/p", "_:anon1"),
        ("_:n", "http://x/p", "_:anon2"),
        ("_:anon3", "http://x/p", "http://x/c"),  # the file's own anon1 is another node
    ]


def test_the_graphs_of_quads_are_left_out_and_a_triple_in_two_counts_once(tmp_path, caplog):
    path = tmp_path / "g.trig"
    path.write_text("@prefix : <http://x/> . :g { :a :p :b } :h { :a :p :b . :b :p :a }")
    graph = read_graph(path)
    assert graph.num_triples == 2
    assert "dropped 1 duplicate triples" in caplog.text


def test_a_relative_iri_wants_a_base(tmp_path):
    with pytest.raises(
        TriplesError, match="want whole IRIs, got the relative 'b'; say with the option base"
    ):
        read(tmp_path, "ttl", "<http://x/a> <http://x/p> <b> .")
    rows = read(tmp_path, "ttl", "<a> <http://x/p> <b#c> .", base="http://y/z/")
    assert rows == [("http://y/z/a", "http://x/p", "http://y/z/b#c")]


def test_an_iri_with_spaces_is_read_as_it_stands(tmp_path):
    rows = read(tmp_path, "nt", "<http://x/New York> <http://x/p> <http://x/{b}> .")
    assert rows == [("http://x/New York", "http://x/p", "http://x/{b}")]


def test_a_fault_in_turtle_names_its_line(tmp_path):
    with pytest.raises(TriplesError, match=r"g\.ttl:2: want Turtle, got ") as caught:
        read(tmp_path, "ttl", "@prefix : <http://x/> .\n:a :p ; ; .\n")
    one_line(caught)


def test_an_iri_that_stands_for_a_text_is_read_as_the_text(tmp_path):
    text = "<urn:ingram:New%20York> <urn:ingram:r> <http://x/b> .\n"
    assert read(tmp_path, "nt", text) == [("New York", "r", "http://x/b")]


def test_an_iri_that_only_looks_like_one_of_ours_stays_as_it_is(tmp_path):
    foreign = [
        "urn:ingram:%41",
        "urn:ingram:http://x/b",
        "urn:ingram:%FF",
        "urn:ingram:a%2",
        "urn:ingram:",
    ]
    foreign += ["urn:ingram:_:b1"]
    text = "".join(f"<{iri}> <http://x/p> <http://x/b> .\n" for iri in foreign)
    assert [row[0] for row in read(tmp_path, "nt", text)] == foreign


def test_a_missing_package_is_one_line_that_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(MissingPackageError, match=r'pip install "ingram\[rdf\]"') as caught:
        read(tmp_path, "ttl", "<http://x/a> <http://x/p> <http://x/b> .")
    one_line(caught)
    # Plain N-Triples need no package.
    assert len(read(tmp_path, "nt", "<http://x/a> <http://x/p> <http://x/b> .")) == 1


def test_a_relative_iri_in_n_triples_is_refused_without_advice_that_would_not_help(tmp_path):
    with pytest.raises(TriplesError, match=r"got the relative 'a'$"):
        read(tmp_path, "nt", "<a> <http://x/p> <http://x/b> .")


XML = (
    '<?xml version="1.0"?>{}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:e="http://e/"><rdf:Description rdf:about="{}"><e:p rdf:resource="http://o"/>'
    "</rdf:Description></rdf:RDF>"
)


def test_xml_entities_that_shorten_namespaces_are_read(tmp_path):
    text = XML.format('<!DOCTYPE r [\n<!ENTITY e "http://e/" >\n<!ENTITY f "f">]>', "&e;a&f;")
    assert read(tmp_path, "rdf", text) == [("http://e/af", "http://e/p", "http://o")]


@pytest.mark.parametrize("value", ["&a;&a;", "x" * 300, "&#38;a;"])
@pytest.mark.parametrize("before", [0, 2**20 - 150, 2**20 - 100, 2**20 - 60, 2**20 - 40])
def test_xml_entities_that_could_grow_are_refused(tmp_path, value, before):
    entities = f'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "{value}">]>'
    text = XML.format(f"<!--{'-x' * (before // 2)}-->" + entities, "http://x/&b;")
    with pytest.raises(TriplesError, match="want XML entities of at most 256") as caught:
        read(tmp_path, "rdf", text)
    one_line(caught)


def test_a_file_s_prefixes_are_those_before_its_first_triple(tmp_path):
    path = tmp_path / "g.ttl"
    path.write_text("@prefix ex: <http://x/> . ex:a ex:p ex:b . @prefix late: <http://y/> .")
    assert read_prefixes(path) == {"ex": "http://x/"}
    path = tmp_path / "g.rdf"
    path.write_text(XML.format("", "http://x/a"))
    assert read_prefixes(path)["e"] == "http://e/"
    with pytest.raises(TriplesError, match="want RDF, got tsv"):
        read_prefixes(tmp_path / "g.tsv")


def test_labels_are_whole_iris_whatever_the_prefixes(tmp_path):
    one = read(tmp_path, "ttl", "@prefix e: <http://x/> . e:a e:p e:b .")
    two = read(tmp_path, "ttl", "@prefix e: <http://y/> . e:a e:p e:b .")
    assert one == [("http://x/a", "http://x/p", "http://x/b")]
    assert two == [("http://y/a", "http://y/p", "http://y/b")]


def test_the_result_is_a_frame_of_three_text_columns(tmp_path):
    path = tmp_path / "g.ttl"
    path.write_text("<http://x/a> <http://x/p> <http://x/b> .")
    assert read_triples(path).schema == dict.fromkeys(("head", "relation", "tail"), pl.String)
