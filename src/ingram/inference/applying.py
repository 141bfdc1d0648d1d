"""A trained run applied to a graph, whichever model it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from ingram.answers import GraphScorer
from ingram.datasets import open_graph
from ingram.errors import ConfigError
from ingram.graph import KnowledgeGraph
from ingram.inference.explaining import explain
from ingram.inference.explanation import Explanation
from ingram.inference.shipped import ZERO_SHOT, run_path
from ingram.models import InGram, InGramQ, load_model
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import Config

NO_DRAWS = "ingram-q draws no random features; leave out draws and seed"


def apply_run(
    run: str | Path, graph: KnowledgeGraph, *, draws: int | None = None, seed: int | None = None
) -> GraphScorer:
    """The run's model on a graph. Without ``draws`` an embedding run's own number is taken."""
    model = load_model(run_path(run))
    if isinstance(model, InGramQ):
        if draws is not None or seed is not None:
            raise ConfigError(NO_DRAWS)
        return model.scorer(graph)
    return model.embed(graph, seed=seed or 0, draws=draws or run_draws(run))


def predict(
    graph: KnowledgeGraph | str | Path, *, run: str | Path = ZERO_SHOT, **question: Any
) -> pl.DataFrame:
    """Ranked answers about a graph, or the graph in a file, with no training before.

    ``question`` as for :meth:`ingram.answers.GraphScorer.predict`: head or tail, relation, k,
    known. ``run``: other weights than the shipped ones.
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
    model = load_model(run_path(run))
    if isinstance(model, InGramQ):
        if draws is not None or seed is not None:
            raise ConfigError(NO_DRAWS)
        return explain(model, graph, head, relation, tail, count=count)
    draws = draws or run_draws(run)
    return explain(model, graph, head, relation, tail, count=count, draws=draws, seed=seed or 0)


def embedding_model(run: str | Path) -> InGram:
    """The run's model, if it gives vectors; else an error that says what to use."""
    model = load_model(run_path(run))
    if isinstance(model, InGramQ):
        raise ConfigError(
            f"{run} holds ingram-q, which answers questions and has no vectors; train with "
            "--preset default for vectors, or use predict"
        )
    return model


def run_draws(run: str | Path) -> int:
    """How many random feature sets a run's figures are averaged over."""
    config = RunDirectory(run_path(run)).config()
    return config.evaluation.draws if isinstance(config, Config) else 1
