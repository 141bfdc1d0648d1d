"""The best possible MRR against every ranking of every small world."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from ingram.datasets.synthetic_draw import GroupTriples
from ingram.datasets.synthetic_optimum import Tally, hold_out, noise_reciprocals


def harmonic(count: int) -> float:
    return sum(1 / k for k in range(1, count + 1))


def test_noise_has_the_mean_of_reciprocal_ranks_over_the_candidates_left():
    conclusions = np.array([[0, 0, 1], [0, 0, 2], [3, 0, 1]])
    noise = np.array([[0, 0, 3], [4, 0, 3]])
    group = GroupTriples(conclusions[:0], conclusions, noise)
    # Of 6 entities, (0, r, ?) has other true answers 1 and 2, and 0 itself is none: 3, 4, 5 stay.
    # (?, r, 3) has another true answer, 4 or 0, and 3 itself is none: 4 stay.
    want = [harmonic(3) / 3, harmonic(5) / 5, harmonic(4) / 4, harmonic(4) / 4]
    assert noise_reciprocals(group, noise, 6) == pytest.approx(want)


def exhaustive(premises, conclusions, entities: int, noisy: int, share: float):
    """Over all worlds: the mean best MRR as stated, and as found by trying every ranking.

    A predictor sees the facts only. For each set of facts, each query (anchor, side) is given that
    order of all entities which has the highest total reciprocal rank over all worlds with those
    facts. Test is what is held out.
    """
    pairs = [(h, t) for h in range(entities) for t in range(entities) if h != t]
    free = [p for p in pairs if p not in {(h, t) for h, _, t in conclusions}]
    worlds: dict[tuple, list] = {}
    stated, count = 0.0, 0
    for noise in combinations(free, noisy):
        noise = [(h, 1, t) for h, t in noise]
        group = GroupTriples(
            premises, np.array(conclusions), np.array(noise, np.int64).reshape(-1, 3)
        )
        candidates = conclusions + noise
        held_size = int(share * len(candidates))
        for held in combinations(range(len(candidates)), held_size):
            test = [candidates[i] for i in held]
            facts = tuple(sorted(t for t in candidates if t not in test))
            worlds.setdefault(facts, []).append((test, candidates))
            noise_held = np.array([t for t in test if t in noise], np.int64).reshape(-1, 3)
            stated += 2 * (held_size - len(noise_held))
            stated += noise_reciprocals(group, noise_held, entities).sum()
            count += 2 * held_size
    best = 0.0
    orders = list(permutations(range(entities)))
    for cases in worlds.values():
        queries: dict[tuple[int, int], list] = {}
        for test, truth in cases:
            for triple in test:
                for side, asked in ((0, 2), (2, 0)):
                    true = {t[asked] for t in truth if t[side] == triple[side]}
                    key = (side, triple[side])
                    queries.setdefault(key, []).append((triple[asked], true - {triple[asked]}))
        for asked in queries.values():
            best += max(
                sum(
                    1 / (1 + sum(e not in filtered for e in order[: order.index(answer)]))
                    for answer, filtered in asked
                )
                for order in orders
            )
    return stated / count, best / count


@pytest.mark.parametrize(("noisy", "share"), [(1, 0.5), (2, 0.4), (2, 0.7), (3, 0.3)])
def test_no_ranking_beats_the_stated_mrr_and_one_reaches_it(noisy, share):
    premises = np.array([[1, 0, 0], [2, 0, 0], [0, 0, 3]])
    conclusions = [(0, 1, 1), (0, 1, 2), (3, 1, 0)]  # an inversion
    stated, best = exhaustive(premises, conclusions, 4, noisy, share)
    assert stated == pytest.approx(best, abs=1e-12)


def test_an_empty_split_has_no_mrr():
    tally, none = Tally(), np.empty((0, 3), np.int64)
    group = GroupTriples(none, none, none)
    tally.add(group, hold_out(group, 0.4, np.random.default_rng(0)), 5)
    assert tally.optimum()["test"].triples == 0
