"""Facts that give a triple to predict away: its reverse, or its copy under a twin relation.

Two relations are *consistently* inverse (or twins) if nearly all pairs of the one are pairs of the
other, reversed (or as they are). The facts of one then answer every question about the other by
copying.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from ingram.graph import Ids, triple_keys

CONSISTENT = 0.8
"""Of the pairs of both relations, the share that they must have in common."""
SUPPORT = 3
"""Fewer common pairs than this prove nothing."""
BLOCK = 256
"""Relations compared with all others at once; bounds the memory."""


def giveaways(
    facts: Ids, targets: Ids, others: Ids, num_entities: int, num_relations: int, *, reverse: bool
) -> Ids:
    """(T,): for each target triple the row of a fact that gives it away, or -1.

    ``reverse``: look for (t, r', h) with r' equal to r or consistently its inverse; otherwise for
    (h, r', t) with r' another relation and consistently the same. ``others`` are triples of the
    same graph that are no facts; how consistent two relations are is judged on all of them.
    """
    size = (num_entities, num_relations)
    keys = triple_keys(facts, *size)
    order = np.argsort(keys)
    keys = keys[order]
    answers = targets[:, [2, 1, 0]] if reverse else targets.copy()
    found = np.full(len(targets), -1, dtype=np.int64)

    def look(rows: Ids, relation: Ids | int) -> None:
        """Where a target has no fact yet, take the one under ``relation``."""
        answers[rows, 1] = relation
        asked = triple_keys(answers[rows], *size)
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        hit = (keys[at] == asked) & (found[rows] < 0)
        found[rows[hit]] = order[at[hit]]

    if not len(facts) or not len(targets):
        return found
    if reverse:  # a loop is its own reverse and proves nothing
        rows = np.flatnonzero(targets[:, 0] != targets[:, 2])
        look(rows, targets[rows, 1])
    else:
        rows = np.arange(len(targets))
    by_relation = rows[np.argsort(targets[rows, 1], kind="stable")]
    ends = np.cumsum(np.bincount(targets[rows, 1], minlength=num_relations))
    everything = np.concatenate([facts, targets, others])
    for one, other in _consistent(everything, *size, reverse=reverse):
        look(by_relation[ends[one - 1] if one else 0 : ends[one]], other)
    return found


def _consistent(
    triples: Ids, num_entities: int, num_relations: int, *, reverse: bool
) -> Iterator[tuple[int, int]]:
    """Ordered pairs of different relations that are consistently inverse, or twins.

    With a row of ones a relation and a column a pair of entities, the product of the matrix and
    its transpose (columns reversed for inverses) counts the pairs that two relations share.
    """
    _, first = np.unique(triple_keys(triples, num_entities, num_relations), return_index=True)
    heads, relations, tails = triples[first].T
    forward = heads * num_entities + tails
    backward = tails * num_entities + heads if reverse else forward
    columns, ours = np.unique(forward, return_inverse=True)
    at = np.minimum(np.searchsorted(columns, backward), len(columns) - 1)
    met = columns[at] == backward  # a reversed pair that no relation has cannot be shared

    shape = (num_relations, len(columns))
    ones = np.ones(len(relations), dtype=np.int64)
    have = csr_array((ones, (relations, ours)), shape)
    want = csr_array((ones[met], (relations[met], at[met])), shape).T.tocsr()
    sizes = np.bincount(relations, minlength=num_relations)
    for start in range(0, num_relations, BLOCK):
        common = (have[start : start + BLOCK] @ want).tocoo()
        one, other = common.coords[0].astype(np.int64) + start, common.coords[1]
        needed = np.maximum(SUPPORT, CONSISTENT * np.maximum(sizes[one], sizes[other]))
        kept = (common.data >= needed) & (one != other)
        yield from zip(one[kept].tolist(), other[kept].tolist(), strict=True)
