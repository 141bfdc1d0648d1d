"""Every answer that is not the one asked for: a status and one line of JSON."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from ingram.errors import (
    ConfigError,
    DivergedError,
    IngramError,
    MemoryNeedError,
    MissingPackageError,
    QueryError,
    TriplesError,
    UnknownLabelError,
)

GONE = 499
"""The client went away before its answer."""

STATUS: dict[type[IngramError], int] = {
    UnknownLabelError: 404,
    TriplesError: 400,
    ConfigError: 422,
    QueryError: 422,
    MemoryNeedError: 413,
    MissingPackageError: 415,
    DivergedError: 422,
}
"""Of errors whose cause is in the request; any other one is the service's own."""

FAILED = "something went wrong here; the service's log has the details"
LONGEST = 1_000
"""Characters of a refusal: it may repeat what the client sent."""
SHOWN = 200
"""Characters of what a client sent that are repeated to it."""


class Refusal(HTTPException):
    """A request that will not be answered, and why in one line."""

    def __init__(self, status: int, why: str, *, close: bool = False) -> None:
        # A body that nobody will read is on its way: only closing ends it.
        super().__init__(status, why, {"connection": "close"} if close else None)


def refuse(status: int, why: str, *, close: bool = False) -> Response:
    """The answer that a refusal becomes."""
    if len(why) > LONGEST:
        why = f"{why[:LONGEST]}…"
    headers = {"connection": "close"} if close else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status == 429:
        headers["retry-after"] = "1"
    return JSONResponse({"error": why}, status, headers)


def handle_errors(app: FastAPI) -> None:
    """Turn every error into one line of JSON, without a trace of the code."""
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(IngramError, _known)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unknown)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    close = (error.headers or {}).get("connection") == "close"
    return refuse(error.status_code, str(error.detail), close=close)


async def _invalid(_: Request, error: Exception) -> Response:
    """The first thing that is wrong, by its place in the request."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    found = repr(first["input"])
    shown = found if len(found) <= SHOWN else f"{found[:SHOWN]}…"
    return refuse(422, f"{place}: {first['msg']}, got {shown}")


async def _known(_: Request, error: Exception) -> Response:
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            return refuse(status, str(error))
    raise error


async def _gone(*_: object) -> Response:
    return Response(status_code=GONE)  # nobody reads it; it is counted


async def _unknown(*_: object) -> Response:
    return refuse(500, FAILED)
