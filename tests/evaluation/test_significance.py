"""The paired bootstrap tells a difference from luck."""

import polars as pl
import pytest

from ingram.errors import DatasetError
from ingram.evaluation.significance import paired_bootstrap


def ranks(higher: list[int], start: int = 0) -> pl.DataFrame:
    """One test triple a place, asked from both sides alike."""
    one = pl.DataFrame(
        {
            "head": [f"h{start + i}" for i in range(len(higher))],
            "relation": ["r"] * len(higher),
            "tail": ["t"] * len(higher),
            "higher": higher,
            "equal": [0] * len(higher),
        }
    )
    return pl.concat([one, one])


def test_the_difference_is_that_of_the_mean_reciprocal_ranks():
    found = paired_bootstrap([ranks([0, 1])], [ranks([1, 3])])
    assert found.difference == pytest.approx((1 + 1 / 2) / 2 - (1 / 2 + 1 / 4) / 2)
    assert found.triples == 2


def test_always_better_is_never_luck():
    found = paired_bootstrap([ranks([0] * 40)], [ranks([3] * 40)])
    assert found.low == found.high == pytest.approx(0.75)
    assert found.p == pytest.approx(1 / 10_001)


def test_one_lucky_query_among_many_is_luck():
    found = paired_bootstrap([ranks([0] + [4] * 39)], [ranks([1] + [4] * 39)])
    assert found.difference > 0
    assert found.low == 0
    assert found.p == pytest.approx((39 / 40) ** 40, abs=0.03)


def test_equal_ranks_are_no_evidence():
    found = paired_bootstrap([ranks([2, 5])], [ranks([2, 5])])
    assert (found.difference, found.p) == (0, 1)


def test_seeds_are_averaged_before_queries_are_drawn():
    found = paired_bootstrap([ranks([0, 3]), ranks([3, 0])], [ranks([1, 1])])
    assert found.difference == pytest.approx(0.625 - 0.5)
    assert found.low == found.high


def test_the_order_of_the_rows_does_not_matter():
    a, b = ranks([0, 2, 5]), ranks([1, 1, 9])
    assert paired_bootstrap([a], [b]) == paired_bootstrap([a.reverse()], [b])


def test_other_queries_cannot_be_compared():
    with pytest.raises(DatasetError, match="same test triples"):
        paired_bootstrap([ranks([0, 1])], [ranks([0, 1], start=1)])
