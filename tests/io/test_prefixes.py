"""IRIs in short and whole again."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ingram.io import ReadOptions, shorten
from ingram.io.folder import declared_prefixes
from ingram.io.prefixes import WELL_KNOWN, expand, used_prefixes


def test_iris_are_shortened_for_the_eye_by_the_longest_prefix():
    assert shorten("http://www.wikidata.org/entity/Q64") == "wd:Q64"
    assert shorten("http://www.wikidata.org/prop/direct/P31") == "wdt:P31"
    assert shorten("http://www.w3.org/1999/02/22-rdf-syntax-ns#type") == "rdf:type"
    assert shorten("http://x/a") == "http://x/a"
    assert shorten("http://dbpedia.org/resource/AC/DC") == "http://dbpedia.org/resource/AC/DC"
    assert shorten("New York") == "New York"


def test_a_file_s_prefixes_come_before_the_well_known_ones():
    mine = {"ex": "http://x/", "wd": "http://x/deep/", "": "http://y/"}
    assert shorten("http://x/a", mine) == "ex:a"
    assert shorten("http://x/deep/a", mine) == "wd:a"
    assert shorten("http://y/a", mine) == ":a"
    assert shorten("http://www.wikidata.org/entity/Q64", mine).startswith("http://")


NAMESPACES = st.sampled_from(["http://x/", "http://x/deep/", "http://y#", "urn:z:"])
LOCAL = st.text("ab:/#. é", max_size=4)


@given(st.dictionaries(st.sampled_from(["", "a", "b", "wd"]), NAMESPACES), NAMESPACES, LOCAL)
def test_what_is_shown_in_short_can_be_typed_in_short(prefixes, namespace, local):
    label = namespace + local
    assert expand(shorten(label, prefixes), prefixes) == label


def test_a_text_without_a_known_prefix_stays_as_it_is():
    for text in ("New York", "http://x/a", "nobody:a", "wd:", "wd:a/b", ":a", "12:30"):
        assert expand(text) == text
    assert expand("wd:Q64") == WELL_KNOWN["wd"] + "Q64"


def test_prefixes_come_from_a_file_and_from_each_file_of_a_folder(tmp_path):
    for name, prefix in (("train", "a"), ("valid", "b"), ("test", "c")):
        text = f"@prefix {prefix}: <http://{prefix}/> . {prefix}:x {prefix}:r {prefix}:y ."
        (tmp_path / f"{name}.ttl").write_text(text)
    assert declared_prefixes(tmp_path / "train.ttl") == {"a": "http://a/"}
    assert declared_prefixes(tmp_path) == {p: f"http://{p}/" for p in "abc"}
    plain = (tmp_path / "train.ttl").rename(tmp_path / "train")
    assert declared_prefixes(plain) == {}
    assert declared_prefixes(plain, ReadOptions(format="ttl")) == {"a": "http://a/"}


def test_what_can_be_read_but_once_is_not_read_for_its_prefixes():
    assert declared_prefixes("-", ReadOptions(format="ttl")) == {}
    assert declared_prefixes("NL-100") == {}


def test_only_prefixes_that_some_label_begins_with_are_used():
    labels = [pl.Series(["http://x/a", "plain"]), pl.Series(["http://www.wikidata.org/entity/Q64"])]
    found = used_prefixes(labels, {"x": "http://x/", "y": "http://y/"})
    assert found == {"x": "http://x/", "wd": WELL_KNOWN["wd"]}
