"""How many questions the service answers over HTTP, and how long each waits.

    python -m benchmarks.service --seconds 300

Starts ``ingram serve`` with an embedding model on ``world`` in a process of its own, and asks it
for ten answers at a time from many clients on this machine, each with one connection that stays
open. Weights that were never trained do: what they cost is what others cost.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import urlsplit

import numpy as np
import typer

from ingram.datasets import open_dataset
from ingram.models import InGram
from ingram.training.config import dump_config
from ingram.training.presets import PRESETS

K = 10
WARM_UP = 3.0
"""Seconds that are not counted."""


def main(
    run: Annotated[Path | None, typer.Option(help="Weights; untrained ones if left out.")] = None,
    clients: Annotated[int, typer.Option(min=1, help="Who ask at the same time.")] = 50,
    seconds: Annotated[float, typer.Option(min=1, help="How long to ask.")] = 300,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the service.")] = 1,
) -> None:
    with (
        TemporaryDirectory(prefix="ingram-bench-") as folder,
        serving(run or untrained(Path(folder) / "run"), threads) as address,
    ):
        asyncio.run(ask_for(address, clients, WARM_UP))
        waits, errors = asyncio.run(ask_for(address, clients, seconds))
    p50, p99 = np.percentile(waits, [50, 99]) * 1e3 if waits else (np.nan, np.nan)
    result = {
        "clients": clients,
        "seconds": seconds,
        "requests": len(waits),
        "requests/s": round(len(waits) / seconds, 1),
        "p50 ms": round(float(p50), 1),
        "p99 ms": round(float(p99), 1),
        "max ms": round(1e3 * max(waits, default=np.nan), 1),
        "errors": sum(errors.values()),
        **errors,
    }
    print(json.dumps(result, indent=1))


def untrained(path: Path) -> Path:
    """A run of the default embedding model as it is before training."""
    config = PRESETS["default"]
    path.mkdir()
    (path / "config.yaml").write_text(dump_config(config), encoding="utf-8")
    InGram(config.model, seed=0).save(path / "model.safetensors", {})
    return path


@contextmanager
def serving(run: Path, threads: int) -> Iterator[str]:
    """The address of a service."""
    words = ["serve", str(run), "world", "--port", "0", "--threads", str(threads)]
    command = [sys.executable, "-c", "from ingram.cli import main; main()", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        try:
            yield service.stdout.readline().split()[0]
        finally:
            service.send_signal(signal.SIGINT)


async def ask_for(address: str, clients: int, seconds: float) -> tuple[list[float], Counter[str]]:
    """Seconds that each answer took, and what went wrong how often."""
    until = time.perf_counter() + seconds
    asked = await asyncio.gather(*(client(address, seed, until) for seed in range(clients)))
    waits = [wait for waits, _ in asked for wait in waits]
    return waits, sum((errors for _, errors in asked), Counter())


async def client(address: str, seed: int, until: float) -> tuple[list[float], Counter[str]]:
    """One who asks again as soon as an answer is there."""
    host, port = urlsplit(address).hostname, urlsplit(address).port
    questions, waits, errors = requests(f"{host}:{port}", seed), list[float](), Counter[str]()
    while time.perf_counter() < until:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            try:
                while (began := time.perf_counter()) < until:
                    writer.write(next(questions))
                    if (wrong := await fault(reader)) is None:
                        waits.append(time.perf_counter() - began)
                    else:
                        errors[wrong] += 1
            finally:
                writer.close()
        except (OSError, asyncio.IncompleteReadError) as error:
            errors[type(error).__name__] += 1
    return waits, errors


@cache
def facts() -> list[dict[str, Any]]:
    """Of the graph that is served."""
    return open_dataset("world").inference.labelled().to_dicts()


def requests(host: str, seed: int) -> Iterator[bytes]:
    """Questions that facts of the graph answer, for heads and tails in turn, without end."""
    rng = np.random.default_rng(seed)
    while True:
        fact = facts()[rng.integers(len(facts()))]
        left_out = "head" if rng.random() < 0.5 else "tail"
        question = {name: label for name, label in fact.items() if name != left_out}
        body = json.dumps({"questions": [question], "k": K}).encode()
        top = f"POST /predict HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        yield f"{top}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def fault(reader: asyncio.StreamReader) -> str | None:
    """Read one answer; what is wrong with it, unless it is 200 with as many rows as were wanted."""
    top = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(top.split(b"content-length:")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    if top.split()[1] != b"200":
        return body.decode()
    rows = body.count(b'"rank":')
    return None if rows == K else f"{rows} rows"


if __name__ == "__main__":
    typer.run(main)
