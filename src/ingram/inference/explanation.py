"""An explanation as a value: facts in words, each with its weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from ingram.graph import KnowledgeGraph
from ingram.inference.patterns import Evidence

Name = Callable[[str], str]


@dataclass(frozen=True)
class Step:
    """A fact as a path walks it: from its head to its tail, or backwards."""

    source: str
    relation: str
    target: str
    forward: bool

    @property
    def fact(self) -> tuple[str, str, str]:
        ends = (self.source, self.target) if self.forward else (self.target, self.source)
        return ends[0], self.relation, ends[1]

    def words(self, name: Name = str) -> str:
        """Relation and target, ``name`` saying how labels are shown."""
        arrow = f"-{name(self.relation)}->" if self.forward else f"<-{name(self.relation)}-"
        return f"{arrow} {name(self.target)}"


@dataclass(frozen=True)
class Path:
    """Facts from head to tail.

    weight: how far the score falls without them, for each; None where the model weighs no paths.
    evidence: None where the path is the predicted fact itself.
    """

    steps: tuple[Step, ...]
    weight: float | None
    evidence: Evidence | None

    def words(self, name: Name = str) -> str:
        """Such as ``Kenya -borders-> Ethiopia <-borders- Somalia``."""
        return " ".join([name(self.steps[0].source), *(step.words(name) for step in self.steps)])


@dataclass(frozen=True)
class Neighbour:
    """Where an entity's last layer looks: along a fact, or at the entity itself (no step)."""

    entity: str
    step: Step | None
    attention: float

    def words(self, name: Name = str) -> str:
        rest = "itself" if self.step is None else self.step.words(name)
        return f"{name(self.entity)} {rest}"


@dataclass(frozen=True)
class NearRelation:
    """A neighbour in the relation graph. ``inverse``: the relation read backwards."""

    relation: str
    inverse: bool
    affinity: float
    attention: float | None


@dataclass(frozen=True)
class Explanation:
    """``rank``: among the answers that are no facts. ``known``: the triple is a fact itself."""

    model: str
    head: str
    relation: str
    tail: str
    score: float
    rank: int
    known: bool
    paths: tuple[Path, ...]
    neighbours: tuple[Neighbour, ...] = ()
    relations: tuple[NearRelation, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; paths also in words, evidence also as a share."""
        plain = asdict(self)
        for path, shown in zip(self.paths, plain["paths"], strict=True):
            shown["words"] = path.words()
            if path.evidence is not None:
                shown["evidence"]["share"] = path.evidence.share
        return plain


def tables(explanation: Explanation, name: Name = str) -> dict[str, pl.DataFrame]:
    """What there is to show, by title; empty parts are left out."""
    relation = name(explanation.relation)
    paths = pl.DataFrame(
        [
            {
                "path": path.words(name),
                "weight": path.weight,
                "score without it": path.weight
                and explanation.score - path.weight * len(path.steps),
                f"elsewhere, with {relation}": _elsewhere(path.evidence),
            }
            for path in explanation.paths
        ]
    )
    if explanation.paths and explanation.paths[0].weight is None:
        paths = paths.drop("weight", "score without it")
    neighbours = pl.DataFrame(
        [{"fact": n.words(name), "attention": n.attention} for n in explanation.neighbours]
    )
    relations = pl.DataFrame(
        [
            {
                "relation": name(near.relation) + (", read backwards" if near.inverse else ""),
                "affinity": near.affinity,
                "attention": near.attention,
            }
            for near in explanation.relations
        ]
    )
    titles = {
        "paths": paths,
        "where the last entity layer looks": neighbours,
        f"relations near {relation}": relations,
    }
    return {title: table for title, table in titles.items() if len(table)}


def _elsewhere(evidence: Evidence | None) -> str:
    """Counts of a pattern in words."""
    if evidence is None:
        return "the fact itself"
    if not evidence.joined:
        return "nowhere else"
    about = "about " if evidence.sampled else ""
    counts = f"{evidence.holding:,} of {about}{evidence.joined:,} pairs"
    return f"{counts} ({evidence.share:.0%})"


def step(graph: KnowledgeGraph, source: int, kind: int, target: int) -> Step:
    """An edge in words; a kind of m and above is a fact walked backwards."""
    ends = graph.entities.take([source, target])
    m = graph.num_relations
    return Step(ends[0], graph.relations.take([kind % m])[0], ends[1], kind < m)
