"""Places in the plane."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from ingram.inference.layouts import fitted, principal_axes, spectral, springs


def ring(count):
    weights = np.zeros((count, count))
    here = np.arange(count)
    weights[here, (here + 1) % count] = weights[(here + 1) % count, here] = 1
    return weights


@pytest.mark.parametrize("count", [1, 2, 3, 20, 200])
def test_every_layout_stays_within_the_frame_and_is_the_same_again(count):
    weights = ring(count)
    vectors = np.random.default_rng(0).normal(size=(count, 5))
    for draw in (
        lambda: springs(weights),
        lambda: spectral(csr_array(weights)),
        lambda: principal_axes(vectors),
    ):
        places = draw()
        assert places.shape == (count, 2)
        assert np.abs(places).max(initial=0) <= 1 + 1e-9
        np.testing.assert_array_equal(places, draw())


def test_principal_axes_keep_what_differs_most():
    points = np.array([[0, 0, 5], [10, 0, 5], [0, 3, 5], [10, 3, 5.0]])
    places = principal_axes(points)
    assert set(np.round(np.abs(places[:, 0]), 6)) == {1.0}
    assert abs(places[0, 0] - places[2, 0]) < 1e-6 < abs(places[0, 0] - places[1, 0])


@pytest.mark.parametrize("count", [20, 200])
def test_spectral_puts_neighbours_close(count):
    places = spectral(csr_array(ring(count)))
    steps = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1).mean()
    pairs = np.random.default_rng(0).integers(count, size=(500, 2))
    others = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1).mean()
    assert steps < others / 2


def test_springs_pull_what_belongs_together():
    weights = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    places = springs(weights)
    middles = places[:5].mean(axis=0), places[5:].mean(axis=0)
    spread = np.linalg.norm(places[:5] - middles[0], axis=1).max()
    assert np.linalg.norm(middles[0] - middles[1]) > spread


def test_one_point_and_none_have_a_place():
    assert fitted(np.array([[3.0, 4.0]])).tolist() == [[0, 0]]
    assert fitted(np.empty((0, 2))).shape == (0, 2)
