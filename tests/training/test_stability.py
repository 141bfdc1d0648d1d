import math
from dataclasses import asdict

import pytest

from ingram.training.stability import CollapseWatch

CHANCE = 0.0075


def judge_all(*intervals):
    watch = CollapseWatch()
    return [watch.judge(loss, mrr, CHANCE) for loss, mrr in intervals], watch


def test_steady_progress_is_no_collapse():
    verdicts, watch = judge_all((1.5, 0.05), (1.0, 0.1), (0.8, 0.2), (0.9, 0.19), (0.7, 0.25))
    assert verdicts == [None] * 5
    assert watch.healthy
    assert (watch.best_loss, watch.best_mrr) == (0.7, 0.25)


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_is_a_collapse_at_once(loss):
    verdicts, _ = judge_all((loss, 0.3))
    assert verdicts == ["the loss is not finite"]


def test_a_jump_that_takes_the_mrr_along_is_a_collapse_at_once():
    verdicts, watch = judge_all((0.5, 0.3), (1.27, 0.1))
    assert verdicts == [None, "the loss jumped from 0.500 to 1.270"]
    assert not watch.healthy


def test_a_jump_that_stays_is_a_collapse_at_the_second_interval():
    verdicts, watch = judge_all((0.5, 0.3), (1.0, 0.3), (1.1, 0.3))
    assert verdicts == [None, None, "the loss jumped from 0.500 to 1.100"]
    assert not watch.healthy


def test_a_jump_that_passes_is_no_collapse_but_no_place_to_return_to():
    watch = CollapseWatch()
    assert watch.judge(0.5, 0.3, CHANCE) is None
    assert watch.judge(1.0, 0.25, CHANCE) is None
    assert not watch.healthy
    assert watch.judge(0.5, 0.3, CHANCE) is None
    assert watch.healthy
    assert watch.judge(1.0, 0.25, CHANCE) is None  # a first jump again


def test_an_mrr_back_at_chance_is_a_collapse_whatever_the_loss():
    verdicts, _ = judge_all((0.5, 0.3), (0.5, 0.01))
    assert verdicts[1] == "the validation MRR fell from 0.300 to 0.010, near chance"


def test_an_mrr_near_chance_from_the_start_is_no_collapse():
    verdicts, _ = judge_all((2.0, 0.008), (1.9, 0.009), (1.8, 0.007))
    assert verdicts == [None] * 3


def test_a_collapsed_interval_leaves_the_best_as_it_was():
    _, watch = judge_all((0.5, 0.3), (0.4, 0.01))
    assert (watch.best_loss, watch.best_mrr) == (0.5, 0.3)


def test_its_memory_is_in_its_fields():
    """Which is what a checkpoint keeps."""
    _, watch = judge_all((0.5, 0.3), (1.0, 0.3))
    copy = CollapseWatch(**asdict(watch))
    assert copy.judge(1.0, 0.3, CHANCE) == watch.judge(1.0, 0.3, CHANCE) != None  # noqa: E711
