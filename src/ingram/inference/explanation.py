"""An explanation as a value: facts in words, each with its weight."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ingram.graph import KnowledgeGraph
from ingram.inference.patterns import Evidence


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

    def __str__(self) -> str:
        return f"-{self.relation}-> " if self.forward else f"<-{self.relation}- "


@dataclass(frozen=True)
class Path:
    """Facts from head to tail.

    weight: the least of its edges' importances; None where the model weighs no paths. evidence:
    None where the path is the predicted fact itself.
    """

    steps: tuple[Step, ...]
    weight: float | None
    evidence: Evidence | None

    def __str__(self) -> str:
        return f"{self.steps[0].source} " + " ".join(f"{step}{step.target}" for step in self.steps)


@dataclass(frozen=True)
class Neighbour:
    """Where an entity's last layer looks: along a fact, or at the entity itself (no step)."""

    entity: str
    step: Step | None
    attention: float


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
            shown["words"] = str(path)
            if path.evidence is not None:
                shown["evidence"]["share"] = path.evidence.share
        return plain


def step(graph: KnowledgeGraph, source: int, kind: int, target: int) -> Step:
    """An edge in words; a kind of m and above is a fact walked backwards."""
    ends = graph.entities.take([source, target])
    m = graph.num_relations
    return Step(ends[0], graph.relations.take([kind % m])[0], ends[1], kind < m)
