"""What goes in and out as JSON. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

Label = Annotated[str, Field(min_length=1)]
GraphName = Annotated[
    str | None,
    Query(description="Which graph; without it, the first one served.", examples=["world"]),
]


class _Request(BaseModel):
    """A field that is not known is an error, not passed over."""

    model_config = ConfigDict(extra="forbid")


class Question(_Request):
    """(head, relation, ?), (?, relation, tail) or (head, ?, tail): give two of the three."""

    head: Label | None = None
    relation: Label | None = None
    tail: Label | None = None

    @model_validator(mode="after")
    def _one_is_asked_for(self) -> Self:
        if [self.head, self.relation, self.tail].count(None) != 1:
            raise ValueError("give two of head, relation and tail; the third is asked for")
        return self


class PredictRequest(_Request):
    """Questions about one graph."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"questions": [{"head": "Kenya", "relation": "borders"}], "k": 5}]
        }
    )

    graph: str | None = Field(None, description="which graph; without it, the first one served")
    questions: list[Question] = Field(min_length=1)
    k: int = Field(10, ge=1, description="answers to each question")
    known: Literal["mark", "hide"] = Field(
        "mark", description="mark answers that are facts already, or leave them out"
    )
    typed: bool = Field(
        False, description="answer only with entities seen in that place of the relation"
    )

    @model_validator(mode="after")
    def _typed_answers_are_entities(self) -> Self:
        if self.typed and any(question.relation is None for question in self.questions):
            raise ValueError("typed answers are entities, but a question asks for a relation")
        return self


class Answer(BaseModel):
    """One ranked answer, as a triple. ``probability``: if the run is calibrated."""

    head: str
    relation: str
    tail: str
    score: float
    rank: int
    known: bool = False
    probability: float | None = None


class Predictions(BaseModel):
    """Ranked answers to each question, in the order of the questions."""

    graph: str
    answers: list[list[Answer]]


class Triple(_Request):
    """Three labels."""

    head: Label
    relation: Label
    tail: Label


class ScoreRequest(_Request):
    """Triples of one graph, facts or not."""

    graph: str | None = Field(None, description="which graph; without it, the first one served")
    triples: list[Triple] = Field(min_length=1)


class Scores(BaseModel):
    """Scores in the order of the triples; higher is likelier."""

    graph: str
    scores: list[float]


class Entity(BaseModel):
    """A label and how many triples name it."""

    label: str
    triples: int


class Entities(BaseModel):
    """The entities that a typed word may mean, best first."""

    graph: str
    entities: list[Entity]


class Relation(BaseModel):
    """A relation in figures; ``symmetric`` is the share of its triples stated both ways."""

    relation: str
    triples: int
    heads: int
    tails: int
    tails_per_head: float
    heads_per_tail: float
    symmetric: float
    kind: str


class Relations(BaseModel):
    """The relations of a graph, the most frequent first."""

    graph: str
    relations: list[Relation]


class Step(BaseModel):
    """A fact as a path walks it: from its head to its tail, or backwards."""

    source: str
    relation: str
    target: str
    forward: bool


class Evidence(BaseModel):
    """Pairs elsewhere that such a path joins, and how many of them hold the relation."""

    joined: int
    holding: int
    sampled: bool
    share: float


class Path(BaseModel):
    """Facts from head to tail; ``weight`` is none where the model weighs no paths."""

    steps: list[Step]
    weight: float | None
    evidence: Evidence | None
    words: str


class Neighbour(BaseModel):
    """Where an entity's last layer looks; no step: at the entity itself."""

    entity: str
    step: Step | None
    attention: float


class NearRelation(BaseModel):
    """A neighbour in the relation graph, perhaps read backwards."""

    relation: str
    inverse: bool
    affinity: float
    attention: float | None


class Explained(BaseModel):
    """Why a triple is predicted, by facts of the graph. ``rank``: among those that are no facts."""

    graph: str
    model: str
    head: str
    relation: str
    tail: str
    score: float
    rank: int
    known: bool
    paths: list[Path]
    neighbours: list[Neighbour]
    relations: list[NearRelation]


class Similar(BaseModel):
    """One of the nearest, by the cosine of the vectors."""

    label: str
    near: str
    cosine: float
    rank: int


class Similars(BaseModel):
    """What is similar to a label, nearest first."""

    graph: str
    similar: list[Similar]


class Refused(BaseModel):
    """Why a request was not answered, in one line."""

    error: str


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refused, "description": why}
    for status, why in {
        400: "The body cannot be read",
        401: "The token is missing or wrong",
        403: "Not allowed",
        404: "No such graph, entity or relation",
        408: "Too slow",
        413: "Too many bytes",
        422: "Malformed, or beyond a limit",
        429: "Too many questions wait",
    }.items()
}
