"""Sketches against a loop over facts, and what their products count."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from ingram.models.features import LabelFeatures, RowFeatures
from tests import oracle
from tests.strategies import graph_of, graphs, seeds
from tests.tiny import SKETCH, random_features, random_model, tiny_config, weights_of


def spread(values):
    return np.repeat(values, SKETCH["sketch_width"] // SKETCH["sketch_parts"])


def by_hand(model, graph, signs, z):
    """(n, width) by a loop over the facts and their reverses."""
    weights, each = weights_of(model), SKETCH["sketch_width"] // SKETCH["sketch_parts"]
    facts = oracle.with_reverses(graph.triples, graph.num_relations)
    out = np.zeros((graph.num_entities, SKETCH["sketch_width"]))
    for v in range(graph.num_entities):
        into = [(x, k) for x, k, y in facts if y == v]
        for x, k in into:
            out[v] += (
                signs[x] * spread(oracle.linear(weights, "sketch.gate", z[k])) / len(into) ** 0.5
            )
        out[v] += weights["sketch.own"] * signs[v]
    return out / each**0.5


@pytest.mark.parametrize("self_loop", ["mean-relation", "learned"])
@settings(max_examples=15)
@given(graph=graphs(max_entities=10), seed=seeds)
def test_a_sketch_is_the_entity_s_signs_and_its_neighbours(self_loop, graph, seed):
    model = random_model(tiny_config(self_loop=self_loop, **SKETCH), seed % 1000)
    features, edges = random_features(model, graph, draws=2), model.message_graph(graph)
    entities, relations = model(edges, features)
    z = model.relation_states(edges.relations, features.relations).detach().numpy()
    assert entities.shape[2] == model.config.vector_width == relations.shape[2]
    for s in range(2):
        wanted = by_hand(model, graph, features.sketches[s].numpy(), z[s])
        np.testing.assert_allclose(entities[s, :, 4:].detach(), wanted, rtol=1e-9, atol=1e-9)
        asked = [spread(oracle.linear(weights_of(model), "sketch.query", row)) for row in z[s]]
        np.testing.assert_allclose(relations[s, :, 4:].detach(), asked, rtol=1e-9, atol=1e-9)


def test_the_rest_of_a_vector_is_as_without_a_sketch():
    graph = graph_of([(0, 0, 1), (1, 1, 2), (3, 0, 2)], 4, 2)
    with_sketch, without = (random_model(tiny_config(**s)) for s in (SKETCH, {}))
    without.load_state_dict(
        {k: v for k, v in with_sketch.state_dict().items() if not k.startswith("sketch")}
    )
    features = random_features(with_sketch, graph)
    one, other = (m(m.message_graph(graph), features) for m in (with_sketch, without))
    for wide, narrow in zip(one, other, strict=True):
        assert torch.equal(wide[:, :, :4], narrow)


def test_many_draws_tell_a_neighbour_from_the_others():
    """With gate and query of 1 and nothing else, a product says who is joined to whom."""
    graph = graph_of([(0, 0, 1), (2, 0, 3)], 5, 1)
    model = random_model(tiny_config(sketch_width=256, sketch_parts=1))
    with torch.no_grad():
        for linear in (model.sketch.gate, model.sketch.query):
            linear.weight.zero_()
            linear.bias.fill_(1)
        model.sketch.own.fill_(1)
    vectors = model.float().embed(graph, draws=64)
    sketches = vectors.entities.view(5, 64, -1)[:, :, 4:].flatten(1).double()
    products = (sketches @ sketches.T / 64).numpy()
    # Its own signs and its neighbour's, the same two for both: 2 in common.
    for one, other in ((0, 1), (2, 3)):
        assert products[one, other] == pytest.approx(2, abs=0.05)
    for one, other in ((0, 2), (0, 3), (1, 2), (0, 4)):
        assert products[one, other] == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("source", [LabelFeatures, RowFeatures])
def test_signs_are_signs_as_often_one_as_the_other_and_belong_to_the_draw(source):
    graph = graph_of([(i, 0, (i + 1) % 300) for i in range(300)], 300, 1)
    config = tiny_config(sketch_width=96, sketch_parts=3)
    signs = source(graph, config, 5).take(0, 3).sketches
    assert signs.shape == (3, 300, 96)
    assert set(signs.unique().tolist()) == {-1.0, 1.0}
    assert abs(signs.mean().item()) < 0.02
    draws = signs.flatten(1)
    assert (draws @ draws.T / draws.shape[1] - torch.eye(3)).abs().max() < 0.05
    of_entities = signs[0] @ signs[0].T / 96
    assert (of_entities - torch.eye(300)).abs().max() < 0.6
    assert of_entities.sub(torch.eye(300)).pow(2).mean().item() == pytest.approx(1 / 96, rel=0.1)
    again = source(graph, config, 5)
    assert torch.equal(again.take(0, 1).sketches[0], signs[0])
    assert torch.equal(again.take(1, 2).sketches, signs[1:])


def test_signs_of_a_label_stay_when_the_graph_grows():
    small, large = (graph_of([(i, 0, i + 1) for i in range(n)], n + 1, 1) for n in (3, 9))
    config = tiny_config(sketch_width=6, sketch_parts=2)
    few, many = (LabelFeatures(g, config, 1).take(0, 1).sketches for g in (small, large))
    assert small.entities.labels.to_list() == large.entities.labels.to_list()[:4]
    assert torch.equal(few[0], many[0, :4])
