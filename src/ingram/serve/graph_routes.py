"""Graphs as such: list, upload, delete, look at."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ingram.io.formats import FORMATS
from ingram.io.options import ReadOptions, column_of
from ingram.serve.graph_schemas import (
    EntityPicture,
    GraphInfo,
    Graphs,
    Health,
    RelationPicture,
    Statistics,
)
from ingram.serve.graphs import NAME, ServedGraph
from ingram.serve.routes import Held
from ingram.serve.schemas import REFUSALS, GraphName, Refused
from ingram.serve.uploads import upload

router = APIRouter(responses=REFUSALS)

Name = Annotated[str, Path(pattern=NAME, description="What the graph is called.")]
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file as it is, also compressed: .gz, .zst or .bz2.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
TAKEN: dict[int | str, dict[str, Any]] = {
    409: {"model": Refused, "description": "The name is taken, or no more graphs are held"},
    415: {"model": Refused, "description": "The service cannot read this format"},
}


def info(served: ServedGraph) -> GraphInfo:
    """What is said of a graph."""
    graph = served.graph
    return GraphInfo(
        name=served.name,
        model=served.model,
        entities=graph.num_entities,
        relations=graph.num_relations,
        triples=graph.num_triples,
        duplicates=graph.duplicates,
        uploaded=served.uploaded,
        prefixes=dict(served.prefixes),
    )


@router.get("/graphs", summary="List the graphs", tags=["graphs"])
async def graphs(shelf: Held) -> Graphs:
    """All served graphs; the first one answers where no graph is named."""
    return Graphs(graphs=[info(served) for served in shelf])


@router.get("/graphs/{name}", summary="One graph", tags=["graphs"])
async def graph(name: Name, shelf: Held) -> GraphInfo:
    """What is served under a name."""
    return info(shelf.get(name))


@router.put(
    "/graphs/{name}",
    summary="Upload a graph",
    tags=["graphs"],
    status_code=201,
    responses=TAKEN,
    openapi_extra=BODY,
)
async def upload_graph(
    name: Name,
    request: Request,
    shelf: Held,
    format: Annotated[  # noqa: A002
        str, Query(description=f"One of {', '.join(FORMATS)}.", examples=["tsv"])
    ] = "tsv",
    columns: Annotated[
        str | None,
        Query(description="Of a table: HEAD,RELATION,TAIL by name, or by position from 0."),
    ] = None,
    header: Annotated[
        bool | None, Query(description="Of TSV or CSV: whether the first line names the columns.")
    ] = None,
    weight: Annotated[
        str | None, Query(description="Of a table: the column of how often a triple counts.")
    ] = None,
    literals: Annotated[
        bool, Query(description="Of RDF: keep triples whose object is a literal.")
    ] = False,
) -> GraphInfo:
    """Send a file of triples; the model is applied to it, and it can be asked about at once."""
    options = ReadOptions(
        format=format,
        columns=None if columns is None else [column_of(word) for word in columns.split(",")],
        header=header,
        weight=None if weight is None else column_of(weight),
        literals=literals,
        limit=shelf.limits.unpacked,
    )
    return info(await upload(shelf, name, request.stream(), options))


@router.delete(
    "/graphs/{name}", summary="Delete an uploaded graph", tags=["graphs"], status_code=204
)
async def delete_graph(name: Name, shelf: Held) -> Response:
    """Forget a graph. Those that were given at the start stay."""
    shelf.remove(name)
    return Response(status_code=204)


@router.get("/statistics", summary="A graph in figures", tags=["look"])
async def statistics(shelf: Held, graph: GraphName = None) -> Statistics:
    """What `ingram data info --json` prints of a graph."""
    served = shelf.get(graph)
    figures = await shelf.view(lambda: served.statistics)
    return Statistics(graph=served.name, statistics=figures.as_dict())


@router.get("/relations/map", summary="The relation graph as a picture", tags=["look"])
async def relation_picture(shelf: Held, graph: GraphName = None) -> RelationPicture:
    """Where to draw the most frequent relations, and which of them are near each other."""
    served = shelf.get(graph)
    drawn = await shelf.view(lambda: served.relation_map)
    return RelationPicture(
        graph=served.name, relations=drawn.relations.to_dicts(), edges=drawn.edges.to_dicts()
    )


@router.get("/entities/map", summary="The entities in the plane", tags=["look"])
async def entity_picture(shelf: Held, graph: GraphName = None) -> EntityPicture:
    """Where to draw the most frequent entities."""
    served = shelf.get(graph)
    drawn = await shelf.view(lambda: served.entity_map)
    return EntityPicture(graph=served.name, how=drawn.how, points=drawn.points.to_dicts())


@router.get("/health", summary="Whether the service is up", tags=["service"])
async def health(shelf: Held) -> Health:
    """Answers as soon as the graphs given at the start can be asked about."""
    return Health(version=version("ingram"), graphs=len(list(shelf)))


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    tags=["service"],
    response_class=PlainTextResponse,
)
async def metrics(shelf: Held) -> Response:
    """Requests, times and batches, in Prometheus' text format."""
    return Response(shelf.metrics.text(), media_type=shelf.metrics.CONTENT_TYPE)
