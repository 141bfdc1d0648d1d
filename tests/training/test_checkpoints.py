import pytest
import torch

from ingram.errors import RunError
from ingram.io.tensors import read_tensors, write_tensors
from ingram.models import InGram
from ingram.training.checkpoints import FORMAT, Progress, RunDirectory
from ingram.training.config import Config
from ingram.training.stability import CollapseWatch
from tests.tiny import tiny_config, tiny_run_config


@pytest.fixture
def run(tmp_path):
    directory = RunDirectory(tmp_path / "deep" / "run")
    directory.create(tiny_run_config())
    return directory


def trained(seed=0):
    """A model and an optimiser with a step behind them."""
    model = InGram(tiny_config(), seed=seed)
    optimizer = torch.optim.Adam(model.parameters())
    sum(p.square().sum() for p in model.parameters()).backward()
    optimizer.step()
    return model, optimizer


def test_a_run_begins_with_its_configuration_and_no_metrics(run):
    assert run.config() == tiny_run_config()
    assert run.metrics() == []


def test_a_directory_that_holds_a_run_is_refused(run):
    with pytest.raises(RunError, match="holds a run already; resume it with --resume"):
        run.create(Config())
    assert run.config() == tiny_run_config()


def test_a_directory_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot make the run directory"):
        RunDirectory(tmp_path / "file" / "run").create(Config())


def test_a_directory_without_a_run_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"want a run directory, found no config\.yaml"):
        RunDirectory(tmp_path).config()


def test_metrics_are_kept_up_to_the_checkpoint_and_a_cut_line_is_left_out(run):
    for epoch in (4, 8, 12):
        run.append_metrics({"epoch": epoch, "mrr": 0.1})
    with run.metrics_path.open("a") as file:
        file.write('{"epoch": 16, "m')
    assert [r["epoch"] for r in run.metrics()] == [4, 8, 12]
    run.keep_metrics(8)
    run.append_metrics({"epoch": 12, "mrr": 0.2})
    assert [(r["epoch"], r["mrr"]) for r in run.metrics()] == [(4, 0.1), (8, 0.1), (12, 0.2)]


def test_a_checkpoint_brings_back_weights_optimiser_and_progress(run):
    model, optimizer = trained()
    progress = Progress(
        epoch=7,
        learning_rate=1e-3,
        loss_sum=1 / 3,
        loss_count=2,
        best={"mrr": 0.1},
        stale=1,
        collapses=[{"epoch": 3}],
        watch=CollapseWatch(best_mrr=0.1, jumped=True),
    )
    run.save_checkpoint("last", model, optimizer, progress)

    other, other_optimizer = trained(seed=1)
    assert run.load_checkpoint("last", other, other_optimizer) == progress
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
        for key, value in optimizer.state[one].items():
            assert torch.equal(value, other_optimizer.state[two][key])


def test_files_that_are_no_checkpoint_are_refused_by_name(run):
    model, optimizer = trained()
    with pytest.raises(RunError, match=r"last\.safetensors: no such file"):
        run.load_checkpoint("last", model, optimizer)
    run.save_checkpoint("last", model, optimizer, Progress())
    path = run.checkpoint_path()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match=r"last\.safetensors: want a safetensors file"):
        run.load_checkpoint("last", model, optimizer)
    model.save(path, {})  # a model is no checkpoint
    with pytest.raises(
        RunError,
        match=r"last\.safetensors: want format 'ingram-checkpoint-1', got 'ingram-model-1'",
    ):
        run.load_checkpoint("last", model, optimizer)


def test_a_checkpoint_of_another_version_or_model_is_refused(run):
    model, optimizer = trained()
    run.save_checkpoint("last", model, optimizer, Progress())
    wider = InGram(tiny_config(bins=9))
    with pytest.raises(
        RunError, match=r"relation_layers.0.bins wants shape \(9, 3\), got \(3, 3\)"
    ):
        run.load_checkpoint("last", wider, torch.optim.Adam(wider.parameters()))

    path = run.checkpoint_path()
    tensors, about = read_tensors(path, FORMAT)
    write_tensors(path, tensors, about | {"format": "ingram-checkpoint-0"})
    with pytest.raises(RunError, match="want format 'ingram-checkpoint-1', got 'ingram-checkpo"):
        run.load_checkpoint("last", model, optimizer)
    for bad in ({}, {"epoch": 1, "watch": {"unknown": 1}}, [], None, {"watch": {}, "unknown": 1}):
        write_tensors(path, tensors, about | {"progress": bad})
        with pytest.raises(RunError, match="its description cannot be read"):
            run.load_checkpoint("last", model, optimizer)


def test_nothing_is_left_beside_the_files(run):
    model, optimizer = trained()
    run.save_checkpoint("last", model, optimizer, Progress())
    run.save_checkpoint("last", model, optimizer, Progress())
    model.save(run.model_path, {})
    found = sorted(p.relative_to(run.path).as_posix() for p in run.path.rglob("*"))
    assert found == [
        "checkpoints", "checkpoints/last.safetensors",
        "config.yaml", "metrics.jsonl", "model.safetensors",
    ]  # fmt: skip
