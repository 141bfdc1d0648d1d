"""What every request passes before the routes see it, and what every answer carries."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ingram.serve.limits import Limits
from ingram.serve.metrics import Metrics
from ingram.serve.refusals import FAILED, GONE, Refusal, refuse

log = logging.getLogger(__name__)

SECURITY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""No inline script or style, nothing from elsewhere, and no way from a text to a script."""

OPEN = ("/", "/docs", "/health")
"""Routes that tell nothing of the graphs: no token is needed for them, nor for the page's files."""
BODILESS = ("GET", "HEAD", "DELETE", "OPTIONS")
UPLOADS = "/graphs/"


class Guard:
    """The application with limits on time and size, a token, and headers that keep browsers safe.

    ``hosts``: names by which the service may be addressed; empty for any. A page elsewhere can
    make a browser on this machine address it by another name, but not by these. Work for a client
    that goes away is dropped.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        *,
        token: str | None = None,
        hosts: Collection[str] = (),
    ) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self._token = None if token is None else f"Bearer {token}".encode()
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()
        upload = scope["method"] == "PUT" and scope["path"].startswith(UPLOADS)
        name = "upload" if upload else "body"
        limit: int = getattr(self.limits, name)
        exchange = Exchange(scope, receive, send, limit, name)
        try:
            self._admit(scope, limit, name)
            seconds = self.limits.upload_seconds if upload else self.limits.seconds
            await exchange.run(self.app, seconds)
        except Refusal as refusal:
            await exchange.answer(refusal)
        except Exception as error:
            log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
            await exchange.answer(Refusal(500, FAILED))
        route = getattr(scope.get("route"), "path", "none")
        seconds = time.perf_counter() - begun
        self.metrics.request(route, _method(scope), exchange.status or GONE, seconds)

    def _admit(self, scope: Scope, limit: int, name: str) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts and _split(f"//{host}").hostname not in self._hosts:
            raise Refusal(421, "the service does not go by that name; use the address it printed")
        origin = headers.get("origin")
        if origin is not None and scope["method"] != "GET" and _split(origin).netloc != host:
            raise Refusal(403, "a page of another site may not ask this service", close=True)
        if self._token is not None and not _is_open(scope["path"]):
            given = headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, self._token):
                raise Refusal(401, "want the header Authorization: Bearer TOKEN", close=True)
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > limit:
            raise _too_long(limit, name)


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in (*BODILESS, "POST", "PUT") else "other"


def _is_open(path: str) -> bool:
    return path in OPEN or path.startswith("/page/")


def _too_long(limit: int, name: str) -> Refusal:
    return Refusal(
        413, f"want a body of at most {limit:,} bytes, the limit `{name}`, got more", close=True
    )


class Exchange:
    """One request and its answer: counts what comes in, watches that the client is still there."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int, name: str) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._limit, self._name, self._left = limit, name, limit
        self._has_body = scope["method"] not in BODILESS
        self._body_over, self._gone = asyncio.Event(), asyncio.Event()
        self._finished = False
        self.status: int | None = None

    async def run(self, app: ASGIApp, seconds: float) -> None:
        """Let the application answer within some seconds, unless the client goes away first."""
        work = asyncio.ensure_future(app(self._scope, self.receive, self.send))
        watch = asyncio.ensure_future(self._watch())
        try:
            await asyncio.wait({work, watch}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done() or self._finished:
                await work
            elif watch.done():
                watch.result()
            else:
                late = "was not answered" if self._body_over.is_set() else "did not arrive"
                raise Refusal(408, f"the request {late} within {seconds:g} s", close=True)
        finally:
            work.cancel()
            watch.cancel()
            await asyncio.gather(work, watch, return_exceptions=True)

    async def receive(self) -> Message:
        """The body as it comes, up to the limit; after it, word that the client is gone."""
        if self._has_body and not self._body_over.is_set():
            return await self._next()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _watch(self) -> None:
        """Ends when the client is gone."""
        if self._has_body:
            await self._body_over.wait()
        while not self._gone.is_set():
            await self._next()

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._gone.set()
            return message
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_long(self._limit, self._name)
        if not message.get("more_body", False):
            self._body_over.set()
        return message

    async def send(self, message: Message) -> None:
        """Send, with the headers that every answer carries."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in {**SECURITY, "cache-control": "no-store"}.items():
                headers.setdefault(name, value)
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._finished = True

    async def answer(self, refusal: Refusal) -> None:
        """Say no, if nothing else was said before."""
        if self.status is None:
            close = "connection" in (refusal.headers or {})
            response = refuse(refusal.status_code, str(refusal.detail), close=close)
            await response(self._scope, self._receive, self.send)
