"""Probabilities mean what they say, on answers whose truth is known."""

import json

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from ingram.answers import KnownAnswers
from ingram.errors import CalibrationError, ConfigError
from ingram.graph import Dataset
from ingram.inference.answer_sample import HARDEST, SHOWN, Sample, sample_answers
from ingram.inference.applying import apply_run
from ingram.inference.calibrating import (
    balanced_accuracy,
    best_threshold,
    calibrate,
    fit,
    fit_isotonic,
    fit_platt,
    reliability,
)
from ingram.training.checkpoints import RunDirectory
from ingram.training.loop import train
from tests.answers.tables import TableScorer
from tests.strategies import random_graph
from tests.tiny import tiny_dataset, tiny_query_config, tiny_run_config


def drawn_sample(count, slope=1.5, intercept=-0.5, seed=0):
    """Ten answers a triple, true with a known chance of their scores."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, 10 * count)
    right = rng.random(10 * count) < 1 / (1 + np.exp(-(slope * scores + intercept)))
    ones = np.ones(10 * count)
    return Sample(np.repeat(np.arange(count), 10), scores, right, ones, ones > 0)


def test_platt_finds_the_curve_that_the_answers_were_drawn_from():
    found = fit_platt(drawn_sample(3_000))
    assert found.slope == pytest.approx(1.5, abs=0.1)
    assert found.intercept == pytest.approx(-0.5, abs=0.1)


def test_platt_is_level_where_higher_scores_are_not_likelier():
    sample = drawn_sample(300, slope=-2.0)
    found = fit_platt(sample)
    assert found.slope == 0
    assert found.probability([0.0])[0] == pytest.approx(sample.right.mean())
    same = Sample(sample.triples, np.ones(3_000), sample.right, sample.weights, sample.shown)
    assert fit_platt(same).slope == 0


def test_weights_count_as_so_many_answers():
    sample = drawn_sample(200)
    twice = np.repeat(np.arange(2_000), 1 + (np.arange(2_000) % 2))
    whole = Sample(*(getattr(sample, n)[twice] for n in ("triples", "scores", "right")),
                   np.ones(3_000), np.ones(3_000) > 0)  # fmt: skip
    weighed = Sample(
        sample.triples, sample.scores, sample.right, 1.0 + (np.arange(2_000) % 2), sample.shown
    )
    assert fit_platt(weighed).slope == pytest.approx(fit_platt(whole).slope, rel=0.05)
    grid = np.linspace(-4, 4, 50)
    steps = [fit_isotonic(s).probability(grid) for s in (weighed, whole)]
    np.testing.assert_allclose(*steps, atol=1e-9)
    assert best_threshold(weighed) == pytest.approx(best_threshold(whole))


def test_isotonic_as_plain_numbers_is_what_scikit_learn_predicts():
    sample = drawn_sample(200)
    grid = np.linspace(-8, 8, 100)
    more = np.append(sample.scores, [sample.scores.max(), sample.scores.min()])
    theirs = IsotonicRegression(out_of_bounds="clip").fit(
        more, np.append(sample.right, [False, True]).astype(float)
    )
    np.testing.assert_allclose(fit_isotonic(sample).probability(grid), theirs.predict(grid))


def test_no_sample_gives_certainty():
    scores = np.arange(40.0)
    ones = np.ones(40)
    parted = Sample(np.arange(40) // 4, scores, scores >= 20, ones, ones > 0)
    assert 0 < fit_isotonic(parted).probability([-9.0])[0] < 0.1
    assert 0.9 < fit_isotonic(parted).probability([99.0])[0] < 1
    assert np.isfinite(fit_platt(parted).slope)


def test_the_threshold_parts_true_from_false_halfway():
    scores = np.array([0.0, 1.0, 2.0, 3.0])
    right = np.array([False, False, True, True])
    sample = Sample(np.arange(4), scores, right, np.ones(4), right)
    assert best_threshold(sample) == 1.5
    assert balanced_accuracy(scores >= 1.5, sample) == 1
    assert balanced_accuracy(scores >= 0.5, sample) == 0.75
    same = Sample(np.arange(4), np.ones(4), right, np.ones(4), right)
    assert best_threshold(same) == 1


def test_the_expected_calibration_error_is_worked_out_by_hand():
    said = np.array([0.05, 0.05, 0.95, 1.0])
    found = reliability(said, np.array([False, True, True, True]))
    assert [(b.answers, b.right) for b in found.bins] == [(2, 0.5), (2, 1.0)]
    assert found.ece == pytest.approx(0.5 * 0.45 + 0.5 * 0.025)
    assert found.brier == pytest.approx((0.05**2 + 0.95**2 + 0.05**2) / 4)


def test_answers_drawn_by_a_curve_are_calibrated_on_answers_not_fitted_to():
    found = fit(drawn_sample(2_000), "auto")
    assert found.reliability["platt"].ece < 0.02
    assert found.reliability["isotonic"].ece < 0.03
    assert found.questions == 4_000
    assert fit(drawn_sample(50), "isotonic").method == "isotonic"


def test_figures_are_of_triples_that_were_not_fitted_to():
    """Noise cannot be foretold; steps fitted to it look right only on itself."""
    rng = np.random.default_rng(0)
    scores, ones = rng.random(400), np.ones(400)
    sample = Sample(np.arange(400), scores, rng.random(400) < 0.5, ones, ones > 0)
    apart = fit(sample, "isotonic").reliability["isotonic"].brier
    itself = np.mean((fit_isotonic(sample).probability(scores) - sample.right) ** 2)
    assert apart > 0.249 > itself


@pytest.mark.parametrize("count", [0, 1])
def test_too_little_to_calibrate_with_is_refused(count):
    with pytest.raises(CalibrationError, match="want two validation triples"):
        fit(drawn_sample(count), "auto", dataset="d")


@pytest.mark.parametrize("entities", [12, 90])
def test_a_sample_stands_for_every_false_answer(entities):
    graph = random_graph(0, entities, 3, 2 * entities)
    valid = graph.triples[:10]
    dataset = Dataset("d", graph, graph.with_triples(graph.triples[20:]), valid, valid[:0])
    scorer, known = TableScorer(graph, levels=10**6), KnownAnswers.of(dataset)
    sample = sample_answers(scorer, valid, known, np.random.default_rng(0))
    facts = set(map(tuple, dataset.inference.triples.tolist())) | set(map(tuple, valid.tolist()))
    assert sample.right.sum() == 20
    for i, (h, r, t) in enumerate(valid.tolist()):
        every = [(h, r, e) for e in range(entities)] + [(e, r, t) for e in range(entities)]
        false = [triple for triple in every if triple not in facts]
        own = sample.triples == i
        assert sample.weights[own & ~sample.right].sum() == pytest.approx(len(false))
        scores = {scorer.scores[triple].item() for triple in false}
        assert set(sample.scores[own & ~sample.right].tolist()) <= scores
        assert set(sample.scores[own & sample.right].tolist()) == {scorer.scores[h, r, t].item()}
        best = sorted((scorer.scores[x].item() for x in false if x[0] == h), reverse=True)
        assert set(best[: min(HARDEST, len(best))]) <= set(sample.scores[own].tolist())
    shown = sample.shown.sum()
    assert shown == sum(
        min(SHOWN, 1 + sum(side))
        for h, r, t in valid.tolist()
        for side in (
            [(h, r, e) not in facts for e in range(entities)],
            [(e, r, t) not in facts for e in range(entities)],
        )
    )


def test_samples_of_two_graphs_keep_their_triples_apart():
    both = Sample.joined([drawn_sample(2), drawn_sample(3)])
    assert both.triples.tolist() == [i for i in range(5) for _ in range(10)]


@pytest.fixture(scope="module", params=["default", "ingram-q"])
def run(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run"
    make = tiny_run_config if request.param == "default" else tiny_query_config
    train(tiny_dataset(), make(), RunDirectory(path))
    return path


def test_a_run_is_calibrated_once_and_answers_with_probabilities(run, caplog):
    dataset = tiny_dataset()
    weights = (run / "model.safetensors").read_bytes()
    assert "probability" not in apply_run(run, dataset.inference).predict(
        head="e0", relation="r0"
    ).columns  # fmt: skip
    first = calibrate(run, dataset)
    text = (run / "calibration.json").read_text()
    assert calibrate(run, dataset) == first
    assert (run / "calibration.json").read_text() == text
    assert (run / "model.safetensors").read_bytes() == weights
    table = apply_run(run, dataset.inference).predict(head="e0", relation="r0")
    assert table.columns[-1] == "probability"
    assert table["probability"].is_sorted(descending=True)
    assert table["probability"].to_list() == first.probability(table["score"]).tolist()
    assert not caplog.records

    changed = {**json.loads(text), "model": "another"}
    (run / "calibration.json").write_text(json.dumps(changed))
    found = apply_run(run, dataset.inference).predict(head="e0", relation="r0")
    assert "probability" not in found.columns
    assert "of other weights" in caplog.text


def test_other_draws_than_those_calibrated_give_no_probabilities(run, caplog):
    dataset = tiny_dataset()
    if calibrate(run, dataset).draws is None:
        with pytest.raises(ConfigError, match="draws no random features"):
            calibrate(run, dataset, draws=3)
        return
    found = apply_run(run, dataset.inference, draws=3).predict(head="e0", relation="r0")
    assert "probability" not in found.columns
    assert "3 draws give no probabilities" in caplog.text


def test_shipped_weights_are_not_written_to():
    with pytest.raises(CalibrationError, match="want a run of your own"):
        calibrate("zero-shot", tiny_dataset())
