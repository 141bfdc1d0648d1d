"""Whole runs: what they leave, how they end, and what they do about trouble."""

import json
from dataclasses import replace

import pytest
import torch

from ingram.errors import ConfigError, DivergedError, RunError
from ingram.evaluation.metrics import overall
from ingram.inference.testing import rank_split
from ingram.models import InGram
from ingram.training import Listener, fit, loop, train
from ingram.training.checkpoints import RunDirectory
from tests.strategies import random_graph
from tests.tiny import tiny_dataset, tiny_run_config

DATASET = tiny_dataset()


def run_in(path, config=None, **arguments):
    return train(DATASET, config or tiny_run_config(), RunDirectory(path), **arguments)


class Diary(Listener):
    """Writes down everything it is told."""

    def __init__(self):
        self.started_at, self.losses, self.records, self.collapses = None, {}, [], []

    def started(self, epoch, epochs):
        self.started_at = (epoch, epochs)

    def epoch(self, number, loss):
        self.losses[number] = loss

    def validated(self, record):
        self.records.append(record)

    def collapsed(self, record):
        self.collapses.append(record)


def test_a_run_leaves_its_configuration_metrics_best_model_and_checkpoint(tmp_path):
    diary = Diary()
    outcome = run_in(tmp_path, listener=diary)
    assert (outcome.stopped, outcome.epoch, outcome.collapses) == ("finished", 12, [])
    assert diary.started_at == (0, 12)
    assert list(diary.losses) == list(range(1, 13))

    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert records == diary.records
    assert [r["epoch"] for r in records] == [4, 8, 12]
    means = [sum(diary.losses[e] for e in range(last - 3, last + 1)) / 4 for last in (4, 8, 12)]
    assert [r["loss"] for r in records] == pytest.approx(means)
    best = max(records, key=lambda r: r["mrr"])
    assert outcome.best["mrr"] == best["mrr"]
    assert outcome.best["epoch"] == best["epoch"]

    loaded = InGram.load(tmp_path)
    assert loaded.origin["valid"] == outcome.best
    for one, other in zip(loaded.parameters(), outcome.model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert (tmp_path / "checkpoints" / "last.safetensors").exists()


def test_training_on_one_epoch_again_and_again_lowers_its_loss(tmp_path, monkeypatch):
    prepare = loop.Epochs.prepare
    monkeypatch.setattr(
        loop.Epochs, "prepare", lambda self, number: replace(prepare(self, 1), number=number)
    )
    diary = Diary()
    config = tiny_run_config(training__epochs=60, training__learning_rate=0.01)
    run_in(tmp_path, config, listener=diary)
    assert diary.losses[60] < 0.5 * diary.losses[1]


def test_one_step_is_adam_on_the_clipped_gradient_of_the_margin_loss(tmp_path):
    """Written out with plain torch: the loop's first step."""
    config = tiny_run_config(training__epochs=1, training__clip_norm=0.01)
    diary = Diary()
    outcome = run_in(tmp_path, config, listener=diary)

    model = InGram(config.model, seed=config.training.seed)
    epoch = loop.Epochs(DATASET.train, config).prepare(1)
    h, z = model(epoch.graph, epoch.features)
    heads, relations, tails = epoch.triples.T
    scores = (h[0, heads] * z[0, relations] * h[0, tails]).sum(-1)
    true, false = scores[: epoch.positives], scores[epoch.positives :].view(-1, 3)
    pairs = [
        max(0.0, 2.0 - a.item() + b.item()) for a, row in zip(true, false, strict=True) for b in row
    ]
    assert diary.losses[1] == pytest.approx(sum(pairs) / len(pairs), rel=1e-5)

    (2.0 - true[:, None] + false).clamp(min=0).mean().backward()
    gradients = [p.grad for p in model.parameters()]
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    assert norm > 0.01
    for before, gradient, after in zip(
        model.parameters(), gradients, outcome.model.parameters(), strict=True
    ):
        clipped = gradient * 0.01 / norm
        # Adam's first step: the moments, corrected, are the gradient and its square.
        wanted = before - 5e-4 * clipped / (clipped.abs() + 1e-8)
        torch.testing.assert_close(after, wanted, rtol=1e-3, atol=1e-5)


def weights(outcome):
    return b"".join(p.detach().numpy().tobytes() for p in outcome.model.parameters())


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(tmp_path):
    one, same, other = (
        run_in(tmp_path / str(i), tiny_run_config(training__seed=seed))
        for i, seed in enumerate((0, 0, 1))
    )
    assert weights(one) == weights(same)
    assert one.best == same.best
    assert weights(one) != weights(other)


def test_a_directory_that_holds_a_run_is_refused(tmp_path):
    run_in(tmp_path)
    before = (tmp_path / "metrics.jsonl").read_bytes()
    with pytest.raises(RunError, match="holds a run already"):
        run_in(tmp_path)
    assert (tmp_path / "metrics.jsonl").read_bytes() == before


def test_the_chosen_draw_of_the_paper_preset_gives_the_validation_figure_again(tmp_path):
    config = tiny_run_config("paper")
    outcome = run_in(tmp_path, config)
    model = InGram.load(tmp_path)
    again = rank_split(model, DATASET, "valid", config=config)
    assert (again.draws, again.features) == (1, "chosen")
    found = overall(again.ranks, ties="official")
    assert {k: found[k] for k in outcome.best if k != "epoch"} == {
        k: v for k, v in outcome.best.items() if k != "epoch"
    }
    fresh = rank_split(model, DATASET, "valid", config=config, seed=123)
    assert fresh.features == "fresh"
    assert not fresh.ranks.equals(again.ranks)


def test_the_default_preset_is_tested_with_fresh_draws(tmp_path):
    config = tiny_run_config()
    run_in(tmp_path, config)
    ranked = rank_split(InGram.load(tmp_path), DATASET, "test", config=config)
    assert (ranked.draws, ranked.features) == (8, "fresh")
    assert len(ranked.ranks) == 2 * len(DATASET.test)


def with_mrr(monkeypatch, figures):
    """Validations report these MRRs, whatever the model does."""
    left = iter(figures)
    monkeypatch.setattr(loop, "overall", lambda ranks, ties: {"mrr": next(left)})


@pytest.mark.parametrize(
    ("patience", "mrrs", "end", "best"),
    [
        (1, [0.3, 0.2], 8, 4),
        (1, [0.3, 0.3], 8, 4),  # no better is not better
        (2, [0.3, 0.2, 0.25], 12, 4),
        (2, [0.3, 0.2, 0.4, 0.3, 0.3], 20, 12),
    ],
)
def test_a_run_stops_early_when_validation_gets_no_better(
    tmp_path, monkeypatch, patience, mrrs, end, best
):
    with_mrr(monkeypatch, mrrs)
    config = tiny_run_config(training__epochs=40, training__patience=patience)
    outcome = run_in(tmp_path, config)
    assert (outcome.stopped, outcome.epoch) == ("no better validation", end)
    assert outcome.best["epoch"] == best
    assert outcome.model.origin["valid"]["epoch"] == best


class Saboteur(Diary):
    """Spoils the loss of given epochs by a factor."""

    def __init__(self, monkeypatch, factors):
        super().__init__()
        true_loss = loop.margin_loss
        monkeypatch.setattr(
            loop, "margin_loss", lambda *a: true_loss(*a) * factors.get(1 + len(self.losses), 1.0)
        )


def test_a_loss_that_is_not_a_number_is_recovered_from_at_a_lower_rate(tmp_path, monkeypatch):
    saboteur = Saboteur(monkeypatch, {6: float("nan")})
    outcome = run_in(tmp_path, listener=saboteur)
    assert (outcome.stopped, outcome.epoch) == ("finished", 12)
    event = {
        "epoch": 6,
        "why": "the loss is not finite",
        "returned_to": 4,
        "learning_rate": 2.5e-4,
    }
    assert outcome.collapses == saboteur.collapses == [event]
    assert [r["epoch"] for r in saboteur.records] == [4, 6, 8, 12]
    assert [r["learning_rate"] for r in saboteur.records] == [5e-4, 5e-4, 2.5e-4, 2.5e-4]
    assert saboteur.records[1]["collapse"] == "the loss is not finite"
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
    run, model = RunDirectory(tmp_path), InGram(tiny_run_config().model)
    states = []
    for name in ("good", "last"):
        optimizer = torch.optim.Adam(model.parameters())
        progress = run.load_checkpoint(name, model, optimizer)
        moments = [optimizer.state[p]["exp_avg"].tolist() for p in model.parameters()]
        states.append((progress.epoch, [p.tolist() for p in model.parameters()], moments))
    (good, *good_state), (last, *last_state) = states
    assert (good, last) == (4, 6)
    assert last_state == good_state


def last_weights(path):
    model = InGram(tiny_run_config().model)
    RunDirectory(path).load_checkpoint("last", model, torch.optim.Adam(model.parameters()))
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


TINY = {f"model.{k}": v for k, v in tiny_run_config().model.model_dump().items()}


def test_fit_returns_the_best_model_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = fit(DATASET, epochs=4, settings=TINY)
    assert isinstance(model, InGram)
    assert model.origin["valid"]["epoch"] == 4
    assert not list(tmp_path.rglob("*.safetensors"))


def test_fit_keeps_the_run_where_it_is_told(tmp_path):
    model = fit(DATASET, epochs=4, seed=3, output=tmp_path / "run", settings=TINY, preset="paper")
    config = RunDirectory(tmp_path / "run").config()
    assert (config.training.seed, config.training.epochs) == (3, 4)
    assert config.evaluation.ties == "official"
    assert InGram.load(tmp_path / "run").origin == model.origin


def test_fit_refuses_an_unknown_preset():
    with pytest.raises(ConfigError, match="no preset 'papre'; known are default, paper"):
        fit(DATASET, preset="papre")


def test_fit_takes_a_graph_and_holds_a_part_out():
    model = fit(random_graph(0, 12, 3, 80), epochs=4, settings=TINY)
    assert model.origin["valid"]["epoch"] == 4
