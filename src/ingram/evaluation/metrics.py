"""From rank counts to figures: MR, MRR, Hits@k, adjusted mean rank index."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

TIES = {
    "realistic": 1 + pl.col("higher") + pl.col("equal") / 2,
    "optimistic": 1.0 + pl.col("higher"),
    "pessimistic": 1.0 + pl.col("higher") + pl.col("equal"),
    "official": 1.0 + pl.col("higher") + pl.col("equal") // 2,
}
"""The rank of an answer, by how others with the same score count: the mean of the best and the
worst place, the best, the worst, and the published code's (half of the ties, rounded down)."""


def metrics(
    ranks: pl.DataFrame,
    *,
    ties: str = "realistic",
    hits: Sequence[int] = (1, 3, 10),
    by: Sequence[str] = (),
) -> pl.DataFrame:
    """One row for each group of ``by`` (such as side, relation or known): count, MR, MRR, Hits@k.

    AMRI is 1 - (MR - 1) / (expected MR - 1): 1 for perfect ranks, 0 for random ones.
    """
    table = ranks.with_columns(rank=TIES[ties], expected=(pl.col("candidates") + 1) / 2)
    spread = pl.col("expected").mean() - 1
    figures = [
        pl.len().alias("queries"),
        pl.col("rank").mean().alias("mr"),
        (1 / pl.col("rank")).mean().alias("mrr"),
        *((pl.col("rank") <= k).mean().alias(f"hits@{k}") for k in hits),
        (1 - (pl.col("rank").mean() - 1) / pl.when(spread > 0).then(spread)).alias("amri"),
    ]
    if not by:
        return table.select(figures)
    return table.group_by(by).agg(figures).sort(by)


def overall(ranks: pl.DataFrame, *, ties: str = "realistic") -> dict[str, float]:
    """The figures of all queries together, as a dictionary."""
    return metrics(ranks, ties=ties).row(0, named=True)
