"""Statistics by hand, and against slow counting."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.datasets.sizes import Sizes
from ingram.datasets.statistics import KINDS, dataset_statistics, graph_statistics
from ingram.datasets.statistics_page import statistics_page
from ingram.graph import Dataset, KnowledgeGraph

TRIPLES = [
    ("anna", "knows", "bert"),
    ("bert", "knows", "anna"),
    ("anna", "parent", "carl"),
    ("anna", "parent", "dora"),
    ("carl", "lives_in", "rome"),
    ("dora", "lives_in", "rome"),
    ("x", "self", "x"),
]


@pytest.fixture
def family() -> KnowledgeGraph:
    return KnowledgeGraph.from_labels(TRIPLES)


def test_sizes_components_and_degrees_of_a_small_graph(family):
    found = graph_statistics(family)
    assert found.sizes == Sizes(6, 4, 7)
    assert (found.components, found.loops) == (2, 1)
    assert found.giant_entities == pytest.approx(5 / 6)
    assert found.giant_triples == pytest.approx(6 / 7)
    assert found.density == pytest.approx(7 / (6 * 6 * 4))
    # anna 4, bert 2, carl 2, dora 2, rome 2, x 2 (its loop counts twice)
    assert sorted(found.degrees) == [2, 2, 2, 2, 2, 4]
    assert found.mean_degree == pytest.approx(14 / 6)
    assert found.quantiles["all"]["median"] == 2
    assert found.quantiles["out"]["max"] == 3
    assert found.quantiles["in"] == {
        "min": 1, "25 %": 1, "median": 1, "75 %": 1, "99 %": pytest.approx(1.95), "max": 2
    }  # fmt: skip


def test_relations_are_typed_by_answers_a_query(family):
    table = graph_statistics(family).relations
    kinds = dict(table.select("relation", "kind").iter_rows())
    assert kinds == {
        "knows": "one-to-one",
        "parent": "one-to-many",
        "lives_in": "many-to-one",
        "self": "one-to-one",
    }
    row = table.row(by_predicate=pl.col("relation") == "parent", named=True)
    assert (row["heads"], row["tails"], row["tails_per_head"]) == (1, 2, 2.0)
    symmetric = dict(table.select("relation", "symmetric").iter_rows())
    assert symmetric == {"knows": 1, "parent": 0, "lives_in": 0, "self": 1}
    assert graph_statistics(family).kinds["one-to-one"] == {"relations": 2, "triples": 3}


def test_entities_and_relations_without_triples_are_not_counted(family):
    part = family.with_triples(family.triples[:3])
    assert graph_statistics(part).sizes == Sizes(3, 2, 3)
    assert graph_statistics(part).components == 1
    assert graph_statistics(part).relations["relation"].to_list() == ["knows", "parent"]
    empty = graph_statistics(family.with_triples(np.empty((0, 3))))
    assert (empty.sizes, empty.components, empty.mean_degree) == (Sizes(0, 0, 0), 0, 0)
    json.dumps(empty.as_dict(), allow_nan=False)
    assert "<svg" in statistics_page("nothing", empty)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 4), st.integers(1, 60))
def test_counts_agree_with_slow_ones(seed, entities, relations, count):
    rng = np.random.default_rng(seed)
    drawn = rng.integers([entities, relations, entities], size=(count, 3))
    graph = KnowledgeGraph.from_labels([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in drawn])
    triples = {tuple(map(int, t)) for t in drawn}
    found = graph_statistics(graph)
    degrees = Counter(end for h, _, t in triples for end in (h, t))
    assert sorted(found.degrees) == sorted(degrees.values())
    components = {v: {v} for v in degrees}
    for h, _, t in triples:
        joined = components[h] | components[t]
        for v in joined:
            components[v] = joined
    distinct = {frozenset(c) for c in components.values()}
    assert found.components == len(distinct)
    largest = max(map(len, distinct))
    assert found.giant_entities == pytest.approx(largest / len(degrees))
    tails, heads = defaultdict(set), defaultdict(set)
    for h, r, t in triples:
        tails[r, h].add(t)
        heads[r, t].add(h)
    for row in found.relations.iter_rows(named=True):
        r = int(row["relation"][1:])
        many = {
            side: np.mean([len(v) for k, v in answers.items() if k[0] == r]) >= 1.5
            for side, answers in (("tail", tails), ("head", heads))
        }
        assert row["kind"] == "-to-".join("many" if many[s] else "one" for s in ("head", "tail"))
        own = [t for t in triples if t[1] == r]
        assert row["triples"] == len(own)
        assert row["symmetric"] == pytest.approx(
            sum((t, r, h) in triples for h, _, t in own) / len(own)
        )
    assert sum(found.kinds[kind]["triples"] for kind in KINDS) == len(triples)


@pytest.fixture
def inductive() -> Dataset:
    train = KnowledgeGraph.from_labels([("a", "old", "b"), ("b", "old", "c")])
    facts = [("d", "old", "e"), ("e", "new", "f"), ("d", "new", "f"), ("a", "new", "f")]
    valid, test = [("d", "new", "e")], [("f", "old", "d"), ("f", "newer", "d")]
    frames = [KnowledgeGraph.from_labels(part) for part in (valid, test)]
    frames = [graph.decode(graph.triples) for graph in frames]
    inference = KnowledgeGraph.from_labels(facts, *frames)
    return Dataset("toy", train, inference, *(inference.encode(frame) for frame in frames))


def test_what_is_new_in_a_dataset_is_counted_over_facts_validation_and_test(inductive):
    found = dataset_statistics(inductive)
    assert found.graphs["train"].sizes == Sizes(3, 1, 2)
    assert found.graphs["inference"].sizes == Sizes(4, 3, 7)
    assert found.graphs["facts"].sizes == Sizes(4, 2, 4)
    assert found.parts == {"facts": 4, "valid": 1, "test": 2}
    assert found.new["relations"] == {"count": 2, "share": pytest.approx(2 / 3)}
    assert found.new["triples"] == {"count": 5, "share": pytest.approx(5 / 7)}
    assert found.new["facts"]["count"] == 3
    assert found.new["test"] == {"count": 1, "share": 0.5}
    assert found.shared_entities == 1
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_dataset_on_one_graph_has_no_training_graph_of_its_own(family):
    facts = family.with_triples(family.triples[:5])
    dataset = Dataset("one", facts, facts, family.triples[5:6], family.triples[6:], inductive=False)
    found = dataset_statistics(dataset)
    assert list(found.graphs) == ["graph", "facts"]
    assert found.graphs["graph"].sizes.triples == 7
    assert "Not inductive" in statistics_page("one", found)


def test_the_page_stands_alone_and_escapes_labels():
    nasty = '<script>alert("x")</script> & $\\frac{$ 関係'
    graph = KnowledgeGraph.from_labels([("a", nasty, "b"), ("b", "r", "c")])
    page = statistics_page("<b>title</b>", graph_statistics(graph))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "関係" in page
    assert "<b>title" not in page
    assert page.count("<svg") == 2
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert page == statistics_page("<b>title</b>", graph_statistics(graph))


def test_the_page_of_a_dataset_shows_each_graph(inductive):
    page = statistics_page("toy", dataset_statistics(inductive))
    for name in ("train", "inference", "facts"):
        assert f"Relations of {name}" in page
    assert "triples with new relations" in page
    assert "5 (71.4%)" in page
