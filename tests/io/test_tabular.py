import gzip
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.errors import TriplesError
from ingram.io import read_graph
from ingram.io.reading import read_triples

GOOD = "a\tlikes\tb\nb\tlikes\tc\na\tknows\tc\n"


def write(path, content):
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["graph.tsv", "graph.txt", "graph.txt.gz"])
def test_lines_of_three_fields_become_a_graph(tmp_path, name):
    graph = read_graph(write(tmp_path / name, GOOD))
    assert graph.entities.labels.to_list() == ["a", "b", "c"]
    assert graph.relations.labels.to_list() == ["likes", "knows"]
    assert graph.triples.tolist() == [[0, 0, 1], [1, 0, 2], [0, 1, 2]]


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.removesuffix("\n"),
        GOOD.replace("\n", "\n\n"),
        GOOD.replace("\n", "\r\n").removesuffix("\r\n"),
        "\r\n" + GOOD,
    ],
    ids=["CRLF", "no newline at the end", "blank lines", "CRLF, none at the end", "blank first"],
)
def test_line_ends_and_blank_lines_do_not_matter(tmp_path, content):
    assert read_triples(write(tmp_path / "g.tsv", content)).rows() == [
        ("a", "likes", "b"),
        ("b", "likes", "c"),
        ("a", "knows", "c"),
    ]


LABELS = ["東京", "القاهرة", "Ελλάδα", "Ñandú", "emoji 🗺️", "  spaces  ", '"quoted"', "a'b", "x,y;z",
          "# hash", "NULL", "nan", "1.50", "é", "é", "zero\u200bwidth", "line\u2028separator",
          "next\x85line", "v\x0btab", "\\n", "\ufffd"]  # fmt: skip


def test_labels_of_any_script_are_taken_as_they_stand(tmp_path):
    lines = [f"{label}\t{label}\t{label}" for label in LABELS]
    table = read_triples(write(tmp_path / "g.tsv", "\n".join(lines)))
    assert table["head"].to_list() == LABELS
    assert table["relation"].to_list() == LABELS
    assert table["tail"].to_list() == LABELS


@given(
    st.lists(
        st.tuples(
            *[
                st.text(
                    st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]),
                    min_size=1,
                    max_size=5,
                )
            ]
            * 3
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_is_written_is_read(tmp_path_factory, triples):
    path = tmp_path_factory.mktemp("io") / "g.tsv"
    write(path, "\n".join("\t".join(t) for t in triples))
    assert read_triples(path).rows() == triples


@pytest.mark.parametrize(
    "name", ["data[1].tsv", "what?.tsv", "all*.tsv", "{a,b}.tsv", "~x %20.tsv"]
)
def test_a_file_may_have_any_name(tmp_path, name):
    write(tmp_path / "allofthem.tsv", "x\ty\tz\n")
    assert len(read_triples(write(tmp_path / name, GOOD))) == 3


def test_a_byte_order_mark_is_no_part_of_the_first_label(tmp_path):
    table = read_triples(write(tmp_path / "g.tsv", "\ufeff" + GOOD + "\ufeffa\tlikes\tb\n"))
    assert table["head"].to_list() == ["a", "b", "a", "\ufeffa"]


def test_duplicates_are_dropped_with_a_count(tmp_path, caplog):
    path = write(tmp_path / "g.tsv", GOOD + "a\tlikes\tb\na\tlikes\tb\n")
    with caplog.at_level(logging.WARNING):
        graph = read_graph(path)
    assert graph.num_triples == 3
    assert graph.duplicates == 2
    assert caplog.messages == [f"{path}: dropped 2 duplicate triples"]


@pytest.mark.parametrize("name", ["g.tsv", "g.txt.gz"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("a\tlikes", "want 3 tab-separated fields, got 2: 'a\\tlikes'"),
        ("just words", "want 3 tab-separated fields, got 1: 'just words'"),
        ("a\tb\tc\td", "want 3 tab-separated fields, got 4: 'a\\tb\\tc\\td'"),
        ("a\tb\tc\t", "want 3 tab-separated fields, got 4: 'a\\tb\\tc\\t'"),
        (" ", "want 3 tab-separated fields, got 1: ' '"),
        ("\tlikes\tb", "want a label in each field, got none for the head: '\\tlikes\\tb'"),
        ("a\t\tb", "want a label in each field, got none for the relation: 'a\\t\\tb'"),
        ("a\tlikes\t", "want a label in each field, got none for the tail: 'a\\tlikes\\t'"),
        ("\t\t", "want a label in each field, got none for the head: '\\t\\t'"),
    ],
)
def test_a_bad_line_is_refused_with_file_line_wanted_and_found(tmp_path, name, bad, message):
    path = write(tmp_path / name, f"{GOOD}\n{bad}\n{GOOD}")
    with pytest.raises(TriplesError) as caught:
        read_triples(path)
    assert str(caught.value) == f"{path}:5: {message}"


def test_a_tail_that_is_only_a_carriage_return_is_empty(tmp_path):
    path = write(tmp_path / "g.tsv", "a\tlikes\t\r\n")
    with pytest.raises(TriplesError, match="none for the tail"):
        read_triples(path)


def test_a_long_bad_line_is_shown_cut(tmp_path):
    path = write(tmp_path / "g.tsv", "x" * 500)
    with pytest.raises(TriplesError, match=r"'x{77}\.\.\.'; if it is another format"):
        read_triples(path)


@pytest.mark.parametrize("name", ["g.tsv", "g.txt.gz"])
def test_text_that_is_not_utf_8_is_refused_with_line_and_byte(tmp_path, name):
    path = write(tmp_path / name, GOOD.encode() + "Zürich\tin\tSchweiz\n".encode("latin-1"))
    with pytest.raises(TriplesError) as caught:
        read_triples(path)
    assert str(caught.value) == (
        rf"{path}:4: want UTF-8, got byte 0xfc at column 2: b'Z\xfcrich\tin\tSchweiz\n'"
    )


@pytest.mark.parametrize("content", ["", "\n\n", "\r\n"])
@pytest.mark.parametrize("name", ["g.tsv", "g.txt.gz"])
def test_an_empty_file_is_refused(tmp_path, name, content):
    path = write(tmp_path / name, content)
    with pytest.raises(TriplesError) as caught:
        read_triples(path)
    assert str(caught.value) == f"{path}: want lines of head, relation, tail, got an empty file"


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(TriplesError) as caught:
        read_triples(tmp_path / "none.tsv")
    assert str(caught.value) == f"{tmp_path / 'none.tsv'}: no such file"


def test_a_folder_is_refused_whatever_it_holds(tmp_path):
    write(tmp_path / "g.tsv", GOOD)
    with pytest.raises(TriplesError) as caught:
        read_triples(tmp_path)
    assert str(caught.value) == f"{tmp_path}: want a file of triples, got a folder"


@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_a_gzip_file_cut_short_is_refused(tmp_path, keep):
    path = tmp_path / "g.txt.gz"
    whole = gzip.compress("".join(f"a{i}\tr{i * i}\tb{i}\n" for i in range(3000)).encode())
    path.write_bytes(whole[: int(keep * len(whole))])
    with pytest.raises(TriplesError, match=r"g\.txt\.gz: want a gzip file, got a broken one"):
        read_triples(path)


def test_a_gzip_file_with_a_flipped_byte_is_refused(tmp_path):
    path = tmp_path / "g.txt.gz"
    whole = bytearray(
        gzip.compress("".join(f"a{i}\tr{i * i}\tb{i}\n" for i in range(3000)).encode())
    )
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(TriplesError, match=r"g\.txt\.gz"):
        read_triples(path)
