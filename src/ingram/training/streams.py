"""Streams of randomness. A generator is seeded with (seed, stream, epoch), so what an epoch draws
does not depend on the epochs before it: a run resumes anywhere without a generator's state.
"""

from __future__ import annotations

import numpy as np

EPOCH, VALIDATION, TEST, CHOICE = range(4)


def stream(seed: int, which: int, epoch: int) -> np.random.Generator:
    """The generator of one stream at one epoch."""
    return np.random.default_rng([seed, which, epoch])
