"""A run that is stopped and resumed is the run that was left alone, to the bit."""

import signal
import threading

import pytest

from ingram.errors import RunError
from ingram.training import Listener, embedding_epochs, loop, train, validation
from ingram.training.checkpoints import RunDirectory
from ingram.training.embedding_epochs import EmbeddingEpochs
from ingram.training.loop import resume_config
from tests.tiny import tiny_run_config
from tests.training.runs import DATASET, Interrupt, run_in, traces


def straight(path, config=None):
    train(DATASET, config or tiny_run_config(), RunDirectory(path))
    return traces(path)


def resumed(path, epochs=None, **arguments):
    run = RunDirectory(path)
    return train(DATASET, resume_config(run, epochs), run, resume=True, **arguments)


@pytest.mark.parametrize(
    ("preset", "epoch"), [(None, 1), (None, 7), (None, 8), (None, 11), (None, 12), ("default", 7)]
)
def test_an_interrupted_run_resumes_exactly(tmp_path, preset, epoch):
    config = tiny_run_config(preset)
    wanted = straight(tmp_path / "straight", config)
    run = RunDirectory(tmp_path / "run")
    outcome = train(DATASET, config, run, listener=Interrupt(epoch))
    assert outcome.stopped == "interrupted"
    assert outcome.epoch == epoch
    assert resumed(run.path).stopped == "finished"
    assert traces(run.path) == wanted


@pytest.mark.parametrize("moment", ["ranking", "the optimiser's step", "preparing an epoch"])
def test_ctrl_c_at_any_moment_resumes_exactly(tmp_path, monkeypatch, moment):
    wanted = straight(tmp_path / "straight")
    owner, name = {
        "ranking": (validation, "rank"),
        "the optimiser's step": (loop.ClippedAdamW, "clipped_step"),
        "preparing an epoch": (EmbeddingEpochs, "prepare"),
    }[moment]
    original, calls = getattr(owner, name), []

    def pressing(*args, **kwargs):
        calls.append(None)
        result = original(*args, **kwargs)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, pressing)
        outcome = train(DATASET, tiny_run_config(), RunDirectory(tmp_path / "run"))
    assert outcome.stopped == "interrupted"
    resumed(tmp_path / "run")
    assert traces(tmp_path / "run") == wanted


@pytest.mark.parametrize("switch", [{"aggregator": "mean"}, {"relation_update": False}], ids=str)
def test_an_ablation_resumes_exactly(tmp_path, switch):
    """Some of its parameters have no gradient, so the optimiser knows nothing of them."""
    config = tiny_run_config(**{f"model__{key}": value for key, value in switch.items()})
    wanted = straight(tmp_path / "straight", config)
    run = RunDirectory(tmp_path / "run")
    train(DATASET, config, run, listener=Interrupt(7))
    resumed(run.path)
    assert traces(run.path) == wanted


def test_a_run_interrupted_before_its_first_step_resumes_exactly(tmp_path, monkeypatch):
    wanted = straight(tmp_path / "straight")

    class Early(Listener):
        def started(self, epoch, epochs):
            signal.raise_signal(signal.SIGINT)

    run = RunDirectory(tmp_path / "run")
    train(DATASET, tiny_run_config(), run, listener=Early())
    resumed(run.path)
    assert traces(run.path) == wanted


def test_a_run_that_is_out_of_time_after_every_epoch_resumes_exactly(tmp_path):
    wanted = straight(tmp_path / "straight")
    run = RunDirectory(tmp_path / "run")
    outcome = train(DATASET, tiny_run_config(), run, minutes=0)
    for epoch in range(1, 12):
        assert (outcome.stopped, outcome.epoch) == ("out of time", epoch)
        outcome = resumed(run.path, minutes=0)
    resumed(run.path)
    assert traces(run.path) == wanted


def test_a_run_that_was_killed_goes_on_from_its_last_checkpoint(tmp_path):
    """No warning, no chance to save: what was written after the checkpoint is done again."""
    wanted = straight(tmp_path / "straight")
    run = RunDirectory(tmp_path / "run")

    class Killed(Listener):
        def epoch(self, number, loss):
            if number == 10:
                raise SystemExit

    with pytest.raises(SystemExit):
        train(DATASET, tiny_run_config(), run, listener=Killed())
    run.append_metrics({"epoch": 12, "mrr": 1.0, "seconds": 0})  # and the kill fell here
    resumed(run.path)
    assert traces(run.path) == wanted


def test_a_finished_run_can_be_given_more_epochs(tmp_path):
    wanted = straight(tmp_path / "straight", tiny_run_config(training__epochs=20))
    straight(tmp_path / "run")
    assert resumed(tmp_path / "run", epochs=20).epoch == 20
    assert traces(tmp_path / "run") == wanted


def test_a_finished_run_resumed_does_nothing(tmp_path):
    wanted = straight(tmp_path)
    outcome = resumed(tmp_path)
    assert (outcome.stopped, outcome.epoch) == ("finished", 12)
    assert traces(tmp_path) == wanted


def test_a_run_resumes_exactly_across_a_recovery(tmp_path, monkeypatch):
    true_loss = embedding_epochs.margin_loss
    at = {"epoch": 0}
    monkeypatch.setattr(
        embedding_epochs,
        "margin_loss",
        lambda *a: true_loss(*a) * (float("nan") if at["epoch"] == 6 else 1),
    )
    prepare = EmbeddingEpochs.prepare

    def noted(self, number):
        at["epoch"] = number
        return prepare(self, number)

    monkeypatch.setattr(EmbeddingEpochs, "prepare", noted)
    wanted = straight(tmp_path / "straight")
    assert wanted[0][1]["collapse"]
    run = RunDirectory(tmp_path / "run")
    train(DATASET, tiny_run_config(), run, listener=Interrupt(7))
    resumed(run.path)
    assert traces(run.path) == wanted


def test_a_second_ctrl_c_ends_the_run_at_once(tmp_path):
    class Impatient(Listener):
        def epoch(self, number, loss):
            if number == 7:
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)

    wanted = straight(tmp_path / "straight")
    before = signal.getsignal(signal.SIGINT)
    run = RunDirectory(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        train(DATASET, tiny_run_config(), run, listener=Impatient())
    assert signal.getsignal(signal.SIGINT) is before
    resumed(run.path)
    assert traces(run.path) == wanted


def test_a_directory_without_a_checkpoint_cannot_be_resumed(tmp_path):
    with pytest.raises(RunError, match="want a run directory"):
        resume_config(RunDirectory(tmp_path), None)
    run_in(tmp_path)
    for checkpoint in RunDirectory(tmp_path).checkpoints():
        checkpoint.unlink()
    with pytest.raises(RunError, match="no checkpoint to resume from"):
        resume_config(RunDirectory(tmp_path), None)


def test_ctrl_c_is_as_it_was_after_a_run(tmp_path):
    before = signal.getsignal(signal.SIGINT)
    straight(tmp_path)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_may_go_on_outside_the_main_thread(tmp_path):
    """Where no signal can be caught."""
    outcomes = []
    thread = threading.Thread(
        target=lambda: outcomes.append(train(DATASET, tiny_run_config(), RunDirectory(tmp_path)))
    )
    thread.start()
    thread.join()
    assert outcomes[0].stopped == "finished"
