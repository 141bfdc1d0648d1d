import numpy as np
import pytest

from ingram.kernels.exponential import exponentials


def of(numbers, dtype):
    array = np.array(numbers, dtype)
    exponentials(array)
    return array


def test_float32_is_within_two_units_in_the_last_place():
    x = -np.concatenate([np.linspace(0, 87, 1_000_003), np.geomspace(1e-30, 1, 1_000)])
    x = x.astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    found = of(x, np.float32).astype(np.float64)
    unit = np.spacing(exact.astype(np.float32)).astype(np.float64)
    assert (np.abs(found - exact) / unit).max() < 2


def test_float64_is_that_of_the_c_library():
    x = -np.linspace(0, 700, 1_001)
    np.testing.assert_allclose(of(x, np.float64), np.exp(x), rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_is_one_what_is_far_below_is_zero_and_nan_stays(dtype):
    many = [0.0, -1e4, -np.inf, np.nan] * 5  # in vectors and in what remains
    np.testing.assert_array_equal(of(many, dtype), [1.0, 0.0, 0.0, np.nan] * 5)
