"""The run directory, as far as training and resuming need it; other rooms add files of theirs.

    config.yaml          the settings; where it is, there is a run
    metrics.jsonl        one line a validation
    model.safetensors    the best weights so far, with how they were chosen
    checkpoints/         the last few moments of the run, each whole: epoch-0000000200.safetensors
    .lock                while a process trains here: which

A checkpoint is written last, so it never speaks of what is not there; on resuming, metrics and best
weights are made to agree with it. Tensors are safetensors, the rest is text; nothing is ever
executed on loading.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from ingram.errors import RunError, WriteError
from ingram.io.atomic import append_line, make_folder, remove, sweep, write_text
from ingram.io.tensors import Shapes, check_shapes, read_tensors, write_tensors
from ingram.models.base import write_model
from ingram.training.config import Config, QueryConfig, dump_config, load_config
from ingram.training.locks import locked
from ingram.training.migration import OLD_NAMES, load_old
from ingram.training.state import State

log = logging.getLogger(__name__)

FORMAT = "ingram-checkpoint-2"
KEPT = 3
"""Checkpoints that are kept: if the last is damaged, the one before is used."""

_NAME = re.compile(r"epoch-(\d{10})\.safetensors")


class RunDirectory:
    """A run's files. Every one is written whole or not at all, and lies in the directory."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def inside(self, *names: str) -> Path:
        """The path of one of the run's files; a link that leads elsewhere is refused."""
        path = self.path.joinpath(*names)
        if not path.resolve().is_relative_to(self.path.resolve()):
            raise RunError(f"{path}: leads out of the run directory; want a file in it")
        return path

    @property
    def model_path(self) -> Path:
        return self.inside("model.safetensors")

    @property
    def metrics_path(self) -> Path:
        return self.inside("metrics.jsonl")

    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes out of an existing directory."""
        return locked(self.path)

    def make(self) -> None:
        """Make the directory; one that holds a run already is refused."""
        if self.inside("config.yaml").exists():
            raise RunError(
                f"{self.path} holds a run already; resume it with --resume, or choose another "
                "directory"
            )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(
                f"{self.path}: cannot make the run directory: {error.strerror or error}"
            ) from error

    def begin(self, config: Config | QueryConfig, state: State) -> None:
        """Begin a run in the directory. Until the configuration is there, last, there is none."""
        self.make()
        self.sweep()
        for path in self.checkpoints():  # of a run that was killed while it began
            remove(path)
        self.save(state)
        write_text(self.metrics_path, "")
        write_text(self.inside("config.yaml"), dump_config(config))

    def config(self) -> Config | QueryConfig:
        path = self.inside("config.yaml")
        if not path.is_file():
            raise RunError(f"{self.path}: want a run directory, found no config.yaml in it")
        return load_config(path)

    def sweep(self) -> None:
        """Remove what a killed process left half-written."""
        for folder in (self.path, self.inside("checkpoints")):
            sweep(folder)

    def restore(self, config: Config | QueryConfig, records: list[dict[str, Any]]) -> None:
        """Write settings and metrics anew if they are gone."""
        if not self.inside("config.yaml").exists():
            write_text(self.inside("config.yaml"), dump_config(config))
        if not self.metrics_path.exists():
            self.write_metrics(records)

    def metrics(self) -> list[dict[str, Any]]:
        """The validations so far, up to a line that cannot be read: a crash cut it short."""
        records: list[dict[str, Any]] = []
        if not self.metrics_path.is_file():
            return records
        for line in self.metrics_path.read_text("utf-8", errors="replace").split("\n")[:-1]:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not _is_record(record):
                break
            records.append(record)
        return records

    def write_metrics(self, records: list[dict[str, Any]]) -> None:
        write_text(self.metrics_path, "".join(json.dumps(record) + "\n" for record in records))

    def append_metrics(self, record: dict[str, Any]) -> None:
        append_line(self.metrics_path, json.dumps(record))

    def write_best(self, state: State) -> None:
        """``model.safetensors`` as the state has it; none if it has none."""
        if state.best is None:
            remove(self.model_path)
        else:
            config = state.model.config
            write_model(self.model_path, config, state.best.weights, state.best.origin)

    def checkpoints(self) -> list[Path]:
        """The newest first."""
        found = self.inside("checkpoints").glob("epoch-*")
        names = sorted((path.name for path in found if _NAME.fullmatch(path.name)), reverse=True)
        return [self.inside("checkpoints", name) for name in names]

    def can_resume(self) -> bool:
        """Whether there is a checkpoint, of this or an earlier version."""
        names = [self.inside("checkpoints", name) for name in OLD_NAMES[:1]]
        return any(path.exists() for path in (*self.checkpoints(), *names))

    def save(self, state: State) -> None:
        """Write a checkpoint, and let the oldest go once it is safe."""
        tensors, about = state.pack()
        make_folder(self.inside("checkpoints"))
        name = f"epoch-{state.progress.epoch:010}.safetensors"
        write_tensors(self.inside("checkpoints", name), tensors, {"format": FORMAT, **about})
        before = [path for path in self.checkpoints() if path.name < name]
        outdated = [self.inside("checkpoints", old) for old in OLD_NAMES]
        with suppress(WriteError):  # they do no harm
            for path in (*before[KEPT - 1 :], *outdated):
                remove(path)

    def load(self, state: State) -> None:
        """The newest checkpoint that is whole, into ``state``."""
        damage: list[str] = []
        for path in self.checkpoints():
            try:
                load_checkpoint(path, state)
            except RunError as error:
                damage.append(str(error))
                continue
            if damage:
                log.warning("%s; going on from %s instead", "; ".join(damage), path.name)
            return
        if damage:
            raise RunError(f"{damage[0]}; no other checkpoint can be read; train anew")
        load_old(self.path, state, self.metrics())


def load_checkpoint(path: Path, state: State) -> None:
    """One checkpoint into ``state``: weights, optimiser and progress into their places."""

    def check(about: dict[str, Any], found: Shapes) -> None:
        try:
            must, may = state.shapes(about)
        except (KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{path}: its description cannot be read: {error!r}") from error
        check_shapes(path, found, must, may)

    tensors, about = read_tensors(path, FORMAT, check=check)
    try:
        state.unpack(tensors, about)
    except (KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise RunError(f"{path}: its description cannot be read: {reason}") from error


def _is_record(record: Any) -> bool:
    """Whether a line of metrics has the figures that are read of it again."""
    if not isinstance(record, dict) or not isinstance(record.get("epoch"), int):
        return False
    optional = (record.get(key) for key in ("loss", "seconds"))
    figures = (record.get("mrr"), *(value for value in optional if value is not None))
    return all(isinstance(value, int | float) for value in figures)
