"""IRIs on the screen and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.strategies import vocabulary
from typer.testing import CliRunner

from ingram.cli import app
from ingram.cli.names import meant, prefixes_of, short
from ingram.io import ReadOptions


@pytest.fixture(scope="module")
def turtle(tmp_path_factory):
    pytest.importorskip("pyoxigraph")
    ids = np.random.default_rng(0).integers(0, (12, 2, 12), (80, 3)).tolist()
    lines = [f"ex:e{h} ex:r{r} ex:e{t} ." for h, r, t in ids]
    path = tmp_path_factory.mktemp("rdf") / "g.ttl"
    path.write_text("\n".join(["@prefix ex: <http://example.org/> .", *lines]))
    return path


def ingram(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "120"})
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def test_iris_are_named_as_their_file_names_them(turtle):
    assert short("http://example.org/e1") == "http://example.org/e1"
    with prefixes_of([turtle], ReadOptions()):
        assert short("http://example.org/e1") == "ex:e1"
        assert short("http://www.wikidata.org/entity/Q64") == "wd:Q64"
    assert short("http://example.org/e1") == "http://example.org/e1"


def test_a_label_that_the_graph_has_is_meant_before_an_iri(turtle):
    with prefixes_of([turtle], ReadOptions()):
        assert meant("ex:e1", vocabulary("http://example.org/e", 2, "entity")) == (
            "http://example.org/e1"
        )
        assert meant("ex:e1", vocabulary("ex:e", 2, "entity")) == "ex:e1"
        assert meant("ex:e9", vocabulary("ex:e", 2, "entity")) == "ex:e9"


def test_a_file_is_not_opened_for_its_prefixes_unless_a_label_is_shown(tmp_path):
    (tmp_path / "bad.ttl").write_text("@prefix broken")
    with prefixes_of([tmp_path / "bad.ttl"], ReadOptions()):
        pass


def test_people_see_short_names_and_machines_whole_ones(turtle, tmp_path):
    screen = ingram("data", "info", turtle)
    assert "ex:r1" in screen
    assert "http://example.org" not in screen
    told = json.loads(ingram("data", "info", turtle, "--json"))
    assert told["relation_table"][0]["relation"].startswith("http://example.org/r")


def test_predict_takes_and_shows_short_names(turtle, tmp_path):
    ingram("train", turtle, "-o", tmp_path / "run", "--epochs", 1)
    ask = ("predict", tmp_path / "run", turtle, "--head", "ex:e1", "--relation", "ex:r1")
    screen = ingram(*ask)
    assert "(ex:e1, ex:r1, ?)" in screen
    assert "http://example.org" not in screen
    (first, *_) = json.loads(ingram(*ask, "--json"))
    assert first["head"] == "http://example.org/e1"
    screen = ingram("evaluate", tmp_path / "run", turtle, "--by", "relation")
    assert "ex:r1" in screen
