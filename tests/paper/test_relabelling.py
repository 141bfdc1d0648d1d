"""Ids mean nothing: renaming entities or relations permutes the embeddings and nothing else."""

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given, settings

from tests.strategies import graph_of, graphs, seeds
from tests.tiny import SKETCH, random_features, random_model, tiny_config

CLOSE = {"rtol": 1e-9, "atol": 1e-10}


def run(model, triples, n, m, features):
    return model(model.message_graph(graph_of(triples, n, m)), features)


@settings(max_examples=25)
@given(graphs(max_entities=10), seeds)
def test_renamed_entities_permute_the_entity_vectors_and_leave_the_relations(graph, seed):
    n, m = graph.num_entities, graph.num_relations
    new = np.random.default_rng(seed).permutation(n)  # new[i]: the new id of entity i
    old = torch.from_numpy(np.argsort(new))
    model = random_model(tiny_config(**SKETCH))
    features = random_features(model, graph)
    entities, relations = run(model, graph.triples, n, m, features)

    renamed = graph.triples.copy()
    renamed[:, [0, 2]] = new[renamed[:, [0, 2]]]
    permuted = replace(
        features,
        entities=features.entities[:, old],
        entity_signs=features.entity_signs[:, old],
    )
    new_entities, new_relations = run(model, renamed, n, m, permuted)
    torch.testing.assert_close(new_entities, entities[:, old], **CLOSE)
    torch.testing.assert_close(new_relations, relations, **CLOSE)


@settings(max_examples=25)
@given(graphs(max_relations=6), seeds)
def test_renamed_relations_permute_the_relation_vectors_and_leave_the_entities(graph, seed):
    n, m = graph.num_entities, graph.num_relations
    new = np.random.default_rng(seed).permutation(m)
    old = np.argsort(new)
    both = torch.from_numpy(np.concatenate([old, old + m]))  # a reverse goes with its relation
    model = random_model(tiny_config(**SKETCH))
    features = random_features(model, graph)
    entities, relations = run(model, graph.triples, n, m, features)

    renamed = graph.triples.copy()
    renamed[:, 1] = new[renamed[:, 1]]
    permuted = replace(
        features,
        relations=features.relations[:, both],
        relation_signs=features.relation_signs[:, both],
    )
    new_entities, new_relations = run(model, renamed, n, m, permuted)
    torch.testing.assert_close(new_entities, entities, **CLOSE)
    torch.testing.assert_close(new_relations, relations[:, both], **CLOSE)


@settings(max_examples=25)
@given(graphs(), seeds)
def test_the_order_of_the_triples_changes_nothing(graph, seed):
    n, m = graph.num_entities, graph.num_relations
    model = random_model(tiny_config(**SKETCH))
    features = random_features(model, graph)
    shuffled = np.random.default_rng(seed).permutation(graph.triples)
    wanted = run(model, graph.triples, n, m, features)
    for found, one in zip(run(model, shuffled, n, m, features), wanted, strict=True):
        torch.testing.assert_close(found, one, **CLOSE)
