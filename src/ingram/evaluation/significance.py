"""Whether one method is better than another on the same queries, or was only lucky with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from ingram.errors import DatasetError
from ingram.evaluation.metrics import TIES

TRIPLE = ("head", "relation", "tail")
RESAMPLES = 10_000
AT_ONCE = 2**22
"""Draws of a resample that are held together."""


@dataclass(frozen=True)
class Comparison:
    """A against B by MRR. difference: A's less B's; low, high: where 95 % of the resamples lie;
    p: the part of them in which A is not above B; triples: how many were drawn from.
    """

    difference: float
    low: float
    high: float
    p: float
    triples: int


def paired_bootstrap(
    a: Sequence[pl.DataFrame],
    b: Sequence[pl.DataFrame],
    *,
    ties: str = "realistic",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Draw the test triples anew, with both of their queries, and see how often A stays above B.

    a, b: tables of ranks, one for each seed, over the same queries. A query's reciprocal rank is
    the mean over the seeds, so that what is resampled is the test and not the training.
    """
    difference = _differences(a, b, ties)
    count = len(difference)
    rng = np.random.default_rng(seed)
    rows = max(1, AT_ONCE // count)
    means = np.concatenate(
        [
            difference[rng.integers(0, count, (min(rows, resamples - start), count))].mean(axis=1)
            for start in range(0, resamples, rows)
        ]
    )
    low, high = np.quantile(means, [0.025, 0.975])
    p = (1 + int((means <= 0).sum())) / (1 + resamples)
    return Comparison(float(difference.mean()), float(low), float(high), p, count)


def _differences(
    a: Sequence[pl.DataFrame], b: Sequence[pl.DataFrame], ties: str
) -> npt.NDArray[np.float64]:
    """(T,): of each test triple, A's mean reciprocal rank less B's."""
    ours, theirs = _reciprocal(a, ties), _reciprocal(b, ties)
    joined = ours.join(theirs, on=TRIPLE, suffix="_b").sort(TRIPLE)
    if not len(joined) or not len(joined) == len(ours) == len(theirs):
        raise DatasetError(
            f"want ranks of the same test triples to compare, got {len(ours):,} and "
            f"{len(theirs):,}, of which {len(joined):,} are the same"
        )
    return (joined["value"] - joined["value_b"]).to_numpy()


def _reciprocal(tables: Sequence[pl.DataFrame], ties: str) -> pl.DataFrame:
    ranks = pl.concat([table.select(*TRIPLE, "higher", "equal") for table in tables])
    return ranks.group_by(TRIPLE).agg(value=(1 / TIES[ties]).mean())
