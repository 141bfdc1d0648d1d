"""Trackers, against the real packages writing to disk."""

import csv
import json
import warnings
from pathlib import Path

import pytest

from ingram.errors import ConfigError, MissingPackageError
from ingram.experiments import trackers
from ingram.experiments.trackers import tracking
from ingram.training import train
from ingram.training.checkpoints import RunDirectory
from tests.tiny import tiny_dataset, tiny_query_config


def trained(path: Path, *names: str, epochs: int = 4, resume: bool = False) -> RunDirectory:
    run, config = RunDirectory(path), tiny_query_config(training__epochs=epochs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the packages' own
        with tracking(names, run, config) as listener:
            train(tiny_dataset(), config, run, listener=listener, resume=resume)
    return run


def test_json_lines_and_a_table_are_always_written_and_agree(tmp_path):
    run = trained(tmp_path / "run")
    lines = [json.loads(line) for line in run.metrics_path.read_text().splitlines()]
    with (run.path / "metrics.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(row["epoch"]) for row in table] == [line["epoch"] for line in lines] == [2, 4]
    assert [float(row["mrr"]) for row in table] == [line["mrr"] for line in lines]


def test_tensorboard_reads_back_what_was_validated(tmp_path):
    pytest.importorskip("tensorboard")
    run = trained(tmp_path / "run", "tensorboard")
    trained(tmp_path / "run", "tensorboard", epochs=6, resume=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(str(run.path / "tensorboard")).Reload()
    points = events.Scalars("mrr")
    assert [point.step for point in points] == [2, 4, 6]
    kept = [record["mrr"] for record in run.metrics()]
    assert [point.value for point in points] == pytest.approx(kept)
    assert "settings/text_summary" in events.Tags()["tensors"]


def test_mlflow_keeps_one_run_for_a_run_and_goes_on_with_it(tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    run = trained(tmp_path / "run", "mlflow")
    trained(tmp_path / "run", "mlflow", epochs=6, resume=True)
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{run.path / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("ingram")
    [kept] = client.search_runs([experiment.experiment_id])
    assert kept.info.status == "FINISHED"
    assert kept.data.params["model.name"] == "ingram-q"
    points = client.get_metric_history(kept.info.run_id, "mrr")
    assert [(p.step, p.value) for p in sorted(points, key=lambda p: p.step)] == [
        (record["epoch"], pytest.approx(record["mrr"])) for record in run.metrics()
    ]
    assert "hits_at_10" in kept.data.metrics


def test_an_unknown_tracker_and_a_missing_package_are_named(tmp_path, monkeypatch):
    run, config = RunDirectory(tmp_path), tiny_query_config()
    with (
        pytest.raises(ConfigError, match="no tracker 'wandb'; known are tensorboard, mlflow"),
        tracking(["wandb"], run, config),
    ):
        pass

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(trackers, "import_module", missing)
    with (
        pytest.raises(MissingPackageError, match=r"pip install \"ingram\[track\]\""),
        tracking(["mlflow"], run, config),
    ):
        pass
