"""What a run needs of the memory, before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch

from ingram.evaluation.ranking import ranking_bytes
from ingram.graph import Dataset, KnowledgeGraph
from ingram.memory import ensure
from ingram.models import MODELS, ModelConfig, QueryModelConfig
from ingram.models.ingram import embedding_bytes
from ingram.models.ingram_q import scorer_bytes
from ingram.training import embedding_epochs, query_epochs
from ingram.training.config import Config, QueryConfig

COPIES = 10
"""Of the weights: gradients, moments, the best, the state to return to, a checkpoint on its way."""


def ensure_training_fits(
    config: Config | QueryConfig, graphs: Sequence[KnowledgeGraph], datasets: Sequence[Dataset]
) -> None:
    """Refuse a run that needs more memory than is free."""
    need, remedy = training_need(config, graphs, datasets)
    ensure(need, "training", remedy)


def training_need(
    config: Config | QueryConfig, graphs: Sequence[KnowledgeGraph], datasets: Sequence[Dataset]
) -> tuple[int, str]:
    """Bytes of a run, and what to change in the settings to make the largest part of them less."""
    epoch = max(_epoch_bytes(config, graph) for graph in graphs)
    validation = max(_validation_bytes(config, dataset) for dataset in datasets)
    weights = COPIES * _weight_bytes(config.model)
    remedy = "take a smaller model"
    if epoch >= max(validation, weights):
        remedy = "lower model.entity_hidden or training.draws"
        if isinstance(config, QueryConfig):
            remedy = "lower training.queries or model.width"
        elif not config.tasks.cut:
            remedy = f"set tasks.cut=true, or {remedy}"
        elif config.training.objective == "cross-entropy":
            remedy = f"lower training.queries or tasks.entities, or {remedy}"
    elif validation >= weights and isinstance(config, Config):
        remedy = "lower evaluation.draws, model.sketch_width or model.entity_hidden"
    return weights + max(epoch, validation), remedy


def _epoch_bytes(config: Config | QueryConfig, graph: KnowledgeGraph) -> int:
    if isinstance(config, QueryConfig):
        return query_epochs.epoch_bytes(config, graph)
    return embedding_epochs.epoch_bytes(config, graph)


def _validation_bytes(config: Config | QueryConfig, dataset: Dataset) -> int:
    facts = dataset.inference
    known = facts.num_triples + len(dataset.valid) + len(dataset.test)
    if isinstance(config, QueryConfig):
        return scorer_bytes(config.model, facts) + ranking_bytes(known)
    return embedding_bytes(config.model, facts, config.evaluation.draws) + ranking_bytes(known)


@lru_cache
def _weight_bytes(config: ModelConfig | QueryModelConfig) -> int:
    with torch.device("meta"):  # shapes without memory behind them
        model = MODELS[config.name](config)
    return sum(4 * parameter.numel() for parameter in model.parameters())
