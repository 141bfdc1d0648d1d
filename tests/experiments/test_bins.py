"""Figure 4: the learned weight of each affinity bin, and whether it falls."""

import numpy as np
import pytest

from ingram.experiments.bins import bin_weights, trend
from ingram.models import InGram, InGramQ
from tests.tiny import random_model, tiny_config, tiny_query_model_config


def test_the_weights_of_every_layer_and_head_are_read(tmp_path):
    model = random_model(tiny_config(bins=3))
    model.save(tmp_path / "model.safetensors", {})
    curves = bin_weights(tmp_path)
    assert curves.shape == (2, 3, 3)
    kept = model.relation_layers[1].bins.detach().numpy()
    assert curves[1, 2, 0] == pytest.approx(kept[0, 2])


def test_sides_kept_apart_have_a_line_each(tmp_path):
    model = random_model(tiny_config(bins=4, sides="apart"))
    model.save(tmp_path / "model.safetensors", {})
    curves = bin_weights(tmp_path)
    assert curves.shape == (2, 2 * 3, 4)
    kept = model.relation_layers[1].bins.detach().numpy()  # (side and bin, head)
    assert curves[1, 2 * 2 + 1, 3] == pytest.approx(kept[4 + 3, 2])


@pytest.mark.parametrize("change", [{"bins": 1}, {"relation_update": False}, {"aggregator": "sum"}])
def test_a_model_without_bins_has_no_curves(tmp_path, change):
    InGram(tiny_config(**change)).save(tmp_path / "model.safetensors", {})
    assert bin_weights(tmp_path) is None


def test_the_query_model_has_no_such_curves(tmp_path):
    InGramQ(tiny_query_model_config()).save(tmp_path / "model.safetensors", {})
    assert bin_weights(tmp_path) is None


def test_the_trend_is_a_rank_correlation_meant_over_heads():
    falling, rising = [9.0, 1.0, 0.5], [0.0, 0.1, 7.0]
    assert trend(np.array([[falling, falling]])) == pytest.approx(-1)
    assert trend(np.array([[falling], [rising]])) == pytest.approx(0)
    assert trend(np.array([[[5.0, 7.0, 1.0]]])) == pytest.approx(-0.5)


def test_what_was_never_learned_has_no_trend():
    assert trend(np.zeros((2, 8, 10))) == 0
