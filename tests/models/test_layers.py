import pytest
import torch

from ingram.models import layers
from ingram.models.layers import EntityLayer, RelationLayer, glorot_linear, project
from tests.strategies import random_graph
from tests.tiny import random_features, random_model, tiny_config


def deviation_of(samples):
    return torch.cat([s.flatten() for s in samples]).std().item()


def test_linear_maps_are_glorot_normal_with_gain_root_two_and_no_bias():
    torch.manual_seed(0)
    linear = glorot_linear(300, 500)
    assert linear.weight.std().item() == pytest.approx(2**0.5 * (2 / 800) ** 0.5, rel=0.02)
    assert abs(linear.weight.mean().item()) < 1e-3
    assert not linear.bias.any()


def test_attention_vectors_are_glorot_normal_on_one_by_heads_by_width():
    torch.manual_seed(0)
    config = tiny_config(relation_hidden=64, relation_heads=4)
    drawn = [RelationLayer(config).attention.detach() for _ in range(100)]
    # fan_in = 4 heads * 16, fan_out = 1 * 16
    assert drawn[0].shape == (1, 4, 16)
    assert deviation_of(drawn) == pytest.approx(2**0.5 * (2 / (64 + 16)) ** 0.5, rel=0.05)


def test_bin_weights_start_at_zero_one_for_each_bin_and_head():
    layer = RelationLayer(tiny_config(bins=7))
    assert layer.bins.shape == (7, 3)
    assert not layer.bins.any()


def test_an_inner_map_is_folded_in_without_changing_the_result():
    torch.manual_seed(0)
    inner, outer = torch.nn.Linear(3, 5).double(), torch.nn.Linear(5, 4).double()
    x = torch.randn(2, 7, 3, dtype=torch.float64)
    torch.testing.assert_close(project(x, outer.weight, outer.bias, inner), outer(inner(x)))


@pytest.mark.parametrize("self_loop", ["mean-relation", "learned"])
@pytest.mark.parametrize("aggregator", ["attention", "sum"])
def test_heads_taken_in_groups_under_a_budget_change_nothing(
    monkeypatch, threads, self_loop, aggregator
):
    threads(1)
    graph = random_graph(0, 9, 3, 30)
    config = tiny_config(entity_heads=4, self_loop=self_loop, aggregator=aggregator)
    model = random_model(config)
    edges, features = model.message_graph(graph), random_features(model, graph, draws=2)
    with torch.no_grad():
        whole = model(edges, features)
        monkeypatch.setattr(layers, "BUDGET", 1)
        passes = []
        original = EntityLayer._channels
        monkeypatch.setattr(
            EntityLayer, "_channels", lambda self, *a: passes.append(a[-1]) or original(self, *a)
        )
        grouped = model(edges, features)
    assert len(passes) == 2 * 4  # two layers, a head at a time
    torch.testing.assert_close(grouped, whole, rtol=1e-12, atol=1e-12)
