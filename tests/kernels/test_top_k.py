import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.kernels.top_k import top_k

values = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.5, 0.5, 3.0])


@given(
    st.integers(0, 12).flatmap(
        lambda n: st.lists(st.lists(values, min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    st.integers(1, 14),
    st.sampled_from([-np.inf, -1.0, 0.5, 9.0]),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_both_forms_give_a_stable_sort_cut_off_at_the_floor(rows, k, floor, dtype):
    scores = torch.tensor(rows, dtype=dtype).reshape(len(rows), -1)
    wanted = [sorted((-s, column) for column, s in enumerate(row) if s > floor)[:k] for row in rows]
    for backend in ("plain", "fused"):
        best, columns = top_k(scores, k, floor=floor, backend=backend)
        assert best.shape == columns.shape == (len(rows), min(k, scores.shape[1]))
        assert best.dtype == dtype
        for row, own, places in zip(wanted, best.tolist(), columns.tolist(), strict=True):
            pad = len(own) - len(row)
            assert places == [column for _, column in row] + [-1] * pad
            assert own == [-s for s, _ in row] + [-np.inf] * pad


@pytest.mark.parametrize("k", [1, 10, 999, 5_000])
def test_long_rows_agree_whatever_the_order_they_come_in(k, threads):
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(0, 700, (5, 5_000), generator=generator).float()
    rising = drawn.sort(dim=1).values
    for scores in (drawn, rising, rising.flip(1)):
        wanted = top_k(scores, k, backend="plain")
        for count in (1, 2):
            threads(count)
            found = top_k(scores, k, backend="fused")
            assert all(map(torch.equal, found, wanted))


def test_a_transposed_table_is_read_by_its_rows():
    scores = torch.tensor([[1.0, 5.0], [3.0, 2.0], [2.0, 9.0]]).T
    assert top_k(scores, 1)[1].tolist() == [[1], [2]]


@pytest.mark.parametrize("floor", [-torch.inf, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_long_rows_with_many_equal_scores_agree_with_sorting(dtype, floor):
    """Longer than a block of scores, and not a whole number of blocks."""
    scores = torch.randint(-3, 40, (5, 1_037), generator=torch.Generator().manual_seed(0))
    scores = scores.to(dtype)
    scores[2] = -torch.inf
    found, columns = top_k(scores, 9, floor=floor, backend="fused")
    wanted, places = top_k(scores, 9, floor=floor, backend="plain")
    assert torch.equal(found, wanted)
    assert torch.equal(columns, places)
