"""Scores of given triples, and whether they are true."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ingram.answers import GraphScorer, refuse_diverged
from ingram.answers.asking import Progress, silent, with_probability
from ingram.errors import UnknownLabelError
from ingram.labels import FIELDS

ROWS = 2**16
"""Triples scored together."""


def score_triples(
    scorer: GraphScorer,
    triples: pl.DataFrame,
    name: str = "triples",
    progress: Progress = silent,
) -> Iterator[pl.DataFrame]:
    """Tables of the triples in their order: head, relation, tail, score, known.

    If the scorer is calibrated, also probability, and ``true``: whether the score reaches the
    threshold that was best on validation. ``name`` is what an error calls the triples.
    """
    try:
        ids = scorer.graph.encode(triples)
    except UnknownLabelError as error:
        raise UnknownLabelError(f"{name}: {error}") from error
    for start in range(0, max(len(ids), 1), ROWS):
        some = ids[start : start + ROWS]
        scores = scorer.score(some)
        refuse_diverged(scores)
        table = triples[start : start + ROWS].select(FIELDS)
        table = table.with_columns(
            score=pl.Series(scores.double().cpu().numpy()),
            known=pl.Series(scorer.known.contains(some)),
        )
        table = with_probability(table, scorer)
        if scorer.calibration is not None:
            table = table.with_columns(true=pl.col("score") >= scorer.calibration.threshold)
        progress(min(start + ROWS, len(ids)), len(ids))
        yield table
