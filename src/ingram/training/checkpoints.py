"""The run directory: everything a run leaves behind, and all that resuming needs.

    config.yaml          the settings
    model.safetensors    the best weights so far, with how they were chosen
    metrics.jsonl        one line a validation
    checkpoints/         last: where to resume; good: where to return to after a collapse

Tensors are safetensors, the rest is text; nothing is ever executed on loading.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ingram.errors import RunError
from ingram.io.atomic import write_text
from ingram.io.tensors import checked_tensor, read_tensors, write_tensors
from ingram.models import Model
from ingram.training.config import Config, QueryConfig, dump_config, load_config
from ingram.training.stability import CollapseWatch

FORMAT = "ingram-checkpoint-1"


@dataclass
class Progress:
    """Where a run stands, besides weights and optimiser.

    ``start``: where the first weights are from, if they were given.
    """

    epoch: int = 0
    learning_rate: float = 0.0
    loss_sum: float = 0.0
    loss_count: int = 0
    seconds: float = 0.0
    best: dict[str, Any] = field(default_factory=dict)
    stale: int = 0
    collapses: list[dict[str, Any]] = field(default_factory=list)
    watch: CollapseWatch = field(default_factory=CollapseWatch)
    start: dict[str, Any] | None = None


class RunDirectory:
    """A run's files. Every write goes to a temporary name first."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def model_path(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def metrics_path(self) -> Path:
        return self.path / "metrics.jsonl"

    def checkpoint_path(self, name: str = "last") -> Path:
        return self.path / "checkpoints" / f"{name}.safetensors"

    def create(self, config: Config | QueryConfig) -> None:
        """Begin a run; a directory that holds one already is refused."""
        if (self.path / "config.yaml").exists():
            raise RunError(
                f"{self.path} holds a run already; resume it with --resume, or choose another "
                "directory"
            )
        try:
            (self.path / "checkpoints").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.path}: cannot make the run directory: {error}") from error
        write_text(self.path / "config.yaml", dump_config(config))
        write_text(self.metrics_path, "")

    def config(self) -> Config | QueryConfig:
        if not (self.path / "config.yaml").is_file():
            raise RunError(f"{self.path}: want a run directory, found no config.yaml in it")
        return load_config(self.path / "config.yaml")

    def metrics(self) -> list[dict[str, Any]]:
        """The validations so far; a line cut short by a crash is left out."""
        if not self.metrics_path.exists():
            return []
        records = []
        for line in self.metrics_path.read_text(encoding="utf-8").splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                break
        return records

    def append_metrics(self, record: dict[str, Any]) -> None:
        with self.metrics_path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def keep_metrics(self, last_epoch: int) -> None:
        """Drop what was written after the checkpoint that a run resumes from."""
        kept = [r for r in self.metrics() if r["epoch"] <= last_epoch]
        write_text(self.metrics_path, "".join(json.dumps(r) + "\n" for r in kept))

    def save_checkpoint(
        self,
        name: str,
        model: Model,
        optimizer: torch.optim.Optimizer,
        progress: Progress,
        average: Model | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Where a run stands. ``average``: its averaged weights; ``data``: its graphs, by use."""
        tensors = {f"model.{n}": p.detach() for n, p in model.named_parameters()}
        if average is not None:
            tensors |= {f"average.{n}": p.detach() for n, p in average.named_parameters()}
        for parameter_name, parameter in model.named_parameters():
            for key, value in optimizer.state[parameter].items():
                tensors[f"optimizer.{key}.{parameter_name}"] = value
        self.checkpoint_path(name).parent.mkdir(exist_ok=True)
        about = {"format": FORMAT, "progress": asdict(progress), **(data or {})}
        write_tensors(self.checkpoint_path(name), tensors, about)

    def load_checkpoint(
        self,
        name: str,
        model: Model,
        optimizer: torch.optim.Optimizer,
        average: Model | None = None,
        data: dict[str, Any] | None = None,
    ) -> Progress:
        """Weights and optimiser into their places; returns where the run stood.

        A run that was begun with other graphs than those of ``data`` is refused.
        """
        path = self.checkpoint_path(name)
        tensors, about = read_tensors(path, FORMAT)
        try:
            watch = CollapseWatch(**about["progress"]["watch"])
            progress = Progress(**{**about["progress"], "watch": watch})
        except (KeyError, TypeError) as error:
            raise RunError(f"{path}: its description cannot be read: {error}") from error
        for use, graphs in (data or {}).items():
            if about.get(use, graphs) != graphs:
                begun = ", ".join(str(graph["name"]) for graph in about[use])
                raise RunError(
                    f"{self.path}: this run was begun with other {use} ({begun}); resume it with "
                    "the same, or train anew elsewhere"
                )
        with torch.no_grad():
            for parameter_name, parameter in (average or nn.Module()).named_parameters():
                wanted_name = f"average.{parameter_name}"
                parameter.copy_(checked_tensor(path, tensors, wanted_name, parameter.shape))
            for parameter_name, parameter in model.named_parameters():
                shape = parameter.shape
                saved = checked_tensor(path, tensors, f"model.{parameter_name}", shape)
                parameter.copy_(saved)
                optimizer.state.pop(parameter, None)
                if f"optimizer.step.{parameter_name}" not in tensors:
                    continue  # no gradient has reached it yet, or none ever does
                optimizer.state[parameter] = {
                    key: checked_tensor(path, tensors, f"optimizer.{key}.{parameter_name}", wanted)
                    for key, wanted in (("step", ()), ("exp_avg", shape), ("exp_avg_sq", shape))
                }
        return progress
