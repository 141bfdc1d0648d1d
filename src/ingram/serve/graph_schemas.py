"""What is told of graphs as such, and of the service, as JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel


class GraphInfo(BaseModel):
    """One served graph. ``prefixes``: short forms in which its IRIs may be written."""

    name: str
    model: str
    entities: int
    relations: int
    triples: int
    duplicates: int
    uploaded: bool
    prefixes: dict[str, str]


class Graphs(BaseModel):
    """All served graphs; the first one answers where no graph is named."""

    graphs: list[GraphInfo]


class RelationNode(BaseModel):
    """A relation and its place in the picture."""

    label: str
    triples: int
    x: float
    y: float


class RelationEdge(BaseModel):
    """Rows of two relations, and how near they are, in (0, 1]."""

    source: int
    target: int
    affinity: float


class RelationPicture(BaseModel):
    """The relation graph, each relation joined to its nearest."""

    graph: str
    relations: list[RelationNode]
    edges: list[RelationEdge]


class EntityPoint(BaseModel):
    """An entity's place; ``role`` is the end of a relation at which it stands most often."""

    label: str
    x: float
    y: float
    degree: int
    role: str


class EntityPicture(BaseModel):
    """Entities in the plane, and how their places were found."""

    graph: str
    how: str
    points: list[EntityPoint]


class Statistics(BaseModel):
    """What `ingram data info --json` prints of a graph."""

    graph: str
    statistics: dict[str, Any]


class Health(BaseModel):
    """The service is up."""

    status: Literal["ok"] = "ok"
    version: str
    graphs: int
