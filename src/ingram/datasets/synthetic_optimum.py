"""What a synthetic dataset holds out, and how well the best predictor can do on it.

**What is held out.** Of each group's conclusions and noise, a uniform sample, half for validation,
half for test. Premises are always among the facts. Of a symmetric pair, the direction drawn first
is the premise, the other one the conclusion.

**Why the best MRR is known.** Who knows the rules deduces every conclusion from the facts. For a
query whose answer is a conclusion, rank what was deduced first: all of it is true, so the filter
removes all but the answer, which comes first. Its reciprocal rank is 1, the largest there is. For a
query whose answer is noise, everything deduced is filtered too. Given all else, the answer is
equally likely to be any of the C candidates left other than the query's own entity (which comes
last, as there are no loops): noise is a uniform set of the pairs that do not follow, and which of
it is held out does not depend on the pairs. In whatever order, the rank is then uniform on 1..C,
and the expected reciprocal rank is H_C / C with H_C = 1 + 1/2 + … + 1/C. One ranking does both, so
the mean of these is the highest expected MRR of any predictor. On one dataset, the MRR of such a
predictor varies about it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from ingram.datasets.synthetic_draw import GroupTriples
from ingram.graph import Ids

SPLITS = ("valid", "test")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A group's facts, and for ``valid`` and ``test`` the conclusions and the noise held out."""

    facts: Ids
    conclusions: dict[str, Ids]
    noise: dict[str, Ids]

    def triples(self, split: str) -> Ids:
        """What is to be predicted."""
        return np.concatenate([self.conclusions[split], self.noise[split]])


@dataclass(frozen=True)
class Optimum:
    """The best expected MRR over head and tail queries, and how many of the triples are noise."""

    mrr: float
    triples: int
    noise: int


def hold_out(group: GroupTriples, share: float, rng: np.random.Generator) -> HeldOut:
    """Take a share of conclusions and noise away from the facts; half validation, half test."""
    concluded = len(group.conclusions)
    candidates = np.concatenate([group.conclusions, group.noise])
    order = rng.permutation(len(candidates))
    held = int(share * len(candidates))
    chosen = dict(zip(SPLITS, (order[: held // 2], order[held // 2 : held]), strict=True))
    return HeldOut(
        np.concatenate([group.premises, candidates[np.sort(order[held:])]]),
        {split: candidates[ids[ids < concluded]] for split, ids in chosen.items()},
        {split: candidates[ids[ids >= concluded]] for split, ids in chosen.items()},
    )


def noise_reciprocals(group: GroupTriples, noise: Ids, entities: int) -> npt.NDArray[np.float64]:
    """(2Z,) expected reciprocal ranks H_C / C of noise triples, as tail and as head queries.

    C counts the answer, but neither other true answers nor the query's own entity.
    """
    stated = np.concatenate([group.conclusions, group.noise])
    sides = []
    for given in (0, 2):
        true_answers = np.bincount(stated[:, given], minlength=entities)[noise[:, given]]
        left = entities - 1 - (true_answers - 1)
        sides.append((digamma(left + 1.0) + np.euler_gamma) / left)
    return np.concatenate(sides)


class Tally:
    """Adds up the best expected reciprocal ranks of groups."""

    def __init__(self) -> None:
        self._sum = dict.fromkeys(SPLITS, 0.0)
        self._triples = dict.fromkeys(SPLITS, 0)
        self._noise = dict.fromkeys(SPLITS, 0)

    def add(self, group: GroupTriples, held: HeldOut, entities: int) -> None:
        for split in SPLITS:
            noise = held.noise[split]
            self._sum[split] += 2 * len(held.conclusions[split])
            self._sum[split] += float(noise_reciprocals(group, noise, entities).sum())
            self._triples[split] += len(held.conclusions[split]) + len(noise)
            self._noise[split] += len(noise)

    def optimum(self) -> dict[str, Optimum]:
        """By split; an empty split has an MRR of 0."""
        return {
            split: Optimum(
                self._sum[split] / max(2 * self._triples[split], 1),
                self._triples[split],
                self._noise[split],
            )
            for split in SPLITS
        }
