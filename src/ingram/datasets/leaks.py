"""Facts that give a triple to predict away: its reverse, or its copy under a twin relation.

Two relations are *consistently* inverse (or twins) if nearly all pairs of the one are pairs of the
other, reversed (or as they are). The facts of one then answer every question about the other by
copying, which is what FB15k and WN18 were withdrawn for.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ingram.graph import Ids

CONSISTENT = 0.8
"""Of the pairs of both relations, the share that they must have in common."""
SUPPORT = 3
"""Fewer common pairs than this prove nothing."""


def giveaways(facts: Ids, targets: Ids, others: Ids, num_entities: int, *, reverse: bool) -> Ids:
    """(T,): for each target triple the row of a fact that gives it away, or -1.

    ``reverse``: look for (t, r', h) with r' equal to r or consistently its inverse; otherwise for
    (h, r', t) with r' another relation and consistently the same. ``others`` are triples of the
    same graph that are no facts; how consistent two relations are is judged on all of them.
    """
    pairs = _pairs(facts, num_entities, reverse=reverse)
    order = np.argsort(pairs, kind="stable")
    asked = _pairs(targets, num_entities, reverse=False)
    start = np.searchsorted(pairs[order], asked, side="left")
    count = np.searchsorted(pairs[order], asked, side="right") - start
    if reverse:
        count[targets[:, 0] == targets[:, 2]] = 0  # a loop is its own reverse and proves nothing
    target = np.repeat(np.arange(len(targets)), count)
    offset = np.arange(len(target)) - np.repeat(np.cumsum(count) - count, count)
    fact = order[np.repeat(start, count) + offset]

    everything = np.concatenate([facts, targets, others])
    given = _related(everything, targets[target, 1], facts[fact, 1], num_entities, reverse)
    found = np.full(len(targets), -1, dtype=np.int64)
    found[target[given][::-1]] = fact[given][::-1]  # the last write, so the first fact, stays
    return found


def _pairs(triples: Ids, num_entities: int, *, reverse: bool) -> Ids:
    first, second = (2, 0) if reverse else (0, 2)
    keys: Ids = triples[:, first] * num_entities + triples[:, second]
    return keys


def _related(triples: Ids, asked: Ids, stated: Ids, num_entities: int, reverse: bool) -> np.ndarray:
    """(C,) bool: whether relation ``stated[i]`` answers for relation ``asked[i]``."""
    by_relation = np.argsort(triples[:, 1], kind="stable")
    ends = np.cumsum(np.bincount(triples[:, 1]))
    forward = _pairs(triples[by_relation], num_entities, reverse=False)
    backward = _pairs(triples[by_relation], num_entities, reverse=reverse)

    @lru_cache(maxsize=256)
    def distinct(relation: int, *, turned: bool) -> Ids:
        start = ends[relation - 1] if relation else 0
        return np.unique((backward if turned else forward)[start : ends[relation]])

    def consistent(one: int, other: int) -> bool:
        if one == other:
            return reverse
        ours, theirs = distinct(one, turned=False), distinct(other, turned=True)
        needed = max(SUPPORT, CONSISTENT * max(len(ours), len(theirs)))
        if min(len(ours), len(theirs)) < needed:
            return False
        return bool(np.intersect1d(ours, theirs, assume_unique=True).size >= needed)

    pairs, where = np.unique(asked * len(ends) + stated, return_inverse=True)
    answers = [consistent(*divmod(int(pair), len(ends))) for pair in pairs]
    return np.array(answers, dtype=bool)[where]
