import numba
import numpy as np
import pytest

from ingram.kernels import vectors
from ingram.kernels.signs import add_where, put_signs
from ingram.kernels.vectors import (
    count_above,
    count_same,
    fused,
    get,
    lanes_of,
    larger,
    load,
    put,
    splat,
    store,
    through_relu,
    total,
)  # fmt: skip


@numba.njit
def compute(lanes, numbers, others, out):
    """A row of ``out`` for each operation, on the first lanes of both."""
    size = len(lanes)
    one, other = load(numbers, 0, lanes), load(others, 0, lanes)
    store(out, 0, one + other)
    store(out, size, one * other)
    store(out, 2 * size, one * numbers.dtype.type(3) + splat(numbers.dtype.type(1), lanes))
    store(out, 3 * size, fused(numbers.dtype.type(3), one, other))
    store(out, 4 * size, larger(one, other))
    for c in range(0, 64, size):
        put_signs(out, 7 * size + 1, c, one)
        store(out, 5 * size, add_where(other, out, 7 * size + 1, c, numbers.dtype.type(7)))
    store(out, 6 * size, through_relu(one, other))
    put(out, 7 * size, total(one))
    return count_above(one, get(others, 0)), count_same(one, get(others, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 4, 32])
def test_operations_are_those_of_whole_arrays(dtype, size):
    rng = np.random.default_rng(size)
    one, other = rng.integers(-3, 4, (2, size)).astype(dtype)  # exact in any order
    out = np.zeros((10, size), dtype)
    counts = compute((0,) * size, one, other, out)
    np.testing.assert_array_equal(out[0], one + other)
    np.testing.assert_array_equal(out[1], one * other)
    np.testing.assert_array_equal(out[2], 3 * one + 1)
    np.testing.assert_array_equal(out[3], 3 * one + other)
    np.testing.assert_array_equal(out[4], np.maximum(one, other))
    np.testing.assert_array_equal(out[5], other + 7 * (one > 0))
    np.testing.assert_array_equal(out[6], np.where(one > 0, other, 0))
    assert out[7, 0] == one.sum()
    assert counts == ((one > other[0]).sum(), (one == other[0]).sum())


def test_a_nan_passes_the_relu_and_is_above_nothing():
    one = np.array([np.nan, 1, -1, 0], np.float32)
    out = np.zeros((10, 4), np.float32)
    assert compute((0,) * 4, one, one, out) == (0, 0)
    np.testing.assert_array_equal(out[6], [np.nan, 1, 0, 0])
    compute((0,) * 4, one, np.ones(4, np.float32), out)
    np.testing.assert_array_equal(out[5], [1, 8, 1, 1])


@pytest.mark.parametrize(("width", "lanes"), [(32, 32), (16, 16), (48, 16), (128, 64), (3, 1)])
def test_lanes_divide_the_width_and_are_a_power_of_two(width, lanes):
    assert len(lanes_of(width)) == lanes
    assert vectors.WIDEST == 64
