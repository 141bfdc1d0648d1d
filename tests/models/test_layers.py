import pytest
import torch

from ingram.kernels.edge_attention import attend
from ingram.models import layers
from ingram.models.layers import EntityLayer, RelationLayer, glorot_linear
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
        original = EntityLayer._aggregate
        monkeypatch.setattr(
            EntityLayer,
            "_aggregate",
            lambda self, *a, **k: passes.append(a) or original(self, *a, **k),
        )
        grouped = model(edges, features)
    assert len(passes) == 2 * 4  # two layers, a head at a time
    torch.testing.assert_close(grouped, whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("self_loop", ["mean-relation", "learned"])
def test_the_attention_into_one_node_is_that_of_the_whole_layer(self_loop):
    graph = random_graph(0, 9, 3, 30)
    model = random_model(tiny_config(self_loop=self_loop))
    edges = model.message_graph(graph)
    layer, heads = model.entity_layers[0], model.config.entity_heads
    h, z = (
        torch.randn(2, count, width, dtype=torch.float64)
        for count, width in (
            (9, model.config.entity_hidden),
            (6, model.config.relation_hidden),
        )
    )
    whole = z if layer.mean_loop else torch.cat([z, layer.loop.expand(2, 1, -1)], dim=1)
    own = edges.entities
    _, kept = attend(
        *layer.projected(h, whole, None), layer.attention[0], None,
        torch.zeros(heads, 4, layer.head_width, dtype=torch.float64),
        own.pointers, own.sources, own.kinds, layer.mean_loop, keep=True,
    )  # fmt: skip
    for entity in range(9):
        shift = entity if layer.mean_loop else 0
        first, last = (own.pointers[entity : entity + 2] + shift).tolist()
        into = kept[:, :, first : last + int(layer.mean_loop), 0].permute(1, 2, 0)
        found = layer.attention_into(entity, h, z, own)
        torch.testing.assert_close(found, into)
        torch.testing.assert_close(found.sum(1), torch.ones(2, heads, dtype=torch.float64))
