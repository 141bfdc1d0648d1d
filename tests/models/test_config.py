import pytest
from pydantic import ValidationError

from ingram.models import ModelConfig


def test_defaults_are_the_published_ones():
    config = ModelConfig()
    assert (config.relation_width, config.entity_width) == (32, 32)
    assert (config.relation_hidden, config.entity_hidden) == (128, 256)
    assert (config.relation_layers, config.entity_layers) == (2, 2)
    assert (config.relation_heads, config.entity_heads, config.bins) == (8, 8, 10)


@pytest.mark.parametrize("what", ["relation", "entity"])
def test_heads_that_do_not_divide_the_width_are_refused(what):
    with pytest.raises(ValidationError, match=f"{what}_hidden must be a multiple of {what}_heads"):
        ModelConfig(**{f"{what}_hidden": 10, f"{what}_heads": 4})


@pytest.mark.parametrize(
    "bad",
    [{"bins": 0}, {"aggregator": "max"}, {"entity_layers": -1}, {"widht": 3}, {"bins": "many"}],
)
def test_values_out_of_range_are_refused(bad):
    with pytest.raises(ValidationError):
        ModelConfig(**bad)


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError):
        ModelConfig().bins = 3
