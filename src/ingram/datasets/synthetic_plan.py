"""What a synthetic graph consists of: groups of relations, each with one planted rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import cycle

from ingram.errors import ConfigError

ROLES = {
    "composition": ("first", "second", "composed"),
    "inversion": ("forward", "backward"),
    "symmetry": ("mutual",),
    "hierarchy": ("narrow", "narrower", "broad"),
    "plain": ("facts",),
}
"""The relations of each kind of group. The last one holds the conclusions and the noise."""

RULES = {
    "composition": "{2}(x, z) <- {0}(x, y), {1}(y, z)",
    "inversion": "{1}(y, x) <- {0}(x, y)",
    "symmetry": "{0}(y, x) <- {0}(x, y)",
    "hierarchy": "{2}(x, y) <- {0}(x, y); {2}(x, y) <- {1}(x, y)",
    "plain": "{0} follows no rule",
}
KINDS = tuple(kind for kind in ROLES if kind != "plain")
NOISY = ("composition", "inversion", "hierarchy")
"""Kinds whose conclusions have a relation of their own: noise there triggers no rule."""


@dataclass(frozen=True)
class SyntheticConfig:
    """A graph with planted rules.

    triples, entities, relations: of one graph; a dataset has two of them, one to train on and one
    to apply to. By default an entity has 20 triples. rules: kinds of rules, taken in turn until the
    relations are used up. noise: share of the triples that are random. held_out: share of
    conclusions and noise that the inference graph's facts lack, half of it for validation, half
    for test. new_relations: share of the rule groups whose relations have new names in the
    inference graph; the rules are the same.
    """

    triples: int = 10_000
    entities: int | None = None
    relations: int = 12
    rules: tuple[str, ...] = KINDS
    noise: float = 0.1
    held_out: float = 0.4
    new_relations: float = 1.0

    def __post_init__(self) -> None:
        unknown = sorted(set(self.rules) - set(KINDS))
        if unknown or not self.rules:
            got = repr(unknown[0]) if unknown else "none"
            raise ConfigError(f"rules: want some of {', '.join(KINDS)}, got {got}")
        for name, limit in (("noise", 0.9), ("held_out", 0.9), ("new_relations", 1.0)):
            if not 0 <= getattr(self, name) <= limit:
                got = getattr(self, name)
                raise ConfigError(f"{name}: want a share from 0 to {limit}, got {got}")
        if self.noise and not set(self.rules) & set(NOISY):
            raise ConfigError(
                f"noise {self.noise} wants a rule whose conclusions have a relation of their own "
                f"({', '.join(NOISY)}), got {', '.join(self.rules)}; set noise to 0 or add one"
            )
        for name, least in (("triples", 1), ("num_entities", 4)):
            if getattr(self, name) < least:
                shown = name.removeprefix("num_")
                raise ConfigError(f"{shown}: want at least {least}, got {getattr(self, name)}")

    @property
    def num_entities(self) -> int:
        return self.entities if self.entities is not None else max(4, self.triples // 10)


@dataclass(frozen=True)
class Group:
    """One rule and its relations, the first of which has id ``first_relation``.

    structure: premises and conclusions together. noise: random triples. heads: how many of the
    graph's stream of heads it uses, from ``first_head`` on. hubs, targets: of a composition, the
    entities in the middle and at the end.
    """

    kind: str
    number: int
    first_relation: int
    structure: int
    noise: int
    first_head: int
    heads: int
    targets: int = 0
    hubs: int = 0

    def labels(self, *, new: bool = False) -> list[str]:
        """The names of its relations."""
        start = f"new {self.kind}" if new else self.kind
        return [f"{start} {self.number}: {role}" for role in ROLES[self.kind]]

    def rule(self, *, new: bool = False) -> str:
        """Its rule as text."""
        return RULES[self.kind].format(*self.labels(new=new))

    @property
    def conclusion(self) -> int:
        """The relation of its conclusions."""
        return self.first_relation + len(ROLES[self.kind]) - 1


def plan(config: SyntheticConfig) -> tuple[Group, ...]:
    """The groups of a graph: sizes only, nothing random.

    The triples are shared out evenly, in whole pairs of premise and conclusion where a rule needs
    that, so that the graph has as many as asked, or one fewer.
    """
    kinds = _kinds(config)
    noise = round(config.noise * config.triples)
    noisy = sum(kind in NOISY for kind in kinds)
    left, noise_left = config.triples - noise, noise
    groups: list[Group] = []
    for index, kind in enumerate(kinds):
        structure = left // (len(kinds) - index)
        if kind in ("inversion", "symmetry", "hierarchy"):
            structure -= structure % 2
        share = 0
        if kind in NOISY:
            share, noisy = math.ceil(noise_left / noisy), noisy - 1
        groups.append(_group(kind, kinds[:index].count(kind) + 1, groups, structure, share, config))
        left, noise_left = left - structure, noise_left - share
    heads = sum(group.heads for group in groups)
    if heads < config.num_entities:
        raise ConfigError(
            f"{config.triples:,} triples mention at most {heads:,} entities for certain, "
            f"got {config.num_entities:,} entities; want more triples or fewer entities"
        )
    return tuple(groups)


def _kinds(config: SyntheticConfig) -> list[str]:
    """The kind of each group; those that can take an odd number of triples come last."""
    needed = sum(len(ROLES[kind]) for kind in config.rules)
    if config.relations < needed:
        raise ConfigError(
            f"relations: want at least {needed} for {', '.join(config.rules)}, "
            f"got {config.relations}"
        )
    kinds, left = [], config.relations
    for kind in cycle(config.rules):
        if left < min(len(ROLES[k]) for k in config.rules):
            break
        if len(ROLES[kind]) <= left:
            kinds.append(kind)
            left -= len(ROLES[kind])
    kinds += ["plain"] * left
    return sorted(kinds, key=(*KINDS[1:], KINDS[0], "plain").index)


def _group(
    kind: str,
    number: int,
    before: list[Group],
    structure: int,
    noise: int,
    config: SyntheticConfig,
) -> Group:
    entities = config.num_entities
    last = before[-1] if before else None
    targets = hubs = 0
    heads, room = structure // 2, entities * (entities - 1)
    if kind == "symmetry":
        room //= 2
    elif kind == "plain":
        heads = structure
    elif kind == "composition":
        targets = max(math.ceil(2 * structure / entities), min(structure // 40, entities // 4), 1)
        hubs = 2 * targets + structure % 2
        heads, room = (structure - hubs) // 2, targets * (entities - 1)
    if heads < 1:
        raise ConfigError(
            f"{config.triples:,} triples leave none for {kind} {number}; want more triples"
        )
    # Pairs are drawn until they differ; up to these limits that ends soon.
    crowded = 3 * heads > room or 2 * (noise + heads) > entities * (entities - 1)
    if crowded or targets + hubs > entities:
        raise ConfigError(
            f"{structure + noise:,} triples of {kind} {number} do not fit {entities:,} entities; "
            "want more entities, fewer triples or more relations"
        )
    return Group(
        kind,
        number,
        last.conclusion + 1 if last else 0,
        structure,
        noise,
        last.first_head + last.heads if last else 0,
        heads,
        targets,
        hubs,
    )
