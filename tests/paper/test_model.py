"""Sections 5.1 to 5.3: the model against loops over edges, in float64, and table 4's switches."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from ingram.kernels.adjacency import entity_adjacency, relation_adjacency
from ingram.kernels.triple_scores import triple_scores
from ingram.models.features import Features
from ingram.models.layers import EntityLayer, RelationLayer
from ingram.relation_graph import build_relation_graph
from ingram.training.objectives import margin_loss
from tests import oracle
from tests.strategies import graph_of, graphs, random_graph, seeds
from tests.tiny import SKETCH, random_features, random_model, tiny_config, weights_of

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def randomised(layer, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(0.7 * torch.randn(parameter.shape, generator=generator))
    return layer.double()


def prefixed(layer):
    return {f"layer.{name}": array for name, array in weights_of(layer).items()}


def normal(seed, *shape):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def check_whole_model(config, graph, seed=0):
    """Embeddings, scores of every triple in sight, against the oracle."""
    model = random_model(config, seed)
    features = random_features(model, graph, seed)
    n, m = graph.num_entities, graph.num_relations
    entities, relations = model(model.message_graph(graph), features)
    weights = weights_of(model)
    h, z = oracle.embed(
        weights,
        config,
        graph.triples,
        n,
        m,
        features.relations[0].numpy(),
        features.entities[0].numpy(),
    )
    np.testing.assert_allclose(entities[0].detach(), h, **CLOSE)
    mapped = np.array([oracle.linear(weights, "relation_score", row) for row in z])
    np.testing.assert_allclose(relations[0].detach(), mapped, **CLOSE)
    triples = oracle.with_reverses(graph.triples, m)
    found = triple_scores(
        entities[0], relations[0], torch.tensor(triples, dtype=torch.int64).view(-1, 3)
    )
    wanted = [oracle.score(weights, h, z, triple) for triple in triples]
    np.testing.assert_allclose(found.detach(), wanted, rtol=1e-9, atol=1e-9)


@settings(max_examples=25)
@given(graphs(), seeds)
def test_relation_layer_is_equations_1_and_2(graph, seed):
    config = tiny_config()
    layer = randomised(RelationLayer(config), seed)
    z = normal(seed, 1, 2 * graph.num_relations, config.relation_hidden)
    _, _, affinity = oracle.affinity_matrices(
        oracle.with_reverses(graph.triples, graph.num_relations),
        graph.num_entities,
        2 * graph.num_relations,
    )
    neighbours = oracle.bins(affinity, config.bins)
    wanted = oracle.relation_layer(prefixed(layer), "layer", z[0].numpy(), neighbours)
    found = layer(z, relation_adjacency(build_relation_graph(graph, config.bins)))
    np.testing.assert_allclose(found[0].detach(), wanted, **CLOSE)


@settings(max_examples=15)
@given(graphs(), seeds)
def test_with_sides_apart_relations_are_near_by_heads_by_tails_or_twice(graph, seed):
    config, m = tiny_config(sides="apart"), graph.num_relations
    layer = randomised(RelationLayer(config), seed)
    z = normal(seed, 1, 2 * m, config.relation_hidden)
    by_heads, by_tails, _ = oracle.affinity_matrices(
        oracle.with_reverses(graph.triples, m), graph.num_entities, 2 * m
    )
    neighbours = {pair: [s] for pair, s in oracle.bins(by_heads, config.bins).items()}
    for pair, s in oracle.bins(by_tails, config.bins).items():
        neighbours.setdefault(pair, []).append(config.bins + s)
    wanted = oracle.relation_layer(prefixed(layer), "layer", z[0].numpy(), neighbours)
    found = layer(z, random_model(config).message_graph(graph).relations)
    np.testing.assert_allclose(found[0].detach(), wanted, **CLOSE)


@settings(max_examples=25)
@given(graphs(), seeds)
def test_entity_layer_is_equation_4(graph, seed):
    config = tiny_config()
    layer = randomised(EntityLayer(config), seed)
    n, m = graph.num_entities, graph.num_relations
    h, z = (
        normal(seed, 1, n, config.entity_hidden),
        normal(seed + 1, 1, 2 * m, config.relation_hidden),
    )
    wanted = oracle.entity_layer(
        prefixed(layer), "layer", h[0].numpy(), z[0].numpy(), oracle.with_reverses(graph.triples, m)
    )
    found = layer(h, z, entity_adjacency(graph.triples, n, m))
    np.testing.assert_allclose(found[0].detach(), wanted, **CLOSE)


@settings(max_examples=15)
@given(graphs(max_triples=16), seeds)
def test_embeddings_and_scores_are_those_of_algorithm_1(graph, seed):
    check_whole_model(tiny_config(), graph, seed % 1000)


@pytest.mark.parametrize("readout", ["last", "all"])
@pytest.mark.parametrize("layers", [(1, 1), (1, 3), (3, 1)])
def test_any_number_of_layers_follows_the_oracle(layers, readout):
    config = tiny_config(relation_layers=layers[0], entity_layers=layers[1], readout=readout)
    check_whole_model(config, random_graph(0, 7, 3, 14))


@pytest.mark.parametrize(
    "switch",
    [
        {"aggregator": "mean"},
        {"aggregator": "sum"},
        {"self_loop": "learned"},
        {"self_loop": "learned", "aggregator": "mean"},
        {"self_loop": "learned", "aggregator": "sum"},
        {"relation_update": False},
        {"bins": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 1])
def test_each_ablation_of_table_4_follows_the_oracle(switch, seed):
    # Ten entities of which the draw leaves some isolated; four relations, one without a triple.
    graph = random_graph(seed, 8, 3, 14)
    check_whole_model(tiny_config(**switch), graph_of(graph.triples, 10, 4), seed)


def test_without_relation_update_a_relation_keeps_its_own_first_vector():
    graph = random_graph(0, 8, 3, 20)
    model = random_model(tiny_config(relation_update=False))
    features = random_features(model, graph)
    _, relations = model(model.message_graph(graph), features)
    wanted = model.relation_score(model.relation_output(model.relation_input(features.relations)))
    torch.testing.assert_close(relations, wanted)


def test_with_one_bin_the_affinities_do_not_matter():
    """Softmax ignores a constant, so one bin's weight changes nothing; a second bin's does."""
    graph = random_graph(0, 8, 3, 20)

    def relations_with(bins, raised):
        model = random_model(tiny_config(bins=bins))
        with torch.no_grad():
            for layer in model.relation_layers:
                layer.bins[0] += raised
        return model(model.message_graph(graph), random_features(model, graph))[1]

    torch.testing.assert_close(relations_with(1, 0.0), relations_with(1, 3.0))
    assert not torch.allclose(relations_with(2, 0.0), relations_with(2, 3.0))


def test_an_entity_without_edges_hears_only_itself_with_a_zero_relation():
    config = tiny_config(entity_layers=1)
    graph = graph_of([(0, 0, 1)], 3, 1)
    model = random_model(config)
    features = random_features(model, graph)
    entities, _ = model(model.message_graph(graph), features)
    layer = model.entity_layers[0]
    own = model.entity_input(features.entities[0, 2])
    zero = torch.zeros(config.relation_hidden, dtype=torch.float64)
    hidden = (layer.value(torch.cat([own, zero])) + layer.residual(own)).relu()
    torch.testing.assert_close(entities[0, 2], model.entity_output(hidden))


def test_several_draws_are_the_single_draws_side_by_side():
    graph = random_graph(0, 8, 3, 20)
    model = random_model(tiny_config(**SKETCH))
    features = random_features(model, graph, draws=3)
    entities, relations = model(model.message_graph(graph), features)
    for s in range(3):
        one = Features(*(table[s : s + 1] for table in vars(features).values()))
        h, z = model(model.message_graph(graph), one)
        torch.testing.assert_close(entities[s : s + 1], h)
        torch.testing.assert_close(relations[s : s + 1], z)


@settings(max_examples=25)
@given(seeds)
def test_margin_loss_is_the_mean_over_the_pairs(seed):
    rng = np.random.default_rng(seed)
    count, negatives = rng.integers(1, 6, 2)
    positive, negative = rng.normal(size=count), rng.normal(size=(count, negatives))
    found = margin_loss(torch.from_numpy(positive), torch.from_numpy(negative), 0.7)
    assert found.item() == pytest.approx(oracle.margin_loss(positive, negative, 0.7))
