"""Where the embedding model looks: the weights that its layers use."""

import pytest
import torch
from hypothesis import given, settings

from ingram.graph import KnowledgeGraph
from ingram.inference.attention import looks
from ingram.models.layers import EntityLayer, RelationLayer
from tests.strategies import graphs, random_graph
from tests.tiny import random_features, random_model, tiny_config

SWITCHES = [{}, {"self_loop": "learned"}, {"aggregator": "mean"}]


@pytest.mark.parametrize("switch", SWITCHES, ids=str)
@given(graphs(min_triples=1))
@settings(max_examples=15)
def test_the_weights_are_those_that_make_a_layers_output(switch, graph):
    """ReLU(residual + sum of weight * value) is what the layer gives, for every entity."""
    model = random_model(tiny_config(**switch))
    edges = model.message_graph(graph)
    features = random_features(model, graph, draws=2)
    with torch.no_grad():
        z = model.relation_states(edges.relations, features.relations)
        h, inner = model.before_last_entity_layer(edges.entities, features.entities, z)
        layer: EntityLayer = model.entity_layers[-1]
        whole = layer(h, z, edges.entities, inner)
        kinds_of = z if layer.mean_loop else torch.cat([z, layer.loop.expand(2, 1, -1)], dim=1)
        parts = layer.projected(h, kinds_of, inner)
        nodes, kinds = (part.permute(1, 2, 3, 0, 4) for part in parts)  # (S, rows, parts, H, D)
        for v in range(graph.num_entities):
            weights = layer.attention_into(v, h, z, edges.entities, inner)
            own = edges.entities.rows(v, v + 1)
            values = nodes[:, own.sources.long(), 3] + kinds[:, own.kinds.long(), 1]
            if layer.mean_loop:
                mean = kinds[:, own.kinds.long(), 1].sum(1, keepdim=True) / max(own.num_edges, 1)
                values = torch.cat([values, nodes[:, v : v + 1, 3] + mean], dim=1)
            torch.testing.assert_close(weights.sum(1), torch.ones_like(weights[:, 0]))
            summed = (weights.unsqueeze(-1) * values).sum(1)
            found = (nodes[:, v, 1] + summed).relu().flatten(1)
            torch.testing.assert_close(found, whole[:, v])


@pytest.mark.parametrize("sides", ["together", "apart"])
@given(graphs(min_triples=1))
@settings(max_examples=15)
def test_the_same_of_relations(sides, graph):
    model = random_model(tiny_config(sides=sides))
    edges = model.message_graph(graph).relations
    features = random_features(model, graph, draws=2)
    with torch.no_grad():
        z, inner = model.before_last_relation_layer(edges, features.relations)
        layer: RelationLayer = model.relation_layers[-1]
        whole = layer(z, edges, inner)
        nodes = layer.projected(z, None, inner)[0].permute(1, 2, 3, 0, 4)
        for r in range(2 * graph.num_relations):
            own = edges.rows(r, r + 1)
            if not own.num_edges:
                continue
            weights = layer.attention_into(r, z, edges, inner)
            summed = (weights.unsqueeze(-1) * nodes[:, own.sources.long(), 3]).sum(1)
            found = (nodes[:, r, 1] + summed).relu().flatten(1)
            torch.testing.assert_close(found, whole[:, r])


def test_all_looks_of_an_entity_add_up_to_one():
    model = random_model(tiny_config())
    graph = random_graph(0, 9, 3, 30)
    found = looks(model, graph, (0, 1, 2), count=100, draws=3, seed=1)
    for label in ("e0", "e2"):
        own = [n for n in found["neighbours"] if n.entity == label]
        assert sum(n.attention for n in own) == pytest.approx(1)
        assert sum(n.step is None for n in own) == 1  # the mean self-loop
        assert [n.attention for n in own] == sorted((n.attention for n in own), reverse=True)


@pytest.mark.parametrize("sides", ["together", "apart"])
def test_a_relation_looks_at_each_other_one_once_and_keeps_the_rest_for_itself(sides):
    model = random_model(tiny_config(sides=sides))
    graph = random_graph(0, 9, 3, 30)
    found = looks(model, graph, (0, 1, 2), count=100, draws=3, seed=1)["relations"]
    assert len({(n.relation, n.inverse) for n in found}) == len(found) == 5  # all but itself
    edges = model.message_graph(graph).relations
    itself = edges.rows(1, 2).sources.tolist().count(1)
    assert itself == (1 if sides == "together" else 2)
    assert 0 < sum(n.attention for n in found) < 1


def test_near_relations_come_by_affinity_and_without_the_relation_itself():
    graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("a", "s", "b"), ("b", "t", "c")])
    found = looks(random_model(tiny_config()), graph, (0, 0, 1), count=9, draws=1, seed=0)
    near = found["relations"]
    assert (near[0].relation, near[0].inverse) == ("s", False)
    assert [n.affinity for n in near] == sorted((n.affinity for n in near), reverse=True)
    assert ("r", False) not in {(n.relation, n.inverse) for n in near}


def test_a_model_that_does_not_update_relations_has_no_attention_over_them():
    model = random_model(tiny_config(relation_update=False))
    graph = random_graph(0, 9, 3, 30)
    found = looks(model, graph, (0, 1, 2), count=3, draws=1, seed=0)
    assert {n.attention for n in found["relations"]} == {None}
