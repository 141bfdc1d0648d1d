"""Figure 4: what a model learned to add to its attention for each affinity bin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from ingram.models import InGram, load_model
from ingram.models.layers import RelationLayer

Curves = npt.NDArray[np.float64]


def bin_weights(path: Path) -> Curves | None:
    """(layers, heads, bins): c_s of the weights in a run; None for a model that has none.

    Where sharing heads and sharing tails are kept apart, a head has a line for each.
    """
    model = load_model(path)
    if not isinstance(model, InGram) or not model.config.relation_update:
        return None
    if model.config.bins == 1 or model.config.aggregator != "attention":
        return None
    learned = [layer.bins for layer in model.relation_layers if isinstance(layer, RelationLayer)]
    layers = [bins.detach().cpu().numpy().T for bins in learned]
    lines = np.stack(layers).reshape(len(layers), -1, model.config.bins)
    return lines.astype(np.float64)


def trend(curves: Curves) -> float:
    """Spearman's correlation of weight and bin, as the mean over layers and heads.

    The paper expects strong affinities, in the first bins, to be learned as large: -1 where every
    head falls from the first bin to the last, 0 where none learned anything.
    """
    bins = np.arange(curves.shape[-1])
    heads = curves.reshape(-1, len(bins))
    return float(np.mean([_spearman(bins, head) for head in heads]))


def _spearman(bins: npt.NDArray[np.int64], head: Curves) -> float:
    return 0.0 if np.ptp(head) == 0 else float(spearmanr(bins, head).statistic)
