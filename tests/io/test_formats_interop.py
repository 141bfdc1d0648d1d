"""Graphs to other tools and back."""

import sys
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings

from ingram.errors import MissingPackageError, TriplesError
from ingram.io import interop
from tests.io.format_cases import assert_same, graph_of, triples

GRAPH = graph_of([("b", "r", "a"), ("a", "s", "b"), ("b", "s", "a"), ("a", "r", "a")])
WEIGHTED = graph_of([("b", "r", "a"), ("a", "s", "b")], [2.0, 0.5])


@given(triples())
@settings(max_examples=50, deadline=None)
def test_networkx_and_back_is_the_same_graph(rows):
    pytest.importorskip("networkx")
    graph = graph_of(rows)
    back = interop.from_networkx(interop.to_networkx(graph))
    assert back.entities.labels.to_list() == graph.entities.labels.to_list()
    both = [set(g.decode(g.triples).iter_rows()) for g in (graph, back)]
    assert both[0] == both[1]


def test_networkx_edges_carry_relation_and_weight():
    nx = pytest.importorskip("networkx")
    made = interop.to_networkx(WEIGHTED)
    assert isinstance(made, nx.MultiDiGraph)
    assert made["b"]["a"]["r"] == {"weight": 2.0}
    assert_same(interop.from_networkx(made), WEIGHTED)


def test_networkx_relations_may_be_an_attribute_of_any_directed_graph():
    nx = pytest.importorskip("networkx")
    given = nx.DiGraph()
    given.add_edge(1, 2, kind="r")
    given.add_edge(2, 3, kind="s", weight=3)
    given.add_node(4)
    graph = interop.from_networkx(given, relation="kind")
    assert graph.entities.labels.to_list() == ["1", "2", "3", "4"]
    assert graph.decode(graph.triples).rows() == [("1", "r", "2"), ("2", "s", "3")]
    assert graph.weights.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        ("Graph", {}, "want a directed graph"),
        ("DiGraph", {}, "relation= to name the edge attribute"),
        ("MultiDiGraph", {}, "edge 'a' to 1: want the relation's label as key, got 0"),
        ("MultiDiGraph", {"relation": "kind"}, "want the relation's label as attribute 'kind'"),
    ],
)
def test_a_networkx_graph_without_relations_is_refused(make, options, message):
    nx = pytest.importorskip("networkx")
    given = getattr(nx, make)()
    given.add_edge("a", 1)
    with pytest.raises(TriplesError, match=message):
        interop.from_networkx(given, **options)


def test_two_networkx_nodes_that_read_alike_are_refused():
    nx = pytest.importorskip("networkx")
    given = nx.MultiDiGraph()
    given.add_edge("1", 1, key="r")
    with pytest.raises(TriplesError, match="want one label for each entity, got two that read '1'"):
        interop.from_networkx(given)


def test_pyg_and_back_is_the_same_graph():
    pytest.importorskip("torch_geometric")
    for graph in (GRAPH, WEIGHTED):
        data = interop.to_pyg(graph)
        data.validate()
        assert data.num_edges == graph.num_triples
        assert_same(interop.from_pyg(data), graph)


def test_pyg_data_without_labels_is_labelled_by_ids_or_by_the_caller():
    # Anything with these attributes will do, so this needs no torch_geometric.
    data = SimpleNamespace(
        edge_index=torch.tensor([[0, 2], [1, 0]]), edge_type=torch.tensor([1, 0]), num_nodes=4
    )
    graph = interop.from_pyg(data)
    assert graph.decode(graph.triples).rows() == [("0", "1", "1"), ("2", "0", "0")]
    assert graph.num_entities == 4
    graph = interop.from_pyg(data, entities="wxyz", relations="pq")
    assert graph.decode(graph.triples).rows() == [("w", "q", "x"), ("y", "p", "w")]
    with pytest.raises(TriplesError, match="triples want ids below"):
        interop.from_pyg(data, entities="wx")
    with pytest.raises(TriplesError, match="want Data with edge_index and edge_type"):
        interop.from_pyg(SimpleNamespace(edge_index=data.edge_index, edge_type=None))


def test_pykeen_and_back_is_the_same_graph(caplog):
    pytest.importorskip("pykeen")
    factory = interop.to_pykeen(GRAPH)
    assert factory.num_triples == GRAPH.num_triples
    back = interop.from_pykeen(factory)
    assert back.entities.labels.to_list() == GRAPH.entities.labels.to_list()
    assert sorted(back.triples.tolist()) == sorted(GRAPH.triples.tolist())
    interop.to_pykeen(WEIGHTED)
    assert "a TriplesFactory has no weights" in caplog.text


def test_a_factory_with_or_without_labels_is_read():
    factory = SimpleNamespace(
        mapped_triples=torch.tensor([[0, 0, 1]]), num_entities=2, real_num_relations=1
    )
    graph = interop.from_pykeen(factory)
    assert graph.decode(graph.triples).rows() == [("0", "0", "1")]
    factory.entity_to_id, factory.relation_to_id = {"b": 1, "a": 0}, {"r": 0}
    graph = interop.from_pykeen(factory)
    assert graph.decode(graph.triples).rows() == [("a", "r", "b")]


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("networkx", interop.to_networkx),
        ("torch_geometric", interop.to_pyg),
        ("pykeen", interop.to_pykeen),
    ],
)
def test_a_missing_package_is_one_line_that_names_it(monkeypatch, package, call):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=f"this needs {package}, which is not installed"):
        call(GRAPH)
