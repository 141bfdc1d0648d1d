"""Testing a model on a split, by its run's protocol or another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ingram.answers import GraphScorer, KnownAnswers
from ingram.errors import ConfigError, RunError
from ingram.evaluation import rank
from ingram.evaluation.ranking import ranking_bytes
from ingram.graph import Dataset
from ingram.inference.applying import NO_DRAWS
from ingram.inference.together import Added
from ingram.memory import ensure
from ingram.models import InGram, InGramQ
from ingram.training.config import Config, QueryConfig
from ingram.training.streams import TEST


@dataclass(frozen=True, eq=False)
class Ranked:
    """ranks: one row a triple and side, with ``known`` for relations that training saw.

    ``draws`` and ``features`` are None where nothing random was drawn.
    """

    ranks: pl.DataFrame
    draws: int | None = None
    features: str | None = None


@dataclass(frozen=True, eq=False)
class Beside:
    """Another model, and how much its scores count: None, by its kind."""

    model: InGram | InGramQ
    config: Config | QueryConfig
    weight: float | None


def rank_split(
    model: InGram | InGramQ,
    dataset: Dataset,
    split: str,
    *,
    config: Config | QueryConfig,
    draws: int | None = None,
    seed: int | None = None,
    beside: Sequence[Beside] = (),
) -> Ranked:
    """Rank ``valid`` or ``test``.

    With neither ``draws`` nor ``seed`` the configuration's protocol holds: if its features are
    ``chosen``, the very draw of the validation that chose the weights is used again. The scores of
    models ``beside`` it, each by its own protocol, are added.
    """
    scorer, draws, features = _scorer(model, dataset, config, draws, seed)
    for other in beside:
        second, *_ = _scorer(other.model, dataset, other.config, None, None)
        scorer = Added(scorer, second, other.weight)
    return Ranked(rank_scorer(scorer, dataset, split), draws, features)


def _scorer(
    model: InGram | InGramQ,
    dataset: Dataset,
    config: Config | QueryConfig,
    draws: int | None,
    seed: int | None,
) -> tuple[GraphScorer, int | None, str | None]:
    """The model on the inference graph, and the draws and features of an embedding."""
    if config.model.name != model.name:
        raise ConfigError(f"want the settings of a run of {model.name}, got {config.model.name}'s")
    if isinstance(model, InGramQ):
        if draws is not None or seed is not None:
            raise ConfigError(NO_DRAWS)
        return model.scorer(dataset.inference), None, None
    assert isinstance(config, Config)
    draws, entropy, features = _protocol(model, config, draws, seed)
    vectors = model.embed(dataset.inference, seed=entropy, draws=draws, features="rows")
    return vectors, draws, features


def rank_scorer(scorer: GraphScorer, dataset: Dataset, split: str) -> pl.DataFrame:
    """The ranks of a split by anything that scores its graph, with ``known``."""
    parts = (dataset.inference.triples, dataset.valid, dataset.test)
    ensure(ranking_bytes(sum(map(len, parts))), "ranking", "take a smaller graph")
    ranks = rank(
        scorer, dataset.split(split), KnownAnswers.of(dataset), dataset.inference.num_entities
    )
    known = dataset.known_relations[ranks["relation"].to_numpy()]
    return ranks.with_columns(known=pl.Series(np.asarray(known)))


def document(
    result: Ranked, split: str, ties: str, seconds: float, tables: dict[str, pl.DataFrame]
) -> dict[str, Any]:
    """A test as JSON has it. tables: ``both`` sides together, and breakdowns by name."""
    return {
        "split": split,
        "ties": ties,
        "draws": result.draws,
        "features": result.features,
        "seconds": round(seconds, 3),
        **tables["both"].row(0, named=True),
        "by": {name: table.to_dicts() for name, table in tables.items() if name != "both"},
    }


def _protocol(
    model: InGram, config: Config, draws: int | None, seed: int | None
) -> tuple[int, int | list[int], str]:
    """How many draws, from which seed, and whether that is the chosen draw or a fresh one."""
    if config.evaluation.features == "chosen" and draws is None and seed is None:
        if "features" not in model.origin:
            raise RunError(
                "these weights do not say which features they were chosen with; ask for fresh "
                "ones with draws"
            )
        return model.origin["draws"], model.origin["features"], "chosen"
    entropy = [config.training.seed, TEST, 0] if seed is None else seed
    return draws or config.evaluation.draws, entropy, "fresh"
