"""Gradients against differences: of the whole model, and through the loss."""

import pytest
import torch
from torch.autograd import gradcheck

from ingram.kernels.triple_scores import triple_scores
from ingram.models.features import Features
from ingram.training.objectives import margin_loss
from tests.strategies import graph_of
from tests.tiny import SKETCH, random_features, random_model, tiny_config

# Parallel edges (0 -> 1 twice), a loop at 2, entity 4 isolated, relation 2 without a triple.
TRIPLES = [(0, 0, 1), (0, 1, 1), (1, 0, 2), (2, 1, 2), (3, 0, 0), (1, 1, 3)]


@pytest.mark.parametrize(
    "switch",
    [
        {},
        {"aggregator": "sum"},
        {"aggregator": "mean", "self_loop": "learned"},
        {"bins": 1},
        {"readout": "all", **SKETCH},
    ],
    ids=str,
)
def test_gradients_of_the_model_are_the_slopes_of_its_outputs(switch):
    config = tiny_config(
        relation_width=2, entity_width=2, relation_hidden=4, entity_hidden=4,
        relation_heads=2, entity_heads=2, **switch,
    )  # fmt: skip
    graph = graph_of(TRIPLES, 5, 3)
    model = random_model(config, seed=3)
    edges = model.message_graph(graph)
    features = random_features(model, graph, seed=3)
    names = [name for name, _ in model.named_parameters()]
    triples = torch.tensor([(0, 0, 2), (3, 1, 1), (4, 2, 0), (0, 0, 3), (3, 1, 2), (1, 2, 0)])

    def loss(x, x_hat, *parameters):
        weights = dict(zip(names, parameters, strict=True))
        h, z = torch.func.functional_call(
            model,
            weights,
            (edges, Features(x, x_hat, features.entity_signs, features.relation_signs)),
        )
        scores = triple_scores(h[0], z[0], triples)
        return margin_loss(scores[:3], scores[3:].view(3, 1), 100.0)

    inputs = [features.relations, features.entities, *model.parameters()]
    assert gradcheck(loss, [i.detach().requires_grad_() for i in inputs])
