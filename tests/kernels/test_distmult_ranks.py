"""Counts without a table of scores against those from one, on scores with many ties."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.kernels import distmult_ranks as module
from ingram.kernels import parallel
from ingram.kernels.distmult_ranks import distmult_ranks
from tests.strategies import seeds


def case(seed, queries, entities, width, dtype=torch.float32, levels=2):
    """Small whole numbers: exact in any order, and often the same."""
    g = torch.Generator().manual_seed(seed)
    tables = [
        torch.randint(-levels, levels + 1, (count, width), generator=g).to(dtype)
        for count in (queries, entities)
    ]
    answers = torch.randint(entities, (queries,), generator=g)
    hidden = torch.rand(queries, entities, generator=g) < 0.2
    pointers = torch.cat([torch.zeros(1, dtype=torch.long), hidden.sum(1).cumsum(0)])
    return *tables, answers, pointers, hidden.nonzero()[:, 1]


def assert_same(found, wanted):
    for one, other in zip(found[:2], wanted[:2], strict=True):
        assert torch.equal(one, other)
    assert found[2].isfinite().all() == wanted[2].isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@given(seeds, st.integers(0, 14), st.integers(1, 70), st.integers(1, 9))
def test_fused_and_plain_agree(dtype, seed, queries, entities, width):
    arguments = case(seed, queries, entities, width, dtype)
    assert_same(
        distmult_ranks(*arguments, backend="fused"), distmult_ranks(*arguments, backend="plain")
    )


def test_counts_worked_by_hand():
    entities = torch.tensor([[1.0], [2.0], [2.0], [3.0], [4.0]])
    query = torch.tensor([[1.0]])
    found = distmult_ranks(
        query, entities, torch.tensor([1]), torch.tensor([0, 2]), torch.tensor([1, 4])
    )
    # Above 2: 3, and 4, which is excluded. Beside it: the other 2. The answer's own exclusion is
    # no other answer's.
    assert [part.tolist() for part in found[:2]] == [[1], [1]]


@pytest.mark.parametrize("block", [1, 2**9, 2**12])
def test_the_size_of_a_block_changes_nothing(block, monkeypatch):
    arguments = case(0, 13, 500, 3)
    monkeypatch.setattr(module, "SCORES", 7 * 500)
    wanted = distmult_ranks(*arguments, backend="plain")
    monkeypatch.setattr(module, "BLOCK", block)
    assert_same(distmult_ranks(*arguments, backend="fused"), wanted)


def test_an_answer_ties_with_its_double_whatever_the_numbers():
    """The answer's own score is computed apart, and must have the same bits."""
    g = torch.Generator().manual_seed(0)
    half = torch.randn(101, 37, generator=g)
    entities, queries = torch.cat([half, half]), torch.randn(101, 37, generator=g)
    none = torch.zeros(102, dtype=torch.long)
    _, equal, _ = distmult_ranks(queries, entities, torch.arange(101), none, none[:0])
    assert equal.tolist() == [1] * 101


@pytest.mark.parametrize("place", [0, 20, 33])
def test_a_score_that_is_not_finite_is_told(place):
    queries, entities, *rest = case(0, 7, 34, 3)
    assert distmult_ranks(queries, entities, *rest)[2].isfinite().all()
    entities[place] = 1e30
    queries[5] = 1e30
    assert not distmult_ranks(queries, entities, *rest)[2].isfinite().all()


def test_any_number_of_threads_gives_the_same(threads, monkeypatch):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    arguments = case(1, 40, 300, 8)
    threads(1)
    once = distmult_ranks(*arguments)
    threads(3)
    assert_same(distmult_ranks(*arguments), once)
