"""False triples to learn from."""

from __future__ import annotations

import numpy as np

from ingram.graph import Ids
from ingram.kernels.parallel import compiled
from ingram.kernels.vectors import get, put


def with_corruptions(
    triples: Ids, num_entities: int, per_positive: int, *, rng: np.random.Generator
) -> Ids:
    """(T * (1 + per_positive), 3): the triples, then ``per_positive`` corruptions of each in turn.

    Head or tail, with probability 1/2, gives way to one of the *other* entities, uniformly. Known
    true triples are not left out.
    """
    false = len(triples) * per_positive
    out = np.empty((len(triples) + false, 3), np.int64)
    tail = rng.integers(0, 2, false)
    shift = rng.integers(1, max(num_entities, 2), false)
    _fill(out, np.ascontiguousarray(triples), tail, shift, num_entities)
    return out


@compiled  # type: ignore[untyped-decorator]
def _fill(out: Ids, triples: Ids, tail: Ids, shift: Ids, count: int) -> None:
    each, place = len(tail) // max(len(triples), 1), 3 * len(triples)
    for i in range(len(triples)):
        h, r, t = get(triples, 3 * i), get(triples, 3 * i + 1), get(triples, 3 * i + 2)
        put(out, 3 * i, h)
        put(out, 3 * i + 1, r)
        put(out, 3 * i + 2, t)
        for k in range(i * each, (i + 1) * each):
            side = get(tail, k)
            moved = h + side * (t - h) + get(shift, k)
            put(out, place, h)
            put(out, place + 1, r)
            put(out, place + 2, t)
            put(out, place + 2 * side, moved - count if moved >= count else moved)
            place += 3
