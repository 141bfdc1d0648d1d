"""The rows of a table: presets, and one part of the model changed."""

import pytest

from ingram.experiments.methods import VARIANTS, method_named
from ingram.training import PRESETS


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_part_can_be_changed_in_either_preset_of_the_embedding_model(preset, variant):
    config = method_named(f"{preset}+{variant}").config
    assert config != PRESETS[preset]
    changed = VARIANTS[variant]
    assert config == PRESETS[preset].with_settings(changed)
    for name, value in changed.items():
        section, key = name.split(".")
        assert config.model_dump()[section][key] == value
