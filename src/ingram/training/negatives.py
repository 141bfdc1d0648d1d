"""False triples to learn from."""

from __future__ import annotations

import numpy as np

from ingram.graph import Ids
from ingram.kernels.parallel import compiled


def corrupt(triples: Ids, num_entities: int, per_positive: int, *, rng: np.random.Generator) -> Ids:
    """(T * per_positive, 3): the corruptions of triple i are rows i * per_positive and on.

    Head or tail, with probability 1/2, gives way to one of the *other* entities, uniformly. Known
    true triples are not left out.
    """
    corrupted = np.repeat(triples, per_positive, axis=0)
    tail = rng.integers(0, 2, len(corrupted))
    shift = rng.integers(1, max(num_entities, 2), len(corrupted))
    _move(corrupted, tail, shift, num_entities)
    return corrupted


@compiled  # type: ignore[untyped-decorator]
def _move(triples: Ids, tail: Ids, shift: Ids, count: int) -> None:
    for i in range(len(triples)):
        moved = triples[i, 2 * tail[i]] + shift[i]
        triples[i, 2 * tail[i]] = moved - count if moved >= count else moved
