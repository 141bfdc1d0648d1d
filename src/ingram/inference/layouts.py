"""Where to draw things: places in the plane, each coordinate within [-1, 1]."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh

Array = npt.NDArray[np.float64]

DENSE = 64
"""Nodes below which the whole matrix is taken apart: the iterative solver wants more room."""


def principal_axes(vectors: npt.NDArray[np.floating]) -> Array:
    """(n, 2): vectors (n, d) along the two directions in which they differ most."""
    centred = np.asarray(vectors, np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return fitted(centred @ axes[:, :-3:-1])


def spectral(weights: csr_array) -> Array:
    """(n, 2): nodes of a connected graph with symmetric weights (n, n), neighbours close together.

    The second and third smoothest vectors of the random walk on it; the smoothest says nothing.
    Every node also steps anywhere now and then, else the few on long threads fill the picture. Of
    each vector only the order counts, so that crowded places are spread out.
    """
    count = weights.shape[0]
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    scale = diags_array(1 / np.sqrt(np.maximum(degrees + degrees.mean(), 1e-12)))
    matrix = scale @ weights @ scale
    if count < DENSE:
        vectors = np.linalg.eigh(matrix.toarray())[1]
    else:  # a fixed start, so that the same graph gives the same picture
        start = np.random.default_rng(0).uniform(0.5, 1.5, count)
        vectors = eigsh(matrix, k=3, which="LA", v0=start, tol=1e-4)[1]
    smooth = vectors[:, ::-1]
    smooth = smooth[:, 1:3] / np.maximum(np.abs(smooth[:, :1]), 1e-9)
    places = np.zeros((count, 2))
    places[:, : smooth.shape[1]] = smooth.argsort(axis=0, kind="stable").argsort(axis=0)
    return fitted(places)


def springs(weights: Array, *, rounds: int = 80, seed: int = 0) -> Array:
    """(n, 2): Fruchterman and Reingold's forces. weights: (n, n), symmetric, in [0, 1]."""
    count = len(weights)
    places = np.random.default_rng(seed).uniform(-1, 1, (count, 2))
    rest = 1 / np.sqrt(max(count, 1))
    for heat in np.linspace(0.2, 0.005, rounds):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
        force = rest**2 / distance**2 - weights * distance / rest
        step = (apart * force[..., None]).sum(axis=1) - 0.5 * places  # and a pull to the middle
        length = np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)
        places += step * (np.minimum(length, heat) / length)[:, None]
    return fitted(places)


def fitted(places: Array) -> Array:
    """The same picture within [-1, 1], its middle at 0."""
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    fit: Array = (2 * places - low - high) / np.where(high > low, high - low, 1)
    return np.clip(fit, -1, 1)  # rounding may put the outermost a hair beyond
