"""Figure 4: what a model learned to add to its attention for each affinity bin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ingram.models import InGram, load_model
from ingram.models.layers import RelationLayer

Curves = npt.NDArray[np.float64]


def bin_weights(path: Path) -> Curves | None:
    """(layers, heads, bins): c_s of the weights in a run; None for a model that has none."""
    model = load_model(path)
    if not isinstance(model, InGram) or not model.config.relation_update:
        return None
    if model.config.bins == 1 or model.config.aggregator != "attention":
        return None
    learned = [layer.bins for layer in model.relation_layers if isinstance(layer, RelationLayer)]
    layers = [bins.detach().cpu().numpy().T for bins in learned]
    return np.stack(layers).astype(np.float64)


def falls(curves: Curves) -> float:
    """How far the mean curve goes down from left to right, as a correlation with the bin: the
    paper expects strong affinities, in the first bins, to be learned as large.
    """
    mean = curves.reshape(-1, curves.shape[-1]).mean(axis=0)
    if np.ptp(mean) == 0:
        return 0.0
    return float(-np.corrcoef(np.arange(len(mean)), mean)[0, 1])
