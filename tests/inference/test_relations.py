"""Relations among themselves, and across graphs."""

import numpy as np
import pytest

from ingram.errors import ConfigError
from ingram.graph import KnowledgeGraph, with_inverses
from ingram.inference.relations import affinity_table, resembling
from ingram.relation_graph import affinities, build_relation_graph
from tests.strategies import random_graph
from tests.tiny import random_model, tiny_config


def renamed(graph, relation, other, prefix):
    """The same graph of other entities, one relation called otherwise."""
    rows = graph.decode(graph.triples).rows()
    return KnowledgeGraph.from_labels(
        [(prefix + h, other if r == relation else r, prefix + t) for h, r, t in rows]
    )


def test_every_pair_that_meets_is_listed_once_with_its_affinity():
    graph = random_graph(0, 9, 3, 30)
    table = affinity_table(graph)
    m = graph.num_relations
    dense = affinities(with_inverses(graph.triples, m), graph.num_entities, 2 * m).toarray()
    wanted = {
        (f"r{i}", f"r{j % m}", j >= m): dense[i, j]
        for i in range(m)
        for j in range(2 * m)
        if dense[i, j] and i != j and i <= j % m
    }
    found = {(a, b, inverse): w for a, b, inverse, w in table.iter_rows()}
    assert found.keys() == wanted.keys()
    for key, weight in found.items():
        assert weight == pytest.approx(wanted[key])
    assert len(table) == len(found)
    assert table["affinity"].is_sorted(descending=True)
    # Nothing is lost: every edge between different relations follows from a row by symmetry.
    whole = build_relation_graph(graph, 1)
    edges = {(int(i), int(j)) for i, j in zip(whole.rows, whole.cols, strict=True) if i != j}
    told = set()
    for a, b, inverse in found:
        i, j = int(a[1:]), int(b[1:]) + m * inverse
        for p, q in ((i, j), ((i + m) % (2 * m), (j + m) % (2 * m))):
            told |= {(p, q), (q, p)}
    assert told == edges


def test_a_relation_called_otherwise_is_recognised_by_its_affinities():
    train = random_graph(3, 30, 6, 120)
    graph = renamed(train, "r2", "novel", "x")
    found = resembling(graph, train, k=2)
    assert found.columns == ["relation", "known", "inverse", "similarity", "rank"]
    assert found["relation"].to_list() == ["novel", "novel"]
    assert found.row(0)[1:3] == ("r2", False)
    assert found["similarity"][0] == pytest.approx(1)
    assert found["similarity"][1] < 1
    assert found["rank"].to_list() == [1, 2]


def test_a_relation_that_is_another_backwards_is_recognised_as_such():
    train = random_graph(3, 30, 6, 120)
    rows = train.decode(train.triples).rows()
    graph = KnowledgeGraph.from_labels(
        [("x" + t, "novel", "x" + h) if r == "r2" else ("x" + h, r, "x" + t) for h, r, t in rows]
    )
    found = resembling(graph, train, k=1)
    assert found.row(0)[1:3] == ("r2", True)
    assert found["similarity"][0] == pytest.approx(1)


def test_a_model_recognises_it_without_any_relation_in_common():
    train = random_graph(3, 40, 4, 60)
    lonely = [(f"l{i}", "r9", f"l{i + 1}") for i in range(8)]
    train = KnowledgeGraph.from_labels([*train.decode(train.triples).rows(), *lonely])
    graph = KnowledgeGraph.from_labels(
        [("x" + h, "new " + r, "x" + t) for h, r, t in train.decode(train.triples).iter_rows()]
    )
    model = random_model(tiny_config())
    found = resembling(graph, train, model, k=1)
    alike = {row["relation"]: row for row in found.iter_rows(named=True)}
    assert len(alike) == 5
    # Apart from all others, a chain stands where no other relation does.
    assert alike["new r9"]["known"] == "r9"
    with pytest.raises(ConfigError, match="no relation in common"):
        resembling(graph, train)


def test_where_all_is_known_there_is_nothing_to_say():
    graph = random_graph(0, 9, 3, 30)
    assert len(resembling(graph, graph)) == 0


def test_similarities_are_cosines():
    train, graph = random_graph(0, 20, 4, 60), random_graph(1, 20, 6, 60)
    for model in (None, random_model(tiny_config())):
        values = resembling(graph, train, model, k=99)["similarity"].to_numpy()
        assert len(values) == 2 * 8  # two new relations, four known ones read either way
        assert (np.abs(values) <= 1 + 1e-9).all()
