import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.kernels.adjacency import (
    Adjacency,
    entity_adjacency,
    group_by_destination,
    relation_adjacency,
)
from ingram.relation_graph import build_relation_graph
from tests import oracle
from tests.strategies import graph_of, graphs


def edges_of(adjacency: Adjacency):
    """(destination, source, kind) in the order in which the loops walk them."""
    return [
        (v, int(adjacency.sources[e]), int(adjacency.kinds[e]))
        for v in range(adjacency.num_nodes)
        for e in range(int(adjacency.pointers[v]), int(adjacency.pointers[v + 1]))
    ]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), max_size=40))
def test_edges_are_sorted_by_destination_and_kind_and_keep_their_order_within(edges):
    columns = np.array(edges, np.int64).reshape(-1, 3).T
    found = group_by_destination(*columns, 6)
    assert edges_of(found) == sorted(edges, key=lambda edge: (edge[0], edge[2]))
    assert found.num_nodes == 6
    assert found.num_edges == len(edges)


@given(graphs())
def test_an_entity_hears_the_heads_of_its_triples_and_of_their_reverses(graph):
    n, m = graph.num_entities, graph.num_relations
    wanted = [(t, h, r) for h, r, t in oracle.with_reverses(graph.triples, m)]
    assert edges_of(entity_adjacency(graph.triples, n, m)) == sorted(
        wanted, key=lambda e: (e[0], e[2])
    )


def test_learned_self_loops_are_one_edge_of_their_own_kind_at_each_entity():
    graph = graph_of([(0, 0, 1), (1, 1, 1)], 3, 2)
    found = edges_of(entity_adjacency(graph.triples, 3, 2, self_loops=True))
    facts, inverses = [(1, 0, 0), (1, 1, 1)], [(0, 1, 2), (1, 1, 3)]
    loops = [(0, 0, 4), (1, 1, 4), (2, 2, 4)]
    assert found == sorted([*facts, *inverses, *loops], key=lambda edge: (edge[0], edge[2]))


@given(graphs(min_triples=1))
def test_a_relation_hears_the_columns_of_its_row_by_bin(graph):
    relations = build_relation_graph(graph, 3)
    wanted = zip(relations.rows, relations.cols, relations.bins, strict=True)
    assert edges_of(relation_adjacency(relations)) == [tuple(map(int, edge)) for edge in wanted]


@given(graphs(), st.data())
def test_a_range_of_rows_holds_the_edges_into_those_nodes(graph, data):
    whole = entity_adjacency(graph.triples, graph.num_entities, graph.num_relations)
    start = data.draw(st.integers(0, whole.num_nodes))
    stop = data.draw(st.integers(start, whole.num_nodes))
    wanted = [(v - start, x, k) for v, x, k in edges_of(whole) if start <= v < stop]
    assert edges_of(whole.rows(start, stop)) == wanted


def test_an_adjacency_moves_with_its_device():
    moved = entity_adjacency(graph_of([(0, 0, 1)], 2, 1).triples, 2, 1).to(torch.device("meta"))
    assert {moved.pointers.device.type, moved.sources.device.type, moved.kinds.device.type} == {
        "meta"
    }


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), max_size=40))
def test_outgoing_edges_are_the_incoming_ones_by_source(edges):
    incoming = group_by_destination(*np.array(edges, np.int64).reshape(-1, 3).T, 6)
    wanted = [(x, v, k, e) for e, (v, x, k) in enumerate(edges_of(incoming))]
    out = incoming.outgoing
    sources = np.repeat(np.arange(6), np.diff(out.pointers.numpy()))
    columns = (sources, out.destinations, out.kinds, out.places)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found == sorted(wanted, key=lambda edge: edge[0])
