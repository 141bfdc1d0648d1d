import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.errors import ConfigError
from ingram.training.config import EmbeddingTraining
from ingram.training.presets import PRESETS
from ingram.training.schedules import rate_at


def training(warmup=0.0, decay=0.0):
    return EmbeddingTraining(warmup=warmup, decay=decay)


def test_without_warmup_and_decay_the_rate_stays():
    assert {rate_at(done, training()) for done in np.linspace(0, 1, 11)} == {1.0}


def test_the_rate_rises_stays_and_falls_by_hand():
    settings = training(warmup=0.2, decay=0.4)
    assert rate_at(0.05, settings) == pytest.approx(1 / 4)
    assert rate_at(0.1, settings) == pytest.approx(1 / 2)
    for done in (0.2, 0.3, 0.6):
        assert rate_at(done, settings) == pytest.approx(1)
    assert rate_at(0.8, settings) == pytest.approx(1 / 2)  # half way down
    assert rate_at(0.7, settings) == pytest.approx((1 + math.cos(math.pi / 4)) / 2)


parts = st.floats(0, 1).flatmap(lambda w: st.tuples(st.just(w), st.floats(0, 1 - w)))


@given(parts, st.floats(0, 1))
def test_a_rate_is_a_part_of_the_highest_and_never_none(shape, done):
    rate = rate_at(done, training(*shape))
    assert 0 < rate <= 1


@given(parts)
def test_the_rate_rises_and_then_falls(shape):
    rates = [rate_at(done, training(*shape)) for done in np.linspace(0, 1, 41)]
    top = int(np.argmax(rates))
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


@pytest.mark.parametrize("preset", ["ingram-q", "pretrain"])
def test_warmup_and_decay_are_parts_of_one_run(preset):
    with pytest.raises(ConfigError, match=r"0\.2 and 0\.95 are more than 1 together"):
        PRESETS[preset].with_settings({"training.warmup": 0.2})
