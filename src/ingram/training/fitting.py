"""Training from Python in one call."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ingram.errors import ConfigError
from ingram.graph import Dataset, KnowledgeGraph
from ingram.io.folder import hold_out, read_dataset
from ingram.models import InGram, InGramQ, load_model
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import Config, QueryConfig
from ingram.training.listener import Listener
from ingram.training.loop import train
from ingram.training.presets import preset_config


def fit(
    *data: Dataset | KnowledgeGraph | str | Path,
    preset: str = "default",
    output: str | Path | None = None,
    epochs: int | None = None,
    seed: int = 0,
    minutes: float | None = None,
    settings: dict[str, Any] | None = None,
    start: InGram | InGramQ | str | Path | None = None,
    listener: Listener | None = None,
) -> InGram | InGramQ:
    """Train on a dataset, or on several together; returns the model that was best on validation.

    ``data``: a :class:`Dataset`, the path of a dataset folder or triples file, or a graph, a part
    of which is then held out. ``preset``: ``default``, ``paper``, or ``ingram-q`` for the
    query-conditioned model. ``output``: a run directory to keep; without it nothing is left on
    disk. ``settings``: single values of the configuration, such as ``{"model.bins": 5}``.
    ``start``: a model or run whose weights are the first ones; it decides which model is trained.
    """
    if not data:
        raise ConfigError("give at least one dataset to train on")
    changes = {"training.seed": seed, **(settings or {})}
    if epochs is not None:
        changes["training.epochs"] = epochs
    if isinstance(start, str | Path):
        start = load_model(start)
    if start is None:
        config = preset_config(preset, changes)
    else:
        config = config_from(start, preset, changes)
    datasets = [_dataset(one, seed) for one in data]
    with ExitStack() as stack:
        if output is None:
            output = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "run"
        run = RunDirectory(output)
        outcome = train(datasets, config, run, minutes=minutes, start=start, listener=listener)
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    if outcome.stopped == "terminated":
        raise SystemExit(143)  # 128 and the number of SIGTERM, as a shell would say
    return outcome.model


def _dataset(data: Dataset | KnowledgeGraph | str | Path, seed: int) -> Dataset:
    if isinstance(data, KnowledgeGraph):
        return hold_out(data, "graph", seed=seed)
    return data if isinstance(data, Dataset) else read_dataset(data, seed=seed)


def config_from(
    start: InGram | InGramQ, preset: str, settings: dict[str, Any]
) -> Config | QueryConfig:
    """The configuration of a run that starts from trained weights: their model, a preset's rest.

    Unless the settings say otherwise the rate is a fifth of the preset's, since at the whole of it
    weights first lose what they know, and every question counts alike.
    """
    if touched := [name for name in settings if name.startswith("model.")]:
        raise ConfigError(
            f"{touched[0]}: the first weights decide the model's settings; leave it out"
        )
    if preset == "default":
        preset = {"ingram": "default", "ingram-q": "ingram-q"}[start.name]
    config = preset_config(preset, {})
    gentle: dict[str, Any] = {"training.learning_rate": config.training.learning_rate / 5}
    if isinstance(config, QueryConfig):
        gentle["training.power"] = 0.0
    config = config.with_settings({**gentle, **settings})
    if config.model.name != start.name:
        raise ConfigError(
            f"the first weights are of {start.name}, but preset {preset!r} trains "
            f"{config.model.name}; leave the preset out"
        )
    return config.with_model(start.config)
