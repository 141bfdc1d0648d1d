"""Testing a model on a split, by its run's protocol or another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ingram.errors import RunError
from ingram.evaluation import KnownAnswers, rank
from ingram.graph import Dataset
from ingram.models.ingram import InGram
from ingram.training.config import Config
from ingram.training.epochs import TEST


@dataclass(frozen=True, eq=False)
class Ranked:
    """ranks: one row a triple and side, with ``known`` for relations that training saw."""

    ranks: pl.DataFrame
    draws: int
    features: str


def rank_split(
    model: InGram,
    dataset: Dataset,
    split: str,
    *,
    config: Config,
    draws: int | None = None,
    seed: int | None = None,
) -> Ranked:
    """Rank ``valid`` or ``test``.

    With neither ``draws`` nor ``seed`` the configuration's protocol holds: if its features are
    ``chosen``, the very draw of the validation that chose the weights is used again.
    """
    chosen = config.evaluation.features == "chosen" and draws is None and seed is None
    if chosen:
        if "features" not in model.origin:
            raise RunError("these weights do not say which features they were chosen with")
        draws, entropy = model.origin["draws"], model.origin["features"]
    else:
        draws = draws or config.evaluation.draws
        entropy = [config.training.seed, TEST, 0] if seed is None else seed
    embeddings = model.embed(dataset.inference, seed=entropy, draws=draws)
    ranks = rank(
        embeddings, dataset.split(split), KnownAnswers.of(dataset), dataset.inference.num_entities
    )
    known = dataset.known_relations[ranks["relation"].to_numpy()]
    return Ranked(
        ranks.with_columns(known=pl.Series(np.asarray(known))),
        draws,
        "chosen" if chosen else "fresh",
    )
