"""E^T D^-2 E: how much relations meet at entities, by loops that follow the triples alone.

E[v, r] counts the triples in which entity v stands on one side of relation r; D is its row sum.
"""

from __future__ import annotations

import itertools

import numba
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ingram.graph import Ids, Weights

Sparse = tuple[Ids, Ids, npt.NDArray[np.float64]]
"""A matrix's row pointers, columns and values."""
compiled = numba.njit(nogil=True, error_model="numpy", cache=True)

EARLY, FEW = 2, 2**17
"""So many calls about so few triples are done before the loop would have been compiled: the first
answer comes seconds sooner."""
_calls = itertools.count()


def meetings(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    """E^T D^-2 E of one side, its columns in any order."""
    early = next(_calls) < EARLY and len(entities) < FEW
    found: Sparse = (_plain_meetings if early else _compiled_meetings)(
        entities, relations, times, num_entities, num_relations
    )
    return found


def _plain_meetings(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    """The same bits by scipy: every sum has its terms in the same order."""
    keys, places = np.unique(entities * num_relations + relations, return_inverse=True)
    members, kinds = np.divmod(keys, max(num_relations, 1))
    shares = np.bincount(places, times) / np.bincount(entities, times)[members]
    pointers = np.searchsorted(members, np.arange(num_entities + 1))
    table = csr_array((shares, kinds, pointers), (num_entities, num_relations))
    product = table.T.tocsr() @ table
    return product.indptr.astype(np.int64), product.indices.astype(np.int64), product.data


@compiled
def _compiled_meetings(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    pointers, kinds, shares = _shares(entities, relations, times, num_entities, num_relations)
    firsts, members, of_members = _transposed(pointers, kinds, shares, num_relations)
    rows = np.zeros(num_relations + 1, np.int64)
    cols, values = np.empty(num_relations, np.int64), np.empty(num_relations)
    sums, last = np.empty(num_relations), np.full(num_relations, -1)
    size = 0
    for r in range(num_relations):
        if len(cols) - size < num_relations:
            cols = np.concatenate((cols, np.empty(len(cols) + num_relations, np.int64)))
            values = np.concatenate((values, np.empty(len(values) + num_relations)))
        for i in range(firsts[r], firsts[r + 1]):
            v, share = members[i], of_members[i]
            for e in range(pointers[v], pointers[v + 1]):
                k = kinds[e]
                if last[k] != r:
                    last[k], sums[k], cols[size] = r, 0.0, k
                    size += 1
                sums[k] += share * shares[e]
        for i in range(rows[r], size):
            values[i] = sums[cols[i]]
        rows[r + 1] = size
    return rows, cols[:size], values[:size]


@compiled
def _shares(
    entities: Ids, relations: Ids, times: Weights, num_entities: int, num_relations: int
) -> Sparse:
    """D^-1 E: for each entity its relations, once each, and their part of its triples."""
    starts, places = _sorted(entities, num_entities)
    kinds, shares = np.empty(len(entities), np.int64), np.empty(len(entities))
    for i in range(len(entities)):
        kinds[places[i]], shares[places[i]] = relations[i], times[i]
    pointers = np.zeros(num_entities + 1, np.int64)
    place = np.full(num_relations, -1)
    size = 0
    for v in range(num_entities):
        first, total = size, 0.0
        for e in range(starts[v], starts[v + 1]):
            k, amount = kinds[e], shares[e]
            total += amount
            if place[k] >= first:
                shares[place[k]] += amount
            else:
                place[k], kinds[size], shares[size] = size, k, amount
                size += 1
        for e in range(first, size):  # a slice would take seconds to compile
            shares[e] /= total
        pointers[v + 1] = size
    return pointers, kinds[:size], shares[:size]


@compiled
def _transposed(pointers: Ids, kinds: Ids, shares: Weights, num_relations: int) -> Sparse:
    firsts, places = _sorted(kinds, num_relations)
    members, of_members = np.empty(len(kinds), np.int64), np.empty(len(kinds))
    for v in range(len(pointers) - 1):
        for e in range(pointers[v], pointers[v + 1]):
            members[places[e]], of_members[places[e]] = v, shares[e]
    return firsts, members, of_members


@compiled
def _sorted(keys: Ids, count: int) -> tuple[Ids, Ids]:
    """Where each of ``count`` keys begins when they are sorted, and the place of each, stably."""
    firsts = np.zeros(count + 1, np.int64)
    for k in keys:
        firsts[k + 1] += 1
    for k in range(count):
        firsts[k + 1] += firsts[k]
    free = firsts[:-1].copy()
    places = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        places[i] = free[keys[i]]
        free[keys[i]] += 1
    return firsts, places


@compiled
def total(one: Sparse, other: Sparse, turn: int) -> Sparse:
    """The sum of two sparse matrices, columns sorted; r of ``other`` stands for r + turn."""
    rows, cols, values = one
    other_rows, other_cols, other_values = other
    count = len(rows) - 1
    pointers = np.zeros(count + 1, np.int64)
    most = len(cols) + len(other_cols)
    found, totals = np.empty(most, np.int64), np.empty(most)
    sums, last = np.empty(count), np.full(count, -1)
    size = 0
    for r in range(count):
        for i in range(rows[r], rows[r + 1]):
            k = cols[i]
            last[k], sums[k], found[size] = r, values[i], k
            size += 1
        source = (r + turn) % count
        for i in range(other_rows[source], other_rows[source + 1]):
            k = (other_cols[i] + turn) % count
            if last[k] == r:
                sums[k] += other_values[i]
            else:
                last[k], sums[k], found[size] = r, other_values[i], k
                size += 1
        found[pointers[r] : size].sort()
        for i in range(pointers[r], size):
            totals[i] = sums[found[i]]
        pointers[r + 1] = size
    return pointers, found[:size], totals[:size]
