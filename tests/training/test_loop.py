"""Whole runs: what they leave and how they end."""

import json

import pytest
import torch

from ingram.errors import ConfigError, RunError
from ingram.evaluation.metrics import overall
from ingram.inference.testing import rank_split
from ingram.models import InGram
from ingram.training import fit, validation
from ingram.training.checkpoints import RunDirectory
from ingram.training.embedding_epochs import EmbeddingEpochs
from ingram.training.schedules import rate_at
from tests.strategies import random_graph
from tests.tiny import SIZES, tiny_run_config
from tests.training.runs import DATASET, Diary, run_in


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
    epochs = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert epochs == [f"epoch-{epoch:010}.safetensors" for epoch in (4, 8, 12)]


def test_the_learning_rate_on_record_is_the_one_that_was_used(tmp_path):
    config = tiny_run_config(training__warmup=0.25, training__decay=0.75)
    diary = Diary()
    run_in(tmp_path, config, listener=diary)
    rates = [record["learning_rate"] for record in diary.records]
    wanted = [rate_at((epoch - 1) / 12, config.training) for epoch in (4, 8, 12)]
    assert rates == pytest.approx([5e-4 * part for part in wanted])
    assert rates[0] > rates[1] > rates[2]


def test_training_on_one_epoch_again_and_again_lowers_its_loss(tmp_path, monkeypatch):
    prepare = EmbeddingEpochs.prepare
    monkeypatch.setattr(EmbeddingEpochs, "prepare", lambda self, number: prepare(self, 1))
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
    epoch = EmbeddingEpochs(DATASET.train, config).prepare(1)
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
    monkeypatch.setattr(validation, "overall", lambda ranks, ties: {"mrr": next(left)})


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


@pytest.mark.parametrize(
    ("patience", "mrrs", "end"), [(None, [0.3, 0.2, 0.25], 12), (2, [0.3, 0.1, 0.2], 12)]
)
def test_a_run_may_keep_its_last_weights_and_patience_still_looks_to_the_best(
    tmp_path, monkeypatch, patience, mrrs, end
):
    with_mrr(monkeypatch, mrrs)
    settings = {"training__keep": "last", "training__patience": patience}
    outcome = run_in(tmp_path, tiny_run_config(**settings))
    assert outcome.epoch == end
    assert outcome.stopped == ("finished" if patience is None else "no better validation")
    assert outcome.best == {"epoch": end, "mrr": mrrs[-1]}
    assert outcome.model.origin["valid"] == outcome.best


TINY = {f"model.{name}": value for name, value in SIZES.items()}


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
