"""Settings by name."""

from __future__ import annotations

from typing import Any

from ingram.errors import ConfigError
from ingram.models.config import ModelConfig, QueryModelConfig
from ingram.training.config import (
    Config,
    EmbeddingEvaluation,
    EmbeddingTraining,
    QueryConfig,
    QueryTraining,
)
from ingram.training.task_config import TaskConfig

PAPER = Config(
    training=EmbeddingTraining(epochs=10_000, on_collapse="report"),
    evaluation=EmbeddingEvaluation(draws=1, features="chosen", ties="official"),
)
EMBEDDING = Config(
    model=ModelConfig(
        relation_width=64,
        entity_width=64,
        entity_hidden=128,
        sides="apart",
        head_questions="inverse",
        readout="all",
        sketch_width=128,
        loops="stated",
    ),
    training=EmbeddingTraining(
        epochs=2_000,
        objective="cross-entropy",
        learning_rate=2e-3,
        warmup=0.05,
        decay=0.95,
        averaging=0.99,
        clip_norm=1.0,
    ),
    evaluation=EmbeddingEvaluation(draws=8),
    tasks=TaskConfig(cut=True),
)
PRESETS: dict[str, Config | QueryConfig] = {
    "default": EMBEDDING,
    "paper": PAPER,
    "ingram-q": QueryConfig(
        model=QueryModelConfig(maxima=True, loops="stated"), training=QueryTraining(power=0.3)
    ),
    "pretrain": QueryConfig(
        model=QueryModelConfig(loops="stated"),
        training=QueryTraining(epochs=800, validate_every=40, keep="last"),
        tasks=TaskConfig(entities=(400, 2_500), most_triples=10_000),
    ),
    "pretrain-embedding": EMBEDDING.with_settings(
        {
            "training.epochs": 4_000,
            "training.learning_rate": 1e-3,
            "training.keep": "last",
        }
    ),
}
"""``default`` is the embedding model at its best: it learns to answer questions about tasks cut out
of the graph, averages over draws, and recovers from a collapse. ``paper`` follows the published
defaults and protocol: one draw, tested with the weights and draw chosen on validation.
``ingram-q`` is the query-conditioned model; ``pretrain`` the same over many graphs, without
maxima, large tasks and power, which gain nothing there; ``pretrain-embedding`` the other over
many."""


def preset_config(name: str, settings: dict[str, Any]) -> Config | QueryConfig:
    """A preset with single settings changed."""
    if name not in PRESETS:
        raise ConfigError(f"no preset {name!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name].with_settings(settings)
