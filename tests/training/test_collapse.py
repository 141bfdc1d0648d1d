"""What a run does when training collapses: notice, say so, and recover or stop."""

import pytest
import torch

from ingram.errors import DivergedError
from ingram.models import InGram
from ingram.training import embedding_epochs
from ingram.training.checkpoints import RunDirectory, load_checkpoint
from ingram.training.optimizer import ClippedAdamW
from ingram.training.state import State
from tests.tiny import tiny_run_config
from tests.training.runs import Diary, run_in

NOT_FINITE = "the loss is not finite; this began in the loss itself"


class Saboteur(Diary):
    """Spoils the loss of given epochs by a factor."""

    def __init__(self, monkeypatch, factors):
        super().__init__()
        true_loss = embedding_epochs.margin_loss
        monkeypatch.setattr(
            embedding_epochs,
            "margin_loss",
            lambda *a: true_loss(*a) * factors.get(1 + len(self.losses), 1.0),
        )


def test_a_loss_that_is_not_a_number_is_recovered_from_at_a_lower_rate(tmp_path, monkeypatch):
    saboteur = Saboteur(monkeypatch, {6: float("nan")})
    outcome = run_in(tmp_path, listener=saboteur)
    assert (outcome.stopped, outcome.epoch) == ("finished", 12)
    event = {
        "epoch": 6,
        "why": NOT_FINITE,
        "returned_to": 4,
        "learning_rate": 2.5e-4,
    }
    assert outcome.collapses == saboteur.collapses == [event]
    assert [r["epoch"] for r in saboteur.records] == [4, 6, 8, 12]
    assert [r["learning_rate"] for r in saboteur.records] == [5e-4, 5e-4, 2.5e-4, 2.5e-4]
    assert saboteur.records[1]["collapse"] == NOT_FINITE
    assert saboteur.records[1]["loss"] is None
    assert all(p.isfinite().all() for p in outcome.model.parameters())


def test_a_loss_that_jumps_and_stays_is_recovered_from(tmp_path, monkeypatch):
    # The jump shows at epoch 8 and is still there at 12: back to 4, the last before it.
    factors = dict.fromkeys(range(5, 13), 50.0)
    saboteur = Saboteur(monkeypatch, factors)
    outcome = run_in(tmp_path, tiny_run_config(training__epochs=16), listener=saboteur)
    assert outcome.stopped == "finished"
    [event] = outcome.collapses
    assert (event["epoch"], event["returned_to"]) == (12, 4)
    assert event["why"].startswith("the loss jumped from ")


def test_a_recovery_takes_weights_and_optimiser_back_to_the_good_checkpoint(tmp_path, monkeypatch):
    saboteur = Saboteur(monkeypatch, {6: float("nan")})
    run_in(tmp_path, tiny_run_config(training__epochs=6), listener=saboteur)
    last, good, _ = RunDirectory(tmp_path).checkpoints()
    states = [state_in(path) for path in (last, good)]
    assert [state.progress.epoch for state in states] == [6, 4]
    assert states[0].good.epoch == 4
    now, before, kept = states[0].moment(), states[1].moment(), states[0].good.tensors
    assert now.keys() == before.keys() == kept.keys()
    for name, tensor in now.items():
        assert torch.equal(tensor, before[name])
        assert torch.equal(tensor, kept[name])


def state_in(checkpoint):
    model = InGram(tiny_run_config().model)
    state = State(model, ClippedAdamW(model.parameters()))
    load_checkpoint(checkpoint, state)
    return state


def last_weights(path):
    model = state_in(RunDirectory(path).checkpoints()[0]).model
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_steps_after_a_recovery_are_shorter(tmp_path, monkeypatch):
    """By the factor of the rate: the seventh epoch's gradient is the same in both runs."""
    run_in(tmp_path / "good", tiny_run_config(training__epochs=4))
    good, steps = last_weights(tmp_path / "good"), []
    for rate in (0.5, 0.1):
        path = tmp_path / str(rate)
        config = tiny_run_config(training__epochs=7, training__recovery_rate=rate)
        with monkeypatch.context() as patch:
            run_in(path, config, listener=Saboteur(patch, {6: float("nan")}))
        steps.append(last_weights(path) - good)
    assert steps[1].abs().max() > 1e-5
    torch.testing.assert_close(steps[0], 5 * steps[1], rtol=0.01, atol=1e-6)


def test_after_a_recovery_a_jump_is_judged_anew(tmp_path, monkeypatch):
    # Still high at 16, but that is the first interval since the return at 12: not yet a collapse.
    saboteur = Saboteur(monkeypatch, dict.fromkeys(range(5, 17), 50.0))
    outcome = run_in(tmp_path, tiny_run_config(training__epochs=16), listener=saboteur)
    assert [c["epoch"] for c in outcome.collapses] == [12]


def test_several_collapses_lower_the_rate_each_time(tmp_path, monkeypatch):
    saboteur = Saboteur(monkeypatch, {5: float("nan"), 7: float("nan"), 10: float("nan")})
    outcome = run_in(tmp_path, listener=saboteur)
    assert [c["learning_rate"] for c in outcome.collapses] == [2.5e-4, 1.25e-4, 6.25e-5]
    assert outcome.stopped == "finished"


def test_the_paper_preset_reports_a_collapse_and_goes_on(tmp_path, monkeypatch):
    saboteur = Saboteur(monkeypatch, dict.fromkeys(range(5, 13), 50.0))
    outcome = run_in(tmp_path, tiny_run_config("paper", training__epochs=16), listener=saboteur)
    assert (outcome.stopped, outcome.epoch) == ("finished", 16)
    assert outcome.collapses[0]["epoch"] == 12
    assert outcome.collapses[0]["returned_to"] is None
    assert {r["learning_rate"] for r in saboteur.records} == {5e-4}


def test_the_paper_preset_stops_at_a_loss_that_is_not_a_number_and_keeps_the_best(
    tmp_path, monkeypatch
):
    saboteur = Saboteur(monkeypatch, {6: float("nan")})
    outcome = run_in(tmp_path, tiny_run_config("paper"), listener=saboteur)
    assert (outcome.stopped, outcome.epoch) == ("diverged", 6)
    assert outcome.best["epoch"] == 4
    assert all(p.isfinite().all() for p in outcome.model.parameters())


def test_a_run_that_diverges_before_its_first_validation_is_an_error(tmp_path, monkeypatch):
    saboteur = Saboteur(monkeypatch, {1: float("nan")})
    with pytest.raises(
        DivergedError, match=r"diverged at epoch 1 .* lower training\.learning_rate"
    ):
        run_in(tmp_path, listener=saboteur)


def test_an_absurd_learning_rate_is_recovered_from_or_refused(tmp_path):
    config = tiny_run_config(training__learning_rate=1e30, training__epochs=30)
    with pytest.raises(DivergedError, match=r"lower training\.learning_rate"):
        run_in(tmp_path, config)


def test_collapsed_weights_are_not_kept_because_they_are_the_last(tmp_path, monkeypatch):
    """The jump at 8 is not judged yet; that it stays shows at 12, the end."""
    saboteur = Saboteur(monkeypatch, dict.fromkeys(range(5, 13), 50.0))
    outcome = run_in(tmp_path, tiny_run_config(training__keep="last"), listener=saboteur)
    assert [c["epoch"] for c in outcome.collapses] == [12]
    assert outcome.model.origin["valid"]["epoch"] == 8
