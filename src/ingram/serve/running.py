"""Listening, answering and stopping."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import signal
import socket
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ingram.errors import ConfigError
from ingram.serve.limits import Limits

LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEPT = 75
"""Seconds that a connection stays open between requests: longer than clients and proxies keep
theirs, so that none of them sends a request into one that is being closed."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; an address that cannot be had is an error in one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot listen on {host}, port {port}: {reason}") from error


def address_of(listener: socket.socket) -> str:
    """The address to type into a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: ASGIApp, listener: socket.socket, limits: Limits, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; then finish what was asked, and return."""
    # uvicorn raises a signal again once it has stopped: the handler from before gets it.
    before = {number: signal.signal(number, _stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server_of(app, limits, ready).run(sockets=[listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        listener.close()


def _stopped(*_: object) -> None:
    """Everything is done already."""


def server_of(app: ASGIApp, limits: Limits, ready: Callable[[], None]) -> uvicorn.Server:
    """What listens; ``ready`` is called as soon as it does."""

    class Protocol(PromptProtocol):
        header_seconds = limits.header_seconds

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=math.ceil(limits.seconds),
    )
    return _Server(config, ready)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


class PromptProtocol(H11Protocol):
    """Closes a connection whose request takes too long to begin: uvicorn itself waits for ever."""

    header_seconds: float

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel()
        elif self._late is None:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(self.header_seconds, self.transport.close)

    def _cancel(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
