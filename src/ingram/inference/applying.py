"""A trained run applied to a graph, whichever model it holds."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import polars as pl

from ingram.answers import GraphScorer
from ingram.answers.calibration import Calibration
from ingram.datasets import open_graph
from ingram.errors import ConfigError
from ingram.graph import KnowledgeGraph
from ingram.inference.explaining import explain
from ingram.inference.explanation import Explanation
from ingram.models import InGram, InGramQ, load_model
from ingram.models.shipped import EMBEDDING, ZERO_SHOT, run_path
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import Config

log = logging.getLogger(__name__)

NO_DRAWS = "ingram-q draws no random features; leave out draws and seed"


def apply_run(
    run: str | Path, graph: KnowledgeGraph, *, draws: int | None = None, seed: int | None = None
) -> GraphScorer:
    """The run's model on a graph. Without ``draws`` an embedding run's own number is taken.

    If the run has been calibrated, answers have probabilities.
    """
    path = run_path(run)
    model = load_model(path)
    return apply_model(path, model, graph, draws_of(path, model, draws, seed), seed)


def apply_model(
    run: Path,
    model: InGram | InGramQ,
    graph: KnowledgeGraph,
    draws: int | None,
    seed: int | None,
) -> GraphScorer:
    """The same with the run's model at hand; ``draws`` as :func:`draws_of` gives them."""
    return scorer_of(model, graph, draws, seed).calibrated(_calibration(run, model, draws))


def draws_of(run: Path, model: InGram | InGramQ, draws: int | None, seed: int | None) -> int | None:
    """How many random feature sets are drawn; None for a model that draws none."""
    if isinstance(model, InGram):
        return draws or run_draws(run)
    if draws is not None or seed is not None:
        raise ConfigError(NO_DRAWS)
    return None


def scorer_of(
    model: InGram | InGramQ, graph: KnowledgeGraph, draws: int | None, seed: int | None
) -> GraphScorer:
    """A model on a graph; ``draws`` as :func:`draws_of` gives them."""
    if isinstance(model, InGramQ):
        return model.scorer(graph)
    return model.embed(graph, seed=seed or 0, draws=draws or 1)


def calibration_path(run: Path) -> Path:
    """Where a run, or a file of weights, has its calibration."""
    return (run if run.is_dir() else run.parent) / "calibration.json"


def _calibration(run: Path, model: InGram | InGramQ, draws: int | None) -> Calibration | None:
    """The run's calibration, if it is of these very scores."""
    path = calibration_path(run)
    if not path.is_file():
        return None
    found = Calibration.load(path)
    if found.model != model.origin.get("id"):
        log.warning(
            "%s: of other weights than the run's, so no probabilities; calibrate anew", path
        )
        return None
    if found.draws != draws:
        log.warning(
            "%s: of %s draws, so %s draws give no probabilities; calibrate with so many, or ask "
            "with the other number",
            path,
            found.draws,
            draws,
        )
        return None
    return found


def predict(
    graph: KnowledgeGraph | str | Path, *, run: str | Path = ZERO_SHOT, **question: Any
) -> pl.DataFrame:
    """Ranked answers about a graph, or the graph in a file, with no training before.

    ``question`` as for :meth:`ingram.answers.GraphScorer.predict`: head, relation or tail, k,
    known, candidates. ``run``: other weights than the shipped ones.
    """
    if not isinstance(graph, KnowledgeGraph):
        graph = open_graph(graph)
    return apply_run(run, graph).predict(**question)


def explain_run(
    run: str | Path,
    graph: KnowledgeGraph,
    head: str,
    relation: str,
    tail: str,
    *,
    count: int = 5,
    draws: int | None = None,
    seed: int | None = None,
) -> Explanation:
    """Why the run's model predicts a triple; see :func:`ingram.inference.explaining.explain`."""
    path = run_path(run)
    model = load_model(path)
    draws = draws_of(path, model, draws, seed) or 1
    return explain(model, graph, head, relation, tail, count=count, draws=draws, seed=seed or 0)


def embedding_model(run: str | Path) -> InGram:
    """The run's model, if it gives vectors; else an error that says what to use."""
    model = load_model(run)
    if isinstance(model, InGramQ):
        raise ConfigError(
            f"{run} holds ingram-q, which answers questions and has no vectors; take "
            f"{EMBEDDING} or train with --preset default for vectors, or use predict"
        )
    return model


def run_draws(run: str | Path) -> int:
    """How many random feature sets a run's figures are averaged over."""
    config = RunDirectory(run_path(run)).config()
    return config.evaluation.draws if isinstance(config, Config) else 1
