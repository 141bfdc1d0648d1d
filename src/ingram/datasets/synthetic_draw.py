"""Drawing the triples of one group of a synthetic graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingram.datasets.synthetic_plan import ROLES, Group
from ingram.errors import ConfigError
from ingram.graph import Ids

ROUNDS = 1_000
"""Redraws after which pairs that still coincide are given up on."""


@dataclass(frozen=True, eq=False)
class GroupTriples:
    """(T, 3) triples of one group, by what they are."""

    premises: Ids
    conclusions: Ids
    noise: Ids

    @property
    def all(self) -> Ids:
        return np.concatenate([self.premises, self.conclusions, self.noise])


def draw_group(group: Group, cover: Ids, rng: np.random.Generator) -> GroupTriples:
    """Premises, everything that follows from them, and noise. ``cover``: all entities, shuffled.

    Heads of premises first go through the cover, each group where the last one stopped, so that
    every entity is mentioned; after that they are uniform.
    """
    covering = cover[group.first_head : group.first_head + group.heads]
    draw = _composition if group.kind == "composition" else _pairs
    premises, conclusions = draw(group, covering, len(cover), rng)
    taken = conclusions[:, 0] * len(cover) + conclusions[:, 2]
    pairs = uniform_pairs(group.noise, len(cover), taken, rng)
    noise = _triples(pairs // len(cover), group.conclusion, pairs % len(cover))
    return GroupTriples(premises, conclusions, noise)


def _composition(
    group: Group, covering: Ids, count: int, rng: np.random.Generator
) -> tuple[Ids, Ids]:
    """Heads lead to hubs, hubs to targets, so heads to targets.

    A conclusion is drawn first, then a hub that leads to its target: every conclusion is new.
    """
    ends = rng.permutation(count)[: group.targets + group.hubs]
    targets, hubs = ends[: group.targets], ends[group.targets :]
    heads, goals = distinct_pairs(group.heads, covering, count, targets, rng)
    # Hub h leads to target h % targets, so each target has two hubs: one is not the head itself.
    middle = goals + group.targets * rng.integers(2, size=len(goals))
    clash = hubs[middle] == heads
    middle[clash] = (middle[clash] + group.targets) % (2 * group.targets)
    to_hubs = _triples(heads, group.first_relation, hubs[middle])
    onward = targets[np.arange(group.hubs) % group.targets]
    to_targets = _triples(hubs, group.first_relation + 1, onward)
    conclusions = _triples(heads, group.conclusion, targets[goals])
    return np.concatenate([to_hubs, to_targets]), conclusions


def _pairs(group: Group, covering: Ids, count: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Rules with one premise, and plain facts."""
    everyone, unordered = np.arange(count), group.kind == "symmetry"
    heads, tails = distinct_pairs(group.heads, covering, count, everyone, rng, unordered=unordered)
    narrow = len(ROLES["hierarchy"]) - 1 if group.kind == "hierarchy" else 1
    relations = group.first_relation + rng.integers(narrow, size=len(heads))
    premises = _triples(heads, relations, tails)
    if group.kind == "plain":
        return premises, premises[:0]
    if group.kind == "hierarchy":
        return premises, _triples(heads, group.conclusion, tails)
    return premises, _triples(tails, group.conclusion, heads)


def _triples(heads: Ids, relation: int | Ids, tails: Ids) -> Ids:
    return np.stack([heads, np.broadcast_to(relation, heads.shape), tails], axis=1)


def distinct_pairs(
    count: int,
    covering: Ids,
    entities: int,
    choices: Ids,
    rng: np.random.Generator,
    *,
    unordered: bool = False,
) -> tuple[Ids, Ids]:
    """Heads, and for each the place in ``choices`` of its tail: no pair twice, none a loop.

    The first heads are the ``covering`` ones. ``unordered``: the reverse of a pair is the same.
    """
    heads = np.concatenate([covering, rng.integers(entities, size=count - len(covering))])
    drawn = rng.integers(len(choices), size=count)
    for _ in range(ROUNDS):
        tails = choices[drawn]
        keys = heads * entities + tails
        if unordered:
            keys = np.minimum(heads, tails) * entities + np.maximum(heads, tails)
        again = np.flatnonzero(~_first_of_each(keys) | (heads == tails))
        if not len(again):
            return heads, drawn
        drawn[again] = rng.integers(len(choices), size=len(again))
        free = again[again >= len(covering)]
        heads[free] = rng.integers(entities, size=len(free))
    raise ConfigError(
        f"{count:,} different pairs were not found among {entities:,} entities; "
        "want more entities, fewer triples or more relations"
    )


def uniform_pairs(count: int, entities: int, taken: Ids, rng: np.random.Generator) -> Ids:
    """``count`` pairs, as head * entities + tail: a uniform set of those not taken, no loops."""
    kept = np.empty(0, np.int64)
    while len(kept) < count:
        wanted = count - len(kept)
        codes = rng.integers(entities * (entities - 1), size=wanted + wanted // 8 + 8)
        heads, tails = np.divmod(codes, entities - 1)
        tails += tails >= heads
        keys = heads * entities + tails
        keys = np.concatenate([kept, keys[~np.isin(keys, taken)]])
        kept = keys[_first_of_each(keys)][:count]
    return kept


def _first_of_each(keys: Ids) -> npt.NDArray[np.bool_]:
    """True where a key occurs for the first time."""
    mask = np.zeros(len(keys), dtype=bool)
    mask[np.unique(keys, return_index=True)[1]] = True
    return mask
