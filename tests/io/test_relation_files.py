"""The relation graph for other tools."""

import json

import networkx as nx
import polars as pl
import pytest

from ingram.errors import ConfigError
from ingram.graph import KnowledgeGraph
from ingram.inference.relations import affinity_table
from ingram.io.relation_files import write_relation_graph

GRAPH = KnowledgeGraph.from_labels(
    [("a", "<likes> & \x01", "b"), ("a", "née", "b"), ("b", "née", "c"), ("x", "alone", "y")]
)
TABLE = affinity_table(GRAPH)


def test_graphml_is_read_by_networkx(tmp_path):
    write_relation_graph(tmp_path / "g.graphml", GRAPH.relations, TABLE)
    found = nx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
    labels = nx.get_node_attributes(found, "label")
    assert list(labels.values()) == ["<likes> & \N{REPLACEMENT CHARACTER}", "née", "alone"]
    ids = {label: i for i, label in enumerate(GRAPH.relations.labels)}
    edges = {
        (f"r{ids[a]}", f"r{ids[b]}", inverse, affinity)
        for a, b, inverse, affinity in TABLE.iter_rows()
    }
    read = {(a, b, d["inverse"], d["affinity"]) for a, b, d in found.edges(data=True)}
    both = read | {(b, a, i, w) for a, b, i, w in read}
    assert edges <= both
    assert found.number_of_edges() == len(TABLE)
    assert not found.is_directed()


def test_json_and_parquet_hold_the_table(tmp_path):
    write_relation_graph(tmp_path / "g.json", GRAPH.relations, TABLE)
    told = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))
    assert told == {"relations": GRAPH.relations.labels.to_list(), "affinities": TABLE.to_dicts()}
    write_relation_graph(tmp_path / "g.parquet", GRAPH.relations, TABLE)
    assert pl.read_parquet(tmp_path / "g.parquet").equals(TABLE)


def test_another_suffix_or_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"ends in \.graphml, \.json, \.parquet, got '\.dot'"):
        write_relation_graph(tmp_path / "g.dot", GRAPH.relations, TABLE)
    with pytest.raises(ConfigError, match="no folder"):
        write_relation_graph(tmp_path / "no" / "g.json", GRAPH.relations, TABLE)
    assert not list(tmp_path.iterdir())
