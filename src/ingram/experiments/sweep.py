"""Many runs from one command: each is trained, tested and kept, and never done twice.

All that is known of a run is in its directory, so a sweep may be killed at any moment and started
again by the same command, and several may share a folder: a run belongs to whoever locks it first.
"""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ingram.errors import ConfigError, DivergedError, InUseError
from ingram.experiments.budgets import changes
from ingram.experiments.methods import FLOORS, JOINT, Cell
from ingram.experiments.report import write_report
from ingram.experiments.runs import finished, outcome_of, record_outcome, spent
from ingram.experiments.saved import OWN, is_tested, make_test, protocols, save_test
from ingram.experiments.trackers import tracking
from ingram.graph import Dataset
from ingram.inference.calibrating import calibrate_if_possible
from ingram.inference.testing import Ranked, rank_scorer
from ingram.io.atomic import make_folders
from ingram.models import load_model
from ingram.training import Listener, Outcome, train
from ingram.training.checkpoints import RunDirectory
from ingram.training.locks import locked

Hearing = Callable[[str], AbstractContextManager[Listener]]
STOPPED = ("interrupted", "terminated")


@dataclass(frozen=True)
class Sweep:
    """How the runs of a sweep are made.

    data: what a command names each dataset by; read: opens one, for a seed. epochs, minutes: a
    budget for each run. training: false to test what is there and train nothing. hearing: a
    listener for the run of that title. say: takes a remark. words: more for the commands.
    """

    root: Path
    data: dict[str, str]
    read: Callable[[str, int], Dataset]
    hearing: Hearing
    say: Callable[[str], None]
    epochs: int | None = None
    minutes: float | None = None
    training: bool = True
    words: tuple[str, ...] = ()
    _opened: dict[str, list[Dataset]] = field(default_factory=dict)

    def check(self, cells: Iterable[Cell]) -> None:
        """Refuse, before anything is begun, runs that lie there with other settings."""
        for cell in cells:
            if not cell.method.trained:
                continue
            run = RunDirectory((cell.source or cell).path(self.root))
            if self.training and (run.path / "config.yaml").exists():
                wanted = cell.method.config_for(cell.seed, self.epochs)
                if changed := changes(run.config(), wanted):
                    raise ConfigError(
                        f"{run.path}: holds a run with {', '.join(changed)}, which is not what is "
                        "asked for; ask for the same, choose another -o, or take --no-train to "
                        "test it as it is"
                    )

    def go(self, cells: Iterable[Cell]) -> str | None:
        """Settle all runs; returns the signal's name if one ended the sweep."""
        for cell in cells:
            try:
                stopped = self._settle(cell)
            except InUseError:
                self.say(f"{cell}: another process is at it; left to it")
                continue
            if stopped in STOPPED:
                return stopped
        return None

    def _settle(self, cell: Cell) -> str | None:
        if cell.method.name in FLOORS:
            self._count(cell)
            return None
        if cell.method.trained:
            source = cell.source or cell
            run = RunDirectory(source.path(self.root))
            if self.training and not self._had_its_time(run):
                stopped = self._train(source, run)
                if stopped in STOPPED:
                    return stopped
            if not run.model_path.exists():
                if self.training:
                    self.say(f"{cell}: has no weights to test ({_why_none(run)})")
                return None
            if not self._had_its_time(run):
                self.say(f"{cell}: tested before its end, at epoch {_epoch(run):,}")
        self._test(cell)
        return None

    def _had_its_time(self, run: RunDirectory) -> bool:
        """Whether a run is not to be trained any further."""
        if finished(run):
            return True
        return outcome_of(run.path).get("stopped") == "out of time" and self._left(run) <= 0

    def _left(self, run: RunDirectory) -> float:
        """Minutes."""
        return math.inf if self.minutes is None else self.minutes - (spent(run) or 0.0) / 60

    def _train(self, cell: Cell, run: RunDirectory) -> str:
        datasets = self._datasets(cell)
        resume = (run.path / "config.yaml").exists()
        config = cell.method.config_for(cell.seed, self.epochs)
        start = None if cell.method.start is None else load_model(cell.method.start)
        left = self._left(run)
        self.say(f"{cell}: {'going on' if resume else 'training'}")
        outcome: Outcome | None = None
        with self.hearing(str(cell)) as screen, tracking((), run, config, screen) as listener:
            try:
                outcome = train(
                    datasets,
                    config,
                    run,
                    resume=resume,
                    minutes=None if math.isinf(left) else max(left, 0.0),
                    start=start,
                    listener=listener,
                )
            except DivergedError as error:
                self.say(f"{cell}: {error}")
        record_outcome(run, outcome, self.command(cell))
        stopped = "diverged" if outcome is None else outcome.stopped
        if cell.dataset not in self.data:  # joined: it has no test of its own to report on
            report = write_report if stopped in STOPPED else partial(self._report, cell)
            report(run, datasets)  # nobody waits for more after a signal
        return stopped

    def _test(self, cell: Cell) -> None:
        """All protocols of the run that were not tested with these very weights."""
        weights = RunDirectory(cell.weights(self.root))
        folder, config, fresh = cell.path(self.root), weights.config(), False
        make_folders(folder)
        missing = [p for p in protocols(config) if not is_tested(folder, p, weights.path)]
        if not missing:
            return
        self.say(f"{cell}: testing")
        [dataset] = self._datasets(cell)
        with locked(folder):
            for protocol in missing:
                make_test(weights.path, config, dataset, folder, protocol)
                fresh = True
        if fresh and folder == weights.path:
            self._report(cell, weights, [dataset])

    def _report(self, cell: Cell, run: RunDirectory, datasets: list[Dataset]) -> None:
        """With what the scores mean, if that can be said."""
        calibrate_if_possible(run.path, datasets, lambda why: self.say(f"{cell}: {why}"))
        write_report(run, datasets)

    def command(self, cell: Cell) -> str:
        """What trains this run alone."""
        names = [self.data[name] for name in cell.dataset.split(JOINT)]
        words = ["ingram", "train", *names, "-o", str(cell.path(self.root)), *cell.method.words]
        words += ["--seed", str(cell.seed)]
        if self.epochs is not None:
            words += ["--epochs", str(self.epochs)]
        if self.minutes is not None:
            words += ["--minutes", f"{self.minutes:g}"]
        return shlex.join([*words, *self.words])

    def _count(self, cell: Cell) -> None:
        folder = cell.path(self.root)
        if OWN.done(folder):
            return
        self.say(f"{cell}: counting")
        make_folders(folder)
        [dataset] = self._datasets(cell)
        started = time.perf_counter()
        ranks = rank_scorer(FLOORS[cell.method.name](dataset.inference), dataset, "test")
        with locked(folder):
            save_test(Ranked(ranks), dataset, folder, "realistic", time.perf_counter() - started)

    def _datasets(self, cell: Cell) -> list[Dataset]:
        """Read once in a row: the runs on a dataset stand together."""
        key = f"{cell.dataset} {cell.seed}"
        if key not in self._opened:
            self._opened.clear()
            self._opened[key] = [self.read(n, cell.seed) for n in cell.dataset.split(JOINT)]
        return self._opened[key]


def _why_none(run: RunDirectory) -> str:
    stopped = outcome_of(run.path).get("stopped", "unfinished")
    return "out of time before the first validation" if stopped == "out of time" else stopped


def _epoch(run: RunDirectory) -> int:
    records = run.metrics()
    return int(records[-1]["epoch"]) if records else 0
