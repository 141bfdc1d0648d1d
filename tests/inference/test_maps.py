"""What is drawn of a graph."""

import pytest

from ingram.graph import KnowledgeGraph
from ingram.inference.maps import entity_map, relation_map
from ingram.models import InGram, InGramQ, QueryModelConfig
from tests.tiny import tiny_config

GRAPH = KnowledgeGraph.from_labels(
    [
        ("Nairobi", "capital_of", "Kenya"), ("Kampala", "capital_of", "Uganda"),
        ("Mombasa", "in_country", "Kenya"), ("Nairobi", "in_country", "Kenya"),
        ("Kenya", "borders", "Uganda"), ("Uganda", "borders", "Kenya"),
        ("alone", "apart", "too"),
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def scorers():
    config = QueryModelConfig(width=8, relation_layers=1, entity_layers=1, bins=2)
    return InGramQ(config).scorer(GRAPH), InGram(tiny_config()).embed(GRAPH, seed=0)


def test_without_vectors_the_largest_connected_part_is_drawn(scorers):
    drawn = entity_map(scorers[0])
    assert "no vectors" in drawn.how
    assert set(drawn.points["label"]) == set(GRAPH.entities.labels) - {"alone", "too"}


def test_with_vectors_everything_is_drawn_the_most_frequent_first_to_stay(scorers):
    assert len(entity_map(scorers[1]).points) == GRAPH.num_entities
    few = entity_map(scorers[1], most=2).points
    assert set(few["label"]) == {"Kenya", "Uganda"}


def test_an_entity_s_role_is_where_it_stands_most_often(scorers):
    points = entity_map(scorers[1]).points
    roles = dict(zip(points["label"], points["role"], strict=True))
    assert roles["Kenya"] == "in_country (tail)"
    assert roles["Mombasa"] == "in_country (head)"
    degrees = dict(zip(points["label"], points["degree"], strict=True))
    assert degrees["Kenya"] == 5


def test_relations_that_share_entities_are_joined_and_others_are_not():
    drawn = relation_map(GRAPH)
    labels = drawn.relations["label"].to_list()
    joined = {
        frozenset((labels[i], labels[j]))
        for i, j in drawn.edges.select("source", "target").iter_rows()
    }
    assert frozenset(("capital_of", "in_country")) in joined
    assert not any("apart" in pair for pair in joined)
    assert drawn.edges["affinity"].is_between(0, 1).all()
    assert drawn.relations["triples"].sum() == GRAPH.num_triples
