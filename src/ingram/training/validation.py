"""Validation while training: filtered ranking on the inference graph of each dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ingram.answers import KnownAnswers
from ingram.evaluation.metrics import overall
from ingram.evaluation.ranking import rank
from ingram.graph import Dataset
from ingram.training.config import EvaluationConfig
from ingram.training.learners import Learner


class Validation:
    """The validation triples of one or several datasets, ranked alike at every epoch."""

    def __init__(
        self, datasets: Sequence[Dataset], learner: Learner, evaluation: EvaluationConfig
    ) -> None:
        self.datasets, self.learner, self.ties = datasets, learner, evaluation.ties
        self.names = _distinct([dataset.name for dataset in datasets])
        self.known = [KnownAnswers.of(dataset) for dataset in datasets]
        self.triples = [_sampled(dataset.valid, evaluation.sample) for dataset in datasets]
        self.chance = float(np.mean([_chance(d.inference.num_entities) for d in datasets]))

    def figures(self, model: Any, epoch: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The figures, as means over the datasets, and what a test needs to repeat them."""
        each: list[dict[str, Any]] = []
        made: dict[str, Any] = {}
        for dataset, known, triples in zip(self.datasets, self.known, self.triples, strict=True):
            scorer, made = self.learner.scorer(model, dataset.inference, epoch)
            ranks = rank(scorer, triples, known, dataset.inference.num_entities)
            each.append(overall(ranks, ties=self.ties))
        names = [name for name in each[0] if name != "queries"]
        means: dict[str, Any] = {name: _mean([f[name] for f in each]) for name in names}
        if len(each) > 1:
            mrrs = [figures["mrr"] for figures in each]
            means["by_graph"] = dict(zip(self.names, mrrs, strict=True))
        return means, made


def _mean(values: Sequence[float | None]) -> float | None:
    """Of the values there are: where every rank is sure, AMRI is none."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _distinct(names: Sequence[str]) -> list[str]:
    """Two datasets may be called alike: the second ``v1`` is ``v1 (2)``."""
    counts = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [
        name if count == 1 else f"{name} ({count})"
        for name, count in zip(names, counts, strict=True)
    ]


def _sampled(triples: np.ndarray, count: int | None) -> np.ndarray:
    """The same triples in every run: figures of runs can be compared."""
    if count is None or len(triples) <= count:
        return triples
    return triples[np.sort(np.random.default_rng(0).choice(len(triples), count, replace=False))]


def _chance(num_entities: int) -> float:
    """The MRR of random ranks."""
    return float(np.sum(1 / np.arange(1, num_entities + 1))) / max(num_entities, 1)
