import polars as pl
import pytest

from ingram.evaluation import metrics
from ingram.evaluation.metrics import overall


@pytest.fixture
def ranks():
    """Four queries; by policy their ranks are

                1st   2nd   3rd     4th
    optimistic  1     2     1       10
    pessimistic 1     4     4       10
    realistic   1     3     5/2     10
    official    1     3     1+1=2   10
    """
    return pl.DataFrame(
        {
            "side": ["head", "tail", "head", "tail"],
            "relation": [7, 7, 8, 8],
            "known": [True, True, False, False],
            "higher": [0, 1, 0, 9],
            "equal": [0, 2, 3, 0],
            "candidates": [11, 21, 11, 21],
        }
    )


@pytest.mark.parametrize(
    ("ties", "places"),
    [
        ("optimistic", [1, 2, 1, 10]),
        ("pessimistic", [1, 4, 4, 10]),
        ("realistic", [1, 3, 2.5, 10]),
        ("official", [1, 3, 2, 10]),
    ],
)
def test_figures_by_hand_under_each_policy(ranks, ties, places):
    found = overall(ranks, ties=ties)
    assert found["queries"] == 4
    assert found["mr"] == pytest.approx(sum(places) / 4)
    assert found["mrr"] == pytest.approx(sum(1 / p for p in places) / 4)
    for k in (1, 3, 10):
        assert found[f"hits@{k}"] == sum(p <= k for p in places) / 4
    # Random ranks would be 6, 11, 6, 11 on average: 8.5.
    assert found["amri"] == pytest.approx(1 - (sum(places) / 4 - 1) / (8.5 - 1))


def test_mean_ties_are_the_default(ranks):
    assert overall(ranks) == overall(ranks, ties="realistic")


def test_hits_at_any_k(ranks):
    found = metrics(ranks, ties="pessimistic", hits=(2, 4, 100)).row(0, named=True)
    assert [found[f"hits@{k}"] for k in (2, 4, 100)] == [0.25, 0.75, 1]
    assert "hits@1" not in found


def test_adjusted_mean_rank_index_is_one_when_perfect_and_zero_at_chance():
    perfect = pl.DataFrame({"higher": [0, 0], "equal": [0, 0], "candidates": [5, 9]})
    assert overall(perfect)["amri"] == 1
    tied = pl.DataFrame({"higher": [0, 0], "equal": [4, 8], "candidates": [5, 9]})
    assert overall(tied)["amri"] == 0
    last = pl.DataFrame({"higher": [4, 8], "equal": [0, 0], "candidates": [5, 9]})
    assert overall(last)["amri"] == -1


def test_a_single_candidate_has_no_adjusted_index():
    assert overall(pl.DataFrame({"higher": [0], "equal": [0], "candidates": [1]}))["amri"] is None


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("side", {"head": (2, (1 + 2.5) / 2), "tail": (2, (3 + 10) / 2)}),
        ("relation", {7: (2, (1 + 3) / 2), 8: (2, (2.5 + 10) / 2)}),
        ("known", {True: (2, 2), False: (2, 6.25)}),
    ],
)
def test_figures_break_down_by_group(ranks, by, wanted):
    table = metrics(ranks, by=[by])
    assert {row[by]: (row["queries"], row["mr"]) for row in table.iter_rows(named=True)} == wanted
    assert table[by].to_list() == sorted(wanted)


def test_figures_break_down_by_two_groups_at_once(ranks):
    table = metrics(ranks, by=["known", "side"])
    assert table["mr"].to_list() == [2.5, 10, 1, 3]
