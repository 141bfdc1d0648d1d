"""A number that is not finite is told with the epoch and the layer where it began."""

import math

import pytest
import torch

from ingram.errors import DivergedError
from tests.tiny import tiny_query_config, tiny_run_config
from tests.training.runs import Diary, run_in


@pytest.mark.parametrize(
    ("config", "layer"),
    [
        (tiny_run_config("paper"), "relation_layers.1"),
        (tiny_run_config("paper"), "entity_layers.0"),
        (tiny_query_config(), "entity_updates.1"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.model.name,
)
def test_the_layer_whose_output_is_the_first_not_to_be_finite_is_named(
    config, layer, tmp_path, monkeypatch
):
    from ingram.models import MODELS

    kind = MODELS[config.model.name]
    create = kind._create

    def spoilt(self, *arguments):
        create(self, *arguments)
        calls = []

        def overflow(module, inputs, output):
            calls.append(1)
            return torch.full_like(output, math.inf) if len(calls) > 3 else None

        self.get_submodule(layer).register_forward_hook(overflow)

    monkeypatch.setattr(kind, "_create", spoilt)
    diary = Diary()
    try:
        run_in(tmp_path / "run", config, listener=diary)
    except DivergedError as error:
        said = str(error)
    else:
        said = str(diary.collapses[0])
    assert f"this began in {layer}" in said
    assert "epoch" in said
