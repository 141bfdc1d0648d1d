"""When a run needs no more training."""

import json
from pathlib import Path

import pytest

from ingram.experiments.runs import finished, write_json
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import Config, dump_config
from ingram.training.migration import OLD_NAMES


@pytest.fixture
def run(tmp_path) -> RunDirectory:
    """Of ten epochs, of which five are validated."""
    config = Config().with_settings({"training.epochs": 10})
    (tmp_path / "config.yaml").write_text(dump_config(config))
    (tmp_path / "checkpoints").mkdir()
    validated(RunDirectory(tmp_path), 5)
    return RunDirectory(tmp_path)


def validated(run: RunDirectory, epoch: int) -> None:
    with run.metrics_path.open("a") as file:
        file.write(json.dumps({"epoch": epoch, "loss": 1.0, "mrr": 0.1, "seconds": 1.0}) + "\n")


def checkpoint(run: RunDirectory, name: str) -> None:
    (run.path / "checkpoints" / name).touch()


def test_a_run_that_ended_is_finished_unless_more_epochs_were_asked_for(run):
    write_json(run.path / "outcome.json", {"stopped": "finished", "epoch": 10})
    assert finished(run)
    longer = Config().with_settings({"training.epochs": 20})
    (run.path / "config.yaml").write_text(dump_config(longer))
    assert not finished(run)


@pytest.mark.parametrize(
    ("stopped", "done"),
    [("no better validation", True), ("diverged", True), ("out of time", False),
     ("interrupted", False), ("terminated", False)],
)  # fmt: skip
def test_how_a_run_stopped_says_whether_it_goes_on(run, stopped, done):
    checkpoint(run, "epoch-0000000005.safetensors")
    write_json(run.path / "outcome.json", {"stopped": stopped, "epoch": 5})
    assert finished(run) == done


def test_a_killed_run_is_not_finished_even_at_its_last_validation(run):
    checkpoint(run, "epoch-0000000005.safetensors")
    validated(run, 10)
    assert not finished(run)


def test_a_run_of_an_earlier_format_is_finished_at_its_last_epoch(run):
    checkpoint(run, OLD_NAMES[0])
    assert not finished(run)
    validated(run, 10)
    assert finished(run)


def test_what_was_never_begun_is_not_finished_and_what_cannot_go_on_is(run, tmp_path: Path):
    assert finished(run)
    assert not finished(RunDirectory(tmp_path / "nothing"))
