"""Let every single call to the disk fail, or be the last one, and resume."""

from __future__ import annotations

import errno
import os
import random
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from ingram.errors import IngramError, WriteError
from ingram.io import atomic
from ingram.training import train
from ingram.training.checkpoints import RunDirectory
from ingram.training.loop import resume_config
from tests.tiny import tiny_query_config, tiny_run_config
from tests.training.runs import DATASET, traces

ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES, errno.ENOENT, errno.EDQUOT)
MODES = ("error", "kill", "power cut")
CALLS = ("open", "write", "fsync", "replace", "unlink", "mkdir", "truncate")
CONFIGS = {
    "default": tiny_run_config("default", training__epochs=4, training__validate_every=1),
    "paper": tiny_run_config("paper", training__epochs=4, training__validate_every=2),
    "ingram-q": tiny_query_config(training__epochs=4, training__averaging=0.5),
}


class Killed(BaseException):
    """The process is no more; nobody catches this."""


class FailingOs:
    """Stands in for ``os``: call number ``at`` fails, or the process ends there.

    How much of a write that fails or is the last reaches the disk is drawn at random. After a
    power cut, what was not synced yet of a file is cut off anywhere.
    """

    def __init__(self, at: int | None = None, mode: str = "error", seed: int = 0) -> None:
        self.at, self.mode, self.rng = at, mode, random.Random(seed)
        self.count, self.dead = 0, False
        self.open_files: dict[int, Path] = {}
        self.unsynced: dict[Path, int] = {}

    def __getattr__(self, name: str):
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*args, **kwargs):
            if self.dead:
                raise Killed
            self.count += 1
            if self.count - 1 == self.at:
                self._fail(name, args)
            if name == "open" and args[1] & os.O_WRONLY:
                path = Path(args[0])
                keeps = path.exists() and not args[1] & os.O_TRUNC
                self.unsynced[path] = path.stat().st_size if keeps else 0
            result = real(*args, **kwargs)
            if name == "open":
                self.open_files[result] = Path(args[0])
            elif name == "fsync":
                self.unsynced.pop(self.open_files[args[0]], None)
            return result

        return call

    def _fail(self, name: str, args) -> None:
        if name == "write":
            os.write(args[0], bytes(args[1])[: self.rng.randrange(len(args[1]) + 1)])
        if self.mode == "error":
            raise OSError(number := self.rng.choice(ERRORS), os.strerror(number))
        self.dead = True
        if self.mode == "power cut":
            for path, before in self.unsynced.items():
                if path.exists():
                    os.truncate(path, self.rng.randint(before, max(before, path.stat().st_size)))
        raise Killed


def run_until_fault(run: RunDirectory, config, layer: FailingOs) -> None:
    """Train, or go on if there is a run, with a disk that fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atomic, "os", layer)
        with suppress(WriteError, Killed):
            go_on(run, config)


def go_on(run: RunDirectory, config) -> None:
    resume = (run.path / "config.yaml").exists()
    if resume:
        config = resume_config(run, None)
    train(DATASET, config, run, resume=resume)


@cache
def straight(kind: str):
    """What a run leaves that was left alone, and how often it called the disk."""
    with tempfile.TemporaryDirectory() as folder:
        run, layer = RunDirectory(Path(folder) / "run"), FailingOs()
        run_until_fault(run, CONFIGS[kind], layer)
        return traces(run.path), layer.count


def trial(kind: str, at: int, mode: str, seed: int, wanted) -> str | None:
    """What is wrong with a run after a fault at a call, another one on going on, and the end."""
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder) / "run")
        run_until_fault(run, CONFIGS[kind], FailingOs(at, mode, seed))
        run_until_fault(run, CONFIGS[kind], FailingOs(seed % 40, mode, seed))
        try:
            go_on(run, CONFIGS[kind])
        except IngramError as error:
            return f"cannot go on: {error}"
        if traces(run.path) != wanted:
            return "ended with other bits"
        left = list(run.path.rglob("*.tmp"))
        return f"left {left}" if left else None


@dataclass
class Told:
    """How many faults there were, and what is wrong with each directory that broke."""

    trials: int = 0
    broken: list[str] = field(default_factory=list)


def torture(trials: int, seed: int = 0, first: int = 0) -> Told:
    """So many faults over all calls of all kinds of runs, from number ``first`` on."""
    ends = {kind: straight(kind) for kind in CONFIGS}
    told = Told()
    for number in range(first, first + trials):
        kind = list(CONFIGS)[number % len(CONFIGS)]
        mode = MODES[number // len(CONFIGS) % len(MODES)]
        wanted, calls = ends[kind]
        draw = random.Random(f"{seed} {number}")
        at = draw.randrange(calls)
        wrong = trial(kind, at, mode, draw.randrange(10**6), wanted)
        told.trials += 1
        if wrong:
            told.broken.append(f"{kind}, {mode} at call {at}, number {number}: {wrong}")
    return told
