"""Explanations drawn: whole pages that hold what they tell, and nothing that runs."""

import re
from xml.etree import ElementTree

import pytest

from ingram.experiments.explanation_page import explanation_page, explanation_picture
from ingram.experiments.figures import svg
from ingram.graph import KnowledgeGraph
from ingram.inference.explaining import explain
from tests.tiny import random_model, random_query_model, tiny_config

EVIL = "<script>alert('x')</script> $\\frac{$"
GRAPH = KnowledgeGraph.from_labels(
    [
        ("a", "r", "b"),
        ("b", "r", EVIL),
        (EVIL, "s&t", "a"),
        ("c", "r", "\x07"),
        ("lone", "r", "lone"),
    ]
)
MODELS = [random_query_model(), random_model(tiny_config())]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
@pytest.mark.parametrize("triple", [("a", "s&t", EVIL), ("a", "r", "\x07"), ("lone", "r", "lone")])
def test_any_labels_give_a_page_that_runs_nothing(model, triple):
    found = explain(model, GRAPH, *triple)
    picture = svg(explanation_picture(found))
    ElementTree.fromstring(picture)
    assert "<script" not in picture
    text = explanation_page(found)
    assert "<script" not in text
    assert not re.search(r"(src|href)=[\"'](?!#)", text)  # nothing is fetched from elsewhere
    assert text.startswith("<!doctype html>")
    for path in found.paths:
        assert "&lt;script&gt;" in text or EVIL not in path.words()


def test_a_page_has_the_verdict_the_paths_and_where_the_model_looks():
    found = explain(MODELS[1], GRAPH, "a", "r", "b")
    text = explanation_page(found)
    assert "It is stated in the graph." in text
    assert "a -r-&gt; b" in text
    assert "the fact itself" in text
    assert "Where the last entity layer looks" in text
    assert "Relations near r" in text


def test_names_are_shown_as_asked():
    found = explain(MODELS[1], GRAPH, "a", "r", "b")
    assert "Why (A, R, B)?" in explanation_page(found, str.upper)
