"""The benchmark's reference computes what the product computes: else the comparison is void."""

import pytest
import torch
from benchmarks.epoch import trainers
from benchmarks.shapes import random_graph


def test_reference_and_product_agree_in_loss_and_gradient():
    both = trainers(random_graph(60, 5, 300, seed=1))
    losses = {name: trainer.run_epoch() for name, trainer in both.items()}
    assert losses["ours"] == pytest.approx(losses["reference"], rel=1e-5)
    limit = both["ours"].config.training.clip_norm
    norm = torch.cat([p.grad.flatten() for p in both["ours"].model.parameters()]).norm()
    assert norm > limit  # the reference has its gradients clipped, ours are while they are used
    pairs = zip(
        both["ours"].model.named_parameters(), both["reference"].model.parameters(), strict=True
    )
    for (name, ours), theirs in pairs:
        clipped = ours.grad * limit / norm
        torch.testing.assert_close(clipped, theirs.grad, rtol=1e-3, atol=1e-6, msg=name)


def test_random_graphs_have_the_size_asked_for():
    graph = random_graph(500, 20, 3_000, seed=0)
    assert graph.num_entities == 500
    assert graph.num_relations == 20
    assert 2_700 <= graph.num_triples <= 3_000
