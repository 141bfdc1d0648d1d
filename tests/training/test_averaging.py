"""Weights averaged over steps: what is validated and kept."""

import pytest
import torch

from ingram.io.tensors import read_tensors
from ingram.models import InGramQ, load_model
from ingram.training import loop, train
from ingram.training.checkpoints import FORMAT, RunDirectory
from tests.tiny import tiny_query_config, tiny_run_config
from tests.training.runs import DATASET


@pytest.fixture
def steps(monkeypatch):
    """The weights after every optimiser step, as they are made."""
    seen = []
    original = loop.ClippedAdamW.clipped_step

    def noted(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        seen.append([p.detach().clone() for group in self.param_groups for p in group["params"]])
        return result

    monkeypatch.setattr(loop.ClippedAdamW, "clipped_step", noted)
    return seen


def averages(first, steps, per_epoch, decay):
    """Written out: at a step of epoch t the part min(decay, t / (t + 10)) of the past stays."""
    average, found = list(first), []
    for number, weights in enumerate(steps):
        epoch = number // per_epoch + 1
        kept = min(decay, epoch / (epoch + 10))
        average = [kept * a + (1 - kept) * w for a, w in zip(average, weights, strict=True)]
        found.append(average)
    return found


@pytest.mark.parametrize("decay", [0.2, 0.999])
def test_the_kept_weights_are_the_average_over_the_steps(decay, steps, tmp_path):
    config = tiny_query_config(training__averaging=decay)
    outcome = train(DATASET, config, RunDirectory(tmp_path))
    first = [p.detach() for p in InGramQ(config.model, seed=0).parameters()]
    wanted = averages(first, steps, per_epoch=2, decay=decay)
    assert len(wanted) == 12

    tensors, _ = read_tensors(RunDirectory(tmp_path).checkpoints()[0], FORMAT)
    names = [name for name, _ in InGramQ(config.model).named_parameters()]
    for name, average, last in zip(names, wanted[-1], steps[-1], strict=True):
        torch.testing.assert_close(tensors[f"average.{name}"], average)
        assert torch.equal(tensors[f"model.{name}"], last)

    best = 2 * outcome.best["epoch"] - 1
    kept = load_model(tmp_path)
    for found, average, raw in zip(kept.parameters(), wanted[best], steps[best], strict=True):
        torch.testing.assert_close(found.detach(), average)
        assert not torch.equal(found, raw)


def test_the_embedding_model_averages_too(steps, tmp_path):
    config = tiny_run_config(training__averaging=0.5)
    train(DATASET, config, RunDirectory(tmp_path))
    tensors, _ = read_tensors(RunDirectory(tmp_path).checkpoints()[0], FORMAT)
    first = [p.detach() for p in loop.MODELS["ingram"](config.model, seed=0).parameters()]
    wanted = averages(first, steps, per_epoch=1, decay=0.5)[-1]
    found = [tensor for name, tensor in tensors.items() if name.startswith("average.")]
    total = torch.cat([t.flatten() for t in wanted]).sum()
    torch.testing.assert_close(torch.cat([t.flatten() for t in found]).sum(), total)


def test_without_averaging_a_checkpoint_holds_no_average(tmp_path):
    train(DATASET, tiny_query_config(training__epochs=1), RunDirectory(tmp_path))
    tensors, _ = read_tensors(RunDirectory(tmp_path).checkpoints()[0], FORMAT)
    assert not [name for name in tensors if name.startswith("average.")]
