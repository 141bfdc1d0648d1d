"""Questions: parse, call, answer."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request

from ingram.answers.asking import ASKED, vocabularies
from ingram.labels import Vocabulary
from ingram.serve.asking import Asked, Way
from ingram.serve.graphs import ServedGraph, Shelf
from ingram.serve.refusals import Refusal
from ingram.serve.schemas import (
    REFUSALS,
    Entities,
    Explained,
    GraphName,
    Predictions,
    PredictRequest,
    Question,
    Relations,
    ScoreRequest,
    Scores,
    Similars,
    Triple,
)

router = APIRouter(responses=REFUSALS)


def shelf_of(request: Request) -> Shelf:
    """The graphs of the service that was asked."""
    shelf: Shelf = request.app.state.shelf
    return shelf


Held = Annotated[Shelf, Depends(shelf_of)]
Word = Annotated[str, Query(min_length=1, description="A label of the graph.")]
K = Annotated[int, Query(ge=1, description="How many, at most.")]


def at_most(what: str, found: int, most: int, limit: str | None = None) -> None:
    """Refuse what is beyond a limit, by the limit's name."""
    if found > most:
        shown = f"{found:,}" if found < 10**18 else "far more"
        raise Refusal(
            422, f"{what}: want at most {most:,}, the limit `{limit or what}`, got {shown}"
        )


async def id_of(shelf: Shelf, served: ServedGraph, vocabulary: Vocabulary, label: str) -> int:
    """A label's id. One that is unknown is looked for among its likes, on a thread."""
    whole = served.whole(label, vocabulary)
    if whole in vocabulary:
        return vocabulary.id(whole)
    return await shelf.view(partial(vocabulary.id, whole))


async def ids_of(
    shelf: Shelf, served: ServedGraph, triple: Question | Triple
) -> tuple[int, int, int]:
    """The ids of three labels, ASKED for the one that is missing."""
    head, relation, tail = [
        ASKED if label is None else await id_of(shelf, served, vocabulary, label)
        for label, vocabulary in zip(
            (triple.head, triple.relation, triple.tail), vocabularies(served.graph), strict=True
        )
    ]
    return head, relation, tail


@router.post("/predict", summary="Rank answers to questions", tags=["ask"])
async def predict(request: PredictRequest, shelf: Held) -> Predictions:
    """Rank the answers to (head, relation, ?), (?, relation, tail) or (head, ?, tail), as triples.

    Questions that arrive while others are being answered, from whomever, are answered together.
    """
    limits = shelf.limits
    at_most("k", request.k, limits.k)
    at_most("questions", len(request.questions), limits.batch, "batch")
    at_most("k times questions", request.k * len(request.questions), limits.answers, "answers")
    served = shelf.get(request.graph)
    way = Way(request.k, request.known, request.typed)
    asked = [Asked(await ids_of(shelf, served, question), way) for question in request.questions]
    answers = await served.predict.ask(asked)
    return Predictions.model_validate({"graph": served.name, "answers": answers})


@router.post("/score", summary="Score triples", tags=["ask"])
async def score(request: ScoreRequest, shelf: Held) -> Scores:
    """Score triples, facts or not. Scores of one graph can be compared; higher is likelier."""
    at_most("triples", len(request.triples), shelf.limits.batch, "batch")
    served = shelf.get(request.graph)
    ids = [await ids_of(shelf, served, triple) for triple in request.triples]
    (scores,) = await served.score.ask([np.array(ids, np.int64)])
    return Scores(graph=served.name, scores=scores)


@router.get("/explain", summary="Why a triple is predicted", tags=["ask"])
async def explain(
    shelf: Held, head: Word, relation: Word, tail: Word, graph: GraphName = None, k: K = 5
) -> Explained:
    """Paths that carry a prediction, or where the model looks: facts of the graph, weighed."""
    at_most("k", k, shelf.limits.reasons, "reasons")
    served = shelf.get(graph)
    parts = list(zip((head, relation, tail), vocabularies(served.graph), strict=True))
    for label, vocabulary in parts:
        await id_of(shelf, served, vocabulary, label)
    whole = [served.whole(label, vocabulary) for label, vocabulary in parts]
    found = await shelf.explain(served, (whole[0], whole[1], whole[2]), k)
    return Explained.model_validate({"graph": served.name, **found.as_dict()})


@router.get("/similar", summary="What is similar", tags=["ask"])
async def similar(
    shelf: Held,
    entity: Annotated[str | None, Query(description="Entities like this one.")] = None,
    relation: Annotated[str | None, Query(description="Relations like this one.")] = None,
    graph: GraphName = None,
    k: K = 10,
) -> Similars:
    """The entities or relations whose vectors are nearest; only for a model that has vectors."""
    at_most("k", k, shelf.limits.k)
    if (entity is None) == (relation is None):
        raise Refusal(422, "give an entity or a relation, and one of them only")
    served = shelf.get(graph)
    what: Literal["entity", "relation"] = "relation" if entity is None else "entity"
    label = entity or relation or ""
    vocabulary = served.graph.entities if what == "entity" else served.graph.relations
    await id_of(shelf, served, vocabulary, label)
    whole = served.whole(label, vocabulary)
    found = await shelf.view(lambda: served.near(what).near(whole, k))
    return Similars(graph=served.name, similar=found.to_dicts())


@router.get("/entities", summary="Find entities by how they begin", tags=["look"])
async def entities(
    shelf: Held,
    graph: GraphName = None,
    prefix: Annotated[str, Query(description="What was typed so far.")] = "",
    k: K = 10,
) -> Entities:
    """Entities that begin with the prefix, then those that hold it; the most frequent first."""
    at_most("k", k, shelf.limits.k)
    served = shelf.get(graph)
    found = await shelf.view(lambda: served.lookup.find(prefix, k))
    return Entities(
        graph=served.name,
        entities=[{"label": label, "triples": count} for label, count in found],
    )


@router.get("/relations", summary="List the relations", tags=["look"])
async def relations(shelf: Held, graph: GraphName = None) -> Relations:
    """All relations of a graph with what is counted of them, the most frequent first."""
    served = shelf.get(graph)
    table = await shelf.view(lambda: served.statistics.relations)
    return Relations(graph=served.name, relations=table.to_dicts())
