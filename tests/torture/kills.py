"""Kill a real training process at random moments, resume it each time, and compare the end.

Run as ``python -m tests.torture.kills FOLDER KILLS SEED``: one process loads everything once and
forks the ones that train and are killed; after each run it prints what happened so far as JSON.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import torch._dynamo  # noqa: F401 - training loads it; the forked ones shall find it loaded

from ingram.cli import main as ingram
from ingram.cli import verb
from tests.training.runs import traces
from tests.verbs import write_dataset

SMALL = {
    "model.relation_hidden": 16, "model.entity_hidden": 16, "model.relation_heads": 2,
    "model.entity_heads": 2,
}  # fmt: skip
SMALL_QUERY = {
    "model.width": 8, "model.entity_layers": 2, "model.relation_layers": 1, "training.steps": 2,
    "training.queries": 8, "training.message_share": 0.5, "tasks.entities": "[4, 14]",
    "tasks.least_triples": 20, "training.averaging": 0.5,
}  # fmt: skip
KINDS = {
    "default": (SMALL | {"evaluation.draws": 2}, 24),
    "paper": (SMALL, 24),
    "ingram-q": (SMALL_QUERY, 16),
}
"""Settings and epochs of a run of each kind; every epoch is validated and saved."""


def arguments(kind: str, data: Path, run: Path, seed: int) -> list[str]:
    settings, epochs = KINDS[kind]
    words = ["train", str(data), "-o", str(run), "--threads", "1", "--json", "--allow-leaks"]
    if (run / "config.yaml").exists():
        return [*words, "--resume"]
    words += ["--preset", kind, "--epochs", str(epochs), "--seed", str(seed)]
    for name, value in {**settings, "training.validate_every": 1}.items():
        words += ["--set", f"{name}={value}"]
    return words


def start(words: list[str]) -> int:
    """A process that trains; its number."""
    child = os.fork()
    if child:
        return child
    try:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        sys.argv = ["ingram", *words]
        ingram()
    except SystemExit as end:
        os._exit(int(end.code or 0))
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(70)
    os._exit(0)


def ended_within(child: int, seconds: float) -> int | None:
    """The status of a process, or none if it still runs after so long."""
    until = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return None
        time.sleep(0.005)


def tortured(kind: str, data: Path, run: Path, seed: int, span: float, rng: random.Random) -> int:
    """Train until the run has ended by itself; how often it was killed."""
    kills = 0
    while True:
        child = start(arguments(kind, data, run, seed))
        status = ended_within(child, rng.uniform(0, span))
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            kills += 1
            span *= 1.1  # on a machine that is busier by now, a run would never end otherwise
        elif status:
            raise RuntimeError(f"{run}: a run that goes on ended with status {status}")
        else:
            return kills


def torture(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """Runs of every kind, killed so often altogether; how many there were and how many differ."""
    rng, data = random.Random(seed), folder / "data"
    write_dataset(data)
    verb("train")  # loaded here, not by every process that is forked
    told = {"kills": 0, "runs": 0, "different": 0}
    for number in range(10**6):
        kind = list(KINDS)[number % len(KINDS)]
        straight, run = folder / f"straight-{number}", folder / f"run-{number}"
        began = time.monotonic()
        if ended_within(start(arguments(kind, data, straight, number)), 600) != 0:
            raise RuntimeError(f"{straight}: a run that was left alone failed")
        span = 0.5 * (time.monotonic() - began)
        told["kills"] += tortured(kind, data, run, number, span, rng)
        told["runs"] += 1
        same = traces(run) == traces(straight) and not list(run.rglob("*.tmp"))
        told["different"] += not same
        for path in (straight, run):
            shutil.rmtree(path)
        print(json.dumps(told), flush=True)
        if told["kills"] >= kills and number + 1 >= len(KINDS):
            return told
    raise AssertionError


def in_a_process_of_its_own(folder: Path, kills: int, seed: int = 0) -> dict[str, int]:
    """The same from a process that may have threads, which a fork would lose."""
    words = [sys.executable, "-m", "tests.torture.kills", str(folder), str(kills), str(seed)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    torture(Path(sys.argv[1]), *map(int, sys.argv[2:]))
