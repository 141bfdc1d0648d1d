"""Small models, features and datasets that the tests share."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from ingram.graph import Dataset
from ingram.io.atomic import write_text
from ingram.models import InGram, InGramQ, ModelConfig, QueryModelConfig
from ingram.models.base import Model
from ingram.models.features import Features
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import Config, QueryConfig, dump_config
from ingram.training.presets import PRESETS
from tests.strategies import random_graph

M = TypeVar("M", bound=Model)
SIZES = {
    "relation_width": 3,
    "entity_width": 4,
    "relation_hidden": 6,
    "entity_hidden": 8,
    "relation_heads": 3,
    "entity_heads": 2,
    "bins": 3,
}
SKETCH = {"sketch_width": 6, "sketch_parts": 2}
QUERY_SIZES = {"width": 5, "relation_layers": 2, "entity_layers": 3, "bins": 3, "maxima": True}


def tiny_config(**changes) -> ModelConfig:
    """Widths and heads that all differ, so that none can stand in for another."""
    return ModelConfig(**{**SIZES, **changes})


def random_model(config: ModelConfig, seed: int = 0) -> InGram:
    """In float64, every parameter drawn: biases and bin weights start at zero otherwise."""
    return _drawn(InGram(config, seed=seed), seed)


def tiny_query_model_config(**changes) -> QueryModelConfig:
    """The same for the query-conditioned model."""
    return QueryModelConfig(**{**QUERY_SIZES, **changes})


def random_query_model(config: QueryModelConfig | None = None, seed: int = 0) -> InGramQ:
    """The same for the query-conditioned model."""
    return _drawn(InGramQ(config or tiny_query_model_config(), seed=seed), seed)


def _drawn(model: M, seed: int) -> M:
    generator = torch.Generator().manual_seed(seed)
    model = model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.7 * torch.randn(parameter.shape, generator=generator))
    return model


def weights_of(model: torch.nn.Module) -> dict[str, np.ndarray]:
    """The parameters by name, as the oracle takes them."""
    return {name: p.detach().double().numpy() for name, p in model.named_parameters()}


def random_features(model: InGram, graph, seed: int = 0, draws: int = 1) -> Features:
    """Wider than Glorot's, so that differences show."""
    generator = torch.Generator().manual_seed(seed)
    c = model.config

    def table(count: int, width: int) -> torch.Tensor:
        return torch.randn(draws, count, width, generator=generator, dtype=torch.float64)

    return Features(
        table(2 * graph.num_relations, c.relation_width),
        table(graph.num_entities, c.entity_width),
        table(graph.num_entities, c.sketch_width).sign(),
        table(2 * graph.num_relations, c.sketch_width).sign(),
    )


def tiny_dataset(seed: int = 0) -> Dataset:
    """A training graph and an inference graph of another size, five triples each to predict."""
    train = random_graph(seed, 14, 3, 70)
    whole = random_graph(seed + 1, 12, 4, 60)
    facts, valid, test = np.split(whole.triples, [len(whole.triples) - 10, -5])
    return Dataset("tiny", train, whole.with_triples(facts), valid, test)


def tiny_run_config(preset: str | None = None, **changes) -> Config:
    """A run of a dozen quick epochs by the paper's regime, stable and with several draws, or by a
    preset; ``changes`` as ``section__key=value``.
    """
    base = Config() if preset is None else PRESETS[preset]
    settings = {
        **{f"model.{key}": value for key, value in SIZES.items()},
        "training.epochs": 12,
        "training.validate_every": 4,
        "evaluation.draws": min(8, base.evaluation.draws),
    }
    if base.training.objective == "margin":
        settings["training.negatives"] = 3
    return base.with_settings(settings).with_settings(dotted(changes))


def dotted(changes: dict) -> dict:
    return {key.replace("__", "."): value for key, value in changes.items()}


def untrained_run(path: Path, config: Config | QueryConfig, seed: int = 0) -> Path:
    """A run directory with weights as they are drawn."""
    run = RunDirectory(path)
    run.make()
    write_text(run.inside("config.yaml"), dump_config(config))
    kind = InGramQ if isinstance(config, QueryConfig) else InGram
    kind(config.model, seed=seed).save(run.model_path, {})
    return path


def tiny_query_config(preset: str = "ingram-q", **changes) -> QueryConfig:
    """The same for the query-conditioned model, on tasks small enough to be cut."""
    settings = {
        **{f"model.{key}": value for key, value in QUERY_SIZES.items()},
        "training.epochs": 6,
        "training.validate_every": 2,
        "training.steps": 2,
        "training.queries": 8,
        "training.message_share": 0.5,
        "tasks.entities": (4, 14),
        "tasks.neighbours": (2, 6),
        "tasks.density": (0.8, 1.0),
        "tasks.least_triples": 34,
        "tasks.most_triples": 60,
    }
    return PRESETS[preset].with_settings(settings).with_settings(dotted(changes))
