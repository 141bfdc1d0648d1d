"""The learning rate over a run."""

from __future__ import annotations

import math

from ingram.training.config import TrainingConfig


def rate_at(done: float, training: TrainingConfig) -> float:
    """The factor on the learning rate when a part ``done`` of the run, in [0, 1], lies behind.

    It rises along a line during ``warmup``, stays, and falls along half a cosine during ``decay``.
    """
    if done < training.warmup:
        return min(max(done, 1e-3) / training.warmup, 1.0)
    left = 1 - done
    if left < training.decay:
        return max(0.5 * (1 - math.cos(math.pi * left / training.decay)), 1e-3)
    return 1.0
