"""Validations as they happen, in the files and tools that others look at.

``metrics.jsonl`` and ``metrics.csv`` are always written. TensorBoard and MLflow are there by name,
with the packages of the extra ``track``.
"""

from __future__ import annotations

import csv
import io
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import Any

from ingram.errors import ConfigError, MissingPackageError
from ingram.io.atomic import write_text
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import RunConfig, dump_config
from ingram.training.listener import Listener


class Listeners(Listener):
    """Several listeners that hear the same."""

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = listeners

    def started(self, epoch: int, epochs: int) -> None:
        for one in self.listeners:
            one.started(epoch, epochs)

    def epoch(self, number: int, loss: float) -> None:
        for one in self.listeners:
            one.epoch(number, loss)

    def validated(self, record: dict[str, Any]) -> None:
        for one in self.listeners:
            one.validated(record)

    def collapsed(self, record: dict[str, Any]) -> None:
        for one in self.listeners:
            one.collapsed(record)

    def save_failed(self, why: str) -> None:
        for one in self.listeners:
            one.save_failed(why)


class CsvTracker(Listener):
    """``metrics.csv``: the lines of ``metrics.jsonl`` as a table."""

    def __init__(self, run: RunDirectory) -> None:
        self.run = run

    def validated(self, record: dict[str, Any]) -> None:
        """Written whole each time: after a resume some lines are gone."""
        records = [_plain(r) for r in self.run.metrics()]
        columns = dict.fromkeys(key for r in records for key in r)
        text = io.StringIO()
        table = csv.DictWriter(text, list(columns), lineterminator="\n")
        table.writeheader()
        table.writerows(records)
        write_text(self.run.path / "metrics.csv", text.getvalue())


class TensorBoardTracker(Listener):
    """Event files in ``tensorboard/`` of the run: ``tensorboard --logdir RUN``."""

    def __init__(self, run: RunDirectory, config: RunConfig) -> None:
        self.writer_of = _package("torch.utils.tensorboard", "tensorboard").SummaryWriter
        self.folder, self.settings = run.path / "tensorboard", dump_config(config)
        self.writer: Any = None

    def started(self, epoch: int, epochs: int) -> None:
        """Points after the epoch that a run resumes at are dropped."""
        purge = epoch + 1 if epoch else None
        self.writer = self.writer_of(log_dir=str(self.folder), purge_step=purge)
        self.writer.add_text("settings", f"```\n{self.settings}```", epoch)

    def validated(self, record: dict[str, Any]) -> None:
        if self.writer is None:  # the first weights of a run are validated before it starts
            return
        for name, value in _numbers(record).items():
            self.writer.add_scalar(name, value, record["epoch"])
        self.writer.flush()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


class MlflowTracker(Listener):
    """A run of MLflow's experiment ``ingram``.

    It goes to ``MLFLOW_TRACKING_URI``, or else into ``mlflow.db`` of the run:
    ``mlflow ui --backend-store-uri sqlite:///RUN/mlflow.db``.
    """

    def __init__(self, run: RunDirectory, config: RunConfig) -> None:
        client = _package("mlflow", "mlflow-skinny").MlflowClient
        _package("sqlalchemy", "SQLAlchemy")
        self.folder, self.config = run.path.resolve(), config
        uri = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{self.folder / 'mlflow.db'}"
        self.connect = partial(client, tracking_uri=uri)
        self.client: Any = None
        self.id = ""

    def started(self, epoch: int, epochs: int) -> None:
        """Begin, or go on with the run of MLflow that belongs to this directory."""
        logging.getLogger("mlflow").setLevel(logging.WARNING)  # not a word on how it makes tables
        self.client = self.connect()
        found = self.client.get_experiment_by_name("ingram")
        if found is None:
            place = (self.folder / "artifacts").as_uri()
            experiment = self.client.create_experiment("ingram", artifact_location=place)
        else:
            experiment = found.experiment_id
        mark = sha256(str(self.folder).encode()).hexdigest()[:16]
        same = self.client.search_runs([experiment], f"tags.`ingram.run` = '{mark}'")
        if same and epoch:
            self.id = same[0].info.run_id
            return
        tags = {"ingram.run": mark, "ingram.path": str(self.folder)}
        made = self.client.create_run(experiment, run_name=self.folder.name, tags=tags)
        self.id = made.info.run_id
        for section, values in self.config.model_dump().items():
            for key, value in values.items():
                self.client.log_param(self.id, f"{section}.{key}", value)

    def validated(self, record: dict[str, Any]) -> None:
        if self.client is None:
            return
        for name, value in _numbers(record).items():
            self.client.log_metric(self.id, name.replace("@", "_at_"), value, step=record["epoch"])

    def close(self) -> None:
        if self.client is not None:
            self.client.set_terminated(self.id)


TRACKERS: dict[str, type[TensorBoardTracker] | type[MlflowTracker]] = {
    "tensorboard": TensorBoardTracker,
    "mlflow": MlflowTracker,
}


@contextmanager
def tracking(
    names: Sequence[str], run: RunDirectory, config: RunConfig, *others: Listener
) -> Iterator[Listener]:
    """A listener for a run: the trackers asked for by name, those that always are, and others."""
    if unknown := [name for name in names if name not in TRACKERS]:
        raise ConfigError(f"no tracker {unknown[0]!r}; known are {', '.join(TRACKERS)}")
    with ExitStack() as stack:
        trackers = [TRACKERS[name](run, config) for name in dict.fromkeys(names)]
        for tracker in trackers:
            stack.callback(tracker.close)
        yield Listeners(*others, CsvTracker(run), *trackers)


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what a cell cannot hold."""
    return {key: value for key, value in record.items() if not isinstance(value, dict | list)}


def _numbers(record: dict[str, Any]) -> dict[str, float]:
    return {
        key: float(value)
        for key, value in record.items()
        if key != "epoch" and isinstance(value, int | float) and not isinstance(value, bool)
    }


def _package(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackageError(
            f'this tracker needs {package}, which is not installed: pip install "ingram[track]"'
        ) from error
