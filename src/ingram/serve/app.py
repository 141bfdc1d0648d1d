"""The application: routes behind the guard, and the page's files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import PurePath

from fastapi import FastAPI
from starlette.responses import Response

from ingram.serve import graph_routes, routes
from ingram.serve.graphs import Shelf
from ingram.serve.guard import Guard
from ingram.serve.refusals import Refusal, handle_errors

TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
DESCRIPTION = """Ranked answers about knowledge graphs, from one model for any graph.

Every refusal is a 4xx status with one line of JSON: {"error": "..."}."""


def create_app(shelf: Shelf, *, token: str | None = None, hosts: Collection[str] = ()) -> Guard:
    """The service over some graphs.

    With a token, every request must bear it, but for the page itself and /health. ``hosts``: names
    by which the service may be addressed; empty for any.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        shelf.close()

    app = FastAPI(
        title="ingram",
        version=version("ingram"),
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's pages load scripts from elsewhere; /docs is our own
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.shelf = shelf
    app.include_router(routes.router)
    app.include_router(graph_routes.router)
    _serve_page(app)
    handle_errors(app)
    return Guard(app, shelf.limits, shelf.metrics, token=token, hosts=hosts)


def _serve_page(app: FastAPI) -> None:
    """The page's files, by their names alone: no path of a client ever reaches the disk."""
    held = {
        file.name: file.read_bytes()
        for file in files("ingram.serve").joinpath("page").iterdir()
        if PurePath(file.name).suffix in TYPES
    }

    async def page_file(name: str) -> Response:
        if name not in held:
            raise Refusal(404, "no such file")
        kind = TYPES[PurePath(name).suffix]
        return Response(held[name], media_type=kind, headers={"cache-control": "no-cache"})

    async def index() -> Response:
        return await page_file("index.html")

    async def docs() -> Response:
        return await page_file("docs.html")

    app.add_api_route("/", index, include_in_schema=False)
    app.add_api_route("/docs", docs, include_in_schema=False)
    app.add_api_route("/page/{name}", page_file, include_in_schema=False)
