"""Runs that begin with trained weights."""

import pytest
import torch

from ingram.errors import ConfigError
from ingram.models import InGram, InGramQ
from ingram.training import config_from, fit, train
from ingram.training.checkpoints import RunDirectory
from ingram.training.learners import learner_of
from ingram.training.optimizer import ClippedAdamW
from ingram.training.state import State
from ingram.training.validation import Validation
from tests.tiny import tiny_config, tiny_query_config, tiny_query_model_config, tiny_run_config
from tests.training.runs import DATASET, Diary

QUICK = {f"training.{key}": value for key, value in [("steps", 1), ("queries", 4)]}


def first_model(seed=5, **changes):
    return InGramQ(tiny_query_model_config(**changes), seed=seed)


def run_from(path, start, config=None, **arguments):
    config = config or tiny_query_config()
    return train(DATASET, config, RunDirectory(path), start=start, **arguments)


def same_weights(one, other):
    return all(torch.equal(*p) for p in zip(one.parameters(), other.parameters(), strict=True))


def test_the_first_weights_are_validated_before_training_and_may_stay_the_best(tmp_path):
    start, diary = first_model(), Diary()
    config = tiny_query_config(training__learning_rate=1e-12)
    outcome = run_from(tmp_path, start, config, listener=diary)
    learner = learner_of([DATASET.train], config)
    figures, _ = Validation([DATASET], learner, config.evaluation).figures(start, 0)
    first = diary.records[0]
    assert (first["epoch"], first["loss"], first["mrr"]) == (0, None, figures["mrr"])
    assert [r["epoch"] for r in diary.records] == [0, 2, 4, 6]
    assert outcome.best["epoch"] == 0
    assert same_weights(outcome.model, start)


def test_a_run_is_never_worse_on_validation_than_it_began(tmp_path):
    """Steps so long that they ruin any weights."""
    start = run_from(tmp_path / "good", first_model(), tiny_query_config(training__epochs=12)).model
    config = tiny_query_config(training__learning_rate=50.0, training__on_collapse="report")
    for averaging in (0.0, 0.9):
        path = tmp_path / str(averaging)
        changed = config.with_settings({"training.averaging": averaging})
        outcome = run_from(path, start, changed)
        records = RunDirectory(path).metrics()
        assert outcome.best["mrr"] == max(r["mrr"] for r in records) >= records[0]["mrr"]
        assert outcome.best["mrr"] >= start.origin["valid"]["mrr"]


def test_a_better_validation_replaces_the_first_weights(tmp_path, monkeypatch):
    figures = iter([0.2, 0.3, 0.25, 0.1])
    monkeypatch.setattr(
        "ingram.training.validation.overall", lambda ranks, ties: {"mrr": next(figures)}
    )
    outcome = run_from(tmp_path, first_model())
    assert (outcome.best["epoch"], outcome.best["mrr"]) == (2, 0.3)
    assert not same_weights(outcome.model, first_model())


def test_training_goes_on_from_the_first_weights(tmp_path):
    """The first step of the run is the first step from them: at a tiny rate, hardly a move."""
    start = first_model()
    config = tiny_query_config(training__epochs=1, training__learning_rate=1e-6)
    run_from(tmp_path, start, config)
    model = first_model(seed=0)
    RunDirectory(tmp_path).load(State(model, ClippedAdamW(model.parameters())))
    for one, other in zip(model.parameters(), start.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-4)
    assert not same_weights(model, start)


def test_the_model_that_was_given_is_left_as_it_was(tmp_path):
    start = first_model()
    run_from(tmp_path, start)
    assert same_weights(start, first_model())


def test_a_run_records_where_its_first_weights_are_from(tmp_path):
    start = first_model()
    start.save(tmp_path / "start.safetensors", {"made": "here"})
    outcome = run_from(tmp_path / "run", start)
    assert outcome.model.origin["start"] == start.origin
    assert (
        "start"
        not in train(
            DATASET, tiny_query_config(training__epochs=2), RunDirectory(tmp_path / "plain")
        ).model.origin
    )


def test_the_first_weights_decide_the_models_settings():
    start = first_model(width=7)
    gentle = config_from(start, "default", {}).training
    assert (gentle.learning_rate, gentle.power) == (pytest.approx(4e-4), 0)
    asked = {"training.learning_rate": 1e-3, "training.power": 0.3}
    bold = config_from(start, "default", asked).training
    assert (bold.learning_rate, bold.power) == (1e-3, 0.3)
    config = config_from(start, "default", {"training.steps": 3})
    assert config.model == start.config
    assert config.training.steps == 3
    assert config_from(start, "pretrain", {}).training.epochs == 800
    assert config_from(InGram(tiny_config()), "paper", {}).evaluation.ties == "official"
    asking = InGram(tiny_config(head_questions="inverse"))
    with pytest.raises(ConfigError, match=r"wants training\.objective=cross-entropy"):
        config_from(asking, "paper", {})
    for name in ("model.bins", "model.width", "model.name"):
        with pytest.raises(ConfigError, match=f"{name}: the first weights decide the model"):
            config_from(start, "default", {name: 3})


@pytest.mark.parametrize(
    ("start", "preset", "said"),
    [
        (first_model(), "paper", "are of ingram-q, but preset 'paper' trains ingram"),
        (InGram(tiny_config()), "ingram-q", "are of ingram, but preset 'ingram-q' trains ingram-q"),
    ],
    ids=["ingram-q", "ingram"],
)
def test_weights_of_the_other_model_are_refused(start, preset, said):
    with pytest.raises(ConfigError) as caught:
        config_from(start, preset, {})
    assert said in str(caught.value)


def test_fit_starts_from_a_model_or_a_run_and_trains_that_model(tmp_path):
    start = first_model()
    start.save(tmp_path / "model.safetensors", {})
    settings = QUICK | {"tasks.cut": False}
    models = [fit(DATASET, epochs=2, start=one, settings=settings) for one in (start, tmp_path)]
    assert all(isinstance(model, InGramQ) for model in models)
    assert same_weights(*models)
    assert models[0].config == start.config
    assert models[1].origin["start"]["id"] == start.origin["id"]


def test_fit_refuses_settings_of_the_model_and_other_presets(tmp_path):
    with pytest.raises(ConfigError, match=r"model\.bins: the first weights decide"):
        fit(DATASET, start=first_model(), settings={"model.bins": 5})
    with pytest.raises(ConfigError, match="preset 'paper' trains ingram"):
        fit(DATASET, start=first_model(), preset="paper")
    with pytest.raises(ConfigError, match="give at least one dataset to train on"):
        fit()


def test_the_embedding_model_starts_from_weights_too(tmp_path):
    start = InGram(tiny_config(), seed=5)
    config = tiny_run_config(training__learning_rate=1e-12)
    outcome = train(DATASET, config, RunDirectory(tmp_path), start=start)
    assert RunDirectory(tmp_path).metrics()[0]["epoch"] == 0
    for one, other in zip(outcome.model.parameters(), start.parameters(), strict=True):
        torch.testing.assert_close(one, other)
