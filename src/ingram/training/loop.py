"""The training loop, from the top to the bottom of a run."""

from __future__ import annotations

import copy
import logging
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

from ingram.errors import DivergedError, RunError, WriteError
from ingram.graph import Dataset
from ingram.io.atomic import write_text
from ingram.models import MODELS, InGram, InGramQ
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import Config, QueryConfig, dump_config
from ingram.training.diagnosis import origin_of_scores
from ingram.training.interrupts import Interrupts
from ingram.training.learners import learner_of
from ingram.training.listener import Listener, Outcome
from ingram.training.needs import ensure_training_fits
from ingram.training.optimizer import ClippedAdamW
from ingram.training.sources import Source, describe_data, want_same_data
from ingram.training.state import State
from ingram.training.steps import Steps
from ingram.training.validation import Validation

log = logging.getLogger(__name__)

RETRY_SECONDS = 10
"""Between two tries to write what could not be written."""


def train(
    datasets: Dataset | Sequence[Dataset],
    config: Config | QueryConfig,
    run: RunDirectory,
    *,
    resume: bool = False,
    graphs: Sequence[Source] | None = None,
    minutes: float | None = None,
    start: InGram | InGramQ | None = None,
    listener: Listener | None = None,
    on_save_error: Literal["stop", "wait"] = "stop",
) -> Outcome:
    """Train in a run directory, or go on where the run in it stopped.

    Of several datasets each epoch takes one, drawn at random; validation is the mean over all.
    With ``graphs`` these are learned on instead, and the datasets only validate.
    With ``start`` the first weights are that model's, and they are the best until a validation is
    better.

    Ctrl-C, SIGTERM, or ``minutes`` running out, ends the run after the epoch it is at, with a
    checkpoint; resuming then gives the same bits as a run that was left alone. A second Ctrl-C
    ends it at once, and resuming goes on from the last validation. What cannot be written, on a
    full disk say, is an error; with ``on_save_error="wait"`` it is tried until it works.
    """
    datasets = [datasets] if isinstance(datasets, Dataset) else list(datasets)
    if graphs is None:
        graphs = [Source(dataset.name, dataset.train) for dataset in datasets]
    ensure_training_fits(config, [source.graph for source in graphs], datasets)
    listener = listener or Listener()
    work = _Run(datasets, graphs, config, run, start, listener, on_save_error)
    return work.go(resume, minutes)


class _Run:
    def __init__(
        self,
        datasets: list[Dataset],
        graphs: Sequence[Source],
        config: Config | QueryConfig,
        run: RunDirectory,
        start: InGram | InGramQ | None,
        listener: Listener,
        on_save_error: str,
    ) -> None:
        self.config, self.run, self.listener = config, run, listener
        self.on_save_error = on_save_error
        self.settings = config.training
        self.learner = learner_of([source.graph for source in graphs], config)
        self.validation = Validation(datasets, self.learner, config.evaluation)
        data = describe_data(graphs, datasets)
        model = MODELS[config.model.name](config.model, seed=self.settings.seed)
        if start is not None:
            model.load_state_dict(start.state_dict())
        optimizer = ClippedAdamW(
            model.parameters(),
            lr=self.settings.learning_rate,
            weight_decay=self.settings.weight_decay,
        )
        average = copy.deepcopy(model) if self.settings.averaging else None
        self.state = State(model, optimizer, average, data)
        self.state.progress.learning_rate = self.settings.learning_rate
        self.state.progress.start = None if start is None else start.origin
        self.records: list[dict[str, Any]] = []
        self.steps = Steps(self.state, self.learner, self.settings)

    def go(self, resume: bool, minutes: float | None) -> Outcome:
        if not resume:
            self.run.make()
        with Interrupts() as interrupts, self.run.locked():
            if resume:
                self._resume()
            else:
                self.run.begin(self.config, self.state)
            return self._outcome(self._epochs(interrupts, minutes))

    def _resume(self) -> None:
        """Take up the newest checkpoint; make metrics and best weights agree with it."""
        data = self.state.data
        self.run.sweep()
        self.run.load(self.state)
        want_same_data(self.run.path, self.state.data, data)
        self.state.data = data
        progress = self.state.progress
        self.records = self.run.metrics()[: progress.validations]
        if len(self.records) < progress.validations:
            log.warning("%s: lost lines, or they cannot be read", self.run.metrics_path)
        progress.validations = len(self.records)
        self.run.write_metrics(self.records)
        self.run.write_best(self.state)
        if self.run.config() != self.config:
            write_text(self.run.inside("config.yaml"), dump_config(self.config))

    def _epochs(self, interrupts: Interrupts, minutes: float | None) -> str:
        """All epochs that are left; returns how it ended."""
        progress, settings = self.state.progress, self.settings
        started = time.monotonic() - progress.seconds
        deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
        if progress.start is not None and not progress.epoch and not progress.validations:
            self.validate()
        self.listener.started(progress.epoch, settings.epochs)
        first = progress.epoch + 1
        for number in range(first, settings.epochs + 1):
            out_of_time = number > first and time.monotonic() > deadline
            if self._impatient() or interrupts.noted or out_of_time:
                break
            loss = self.steps.epoch(number)
            progress.epoch = number
            progress.loss_sum += loss
            progress.loss_count += 1
            progress.seconds = time.monotonic() - started
            self.listener.epoch(number, loss)
            due = number % settings.validate_every == 0 or number == settings.epochs
            if (due or not math.isfinite(loss)) and not self.validate():
                return "diverged"
        if self._impatient() and not interrupts.noted:
            return "no better validation"
        if interrupts.noted or progress.epoch < settings.epochs:
            self._save()
            return interrupts.noted or "out of time"
        return "finished"

    def _impatient(self) -> bool:
        patience = self.settings.patience
        return patience is not None and self.state.progress.stale >= patience

    def validate(self) -> bool:
        """Rank the validation triples, keep the best weights, watch for a collapse.

        False if the run cannot go on.
        """
        progress, model = self.state.progress, self.state.average or self.state.model
        loss, figures, made = self._figures(model)
        finite = loss is None or math.isfinite(loss)
        best = max(progress.best.get("mrr", 0.0), progress.watch.best_mrr)
        trouble = None
        if loss is not None:
            trouble = progress.watch.judge(loss, figures["mrr"], self.validation.chance)
        record: dict[str, Any] = {
            "epoch": progress.epoch,
            "loss": loss if finite else None,
            **figures,
            "learning_rate": self.state.optimizer.param_groups[0]["lr"],
            "seconds": round(progress.seconds, 3),
        }
        if trouble:
            trouble += "" if finite else f"; this began in {self.steps.trouble_at}"
            record["collapse"] = trouble
        self._keep(record)
        better = finite and figures["mrr"] > best
        progress.stale = 0 if better else progress.stale + 1
        if better or (self.settings.keep == "last" and not trouble):
            progress.best = {"epoch": progress.epoch, **figures}
            self.state.keep_as_best(model, made)
            self._write(lambda: self.run.write_best(self.state))
        self.listener.validated(record)
        if trouble and not self._handle(trouble, finite):
            return False
        if not trouble and progress.watch.healthy:
            self.state.keep_as_good()
        self._save()
        return True

    def _figures(
        self, model: InGram | InGramQ
    ) -> tuple[float | None, dict[str, Any], dict[str, Any]]:
        """Mean loss since the last validation, if there were epochs, and what validation gives.

        The loss is NaN if it or a score is not finite.
        """
        progress = self.state.progress
        loss = progress.loss_sum / progress.loss_count if progress.loss_count else None
        progress.loss_sum, progress.loss_count = 0.0, 0
        if loss is not None and not math.isfinite(loss):
            return loss, {"mrr": 0.0}, {}
        try:
            return loss, *self.validation.figures(model, progress.epoch)
        except DivergedError:
            self.steps.trouble_at = origin_of_scores(
                model, lambda: self.validation.figures(model, progress.epoch)
            )
            return math.nan, {"mrr": 0.0}, {}

    def _handle(self, trouble: str, finite: bool) -> bool:
        progress = self.state.progress
        event: dict[str, Any] = {"epoch": progress.epoch, "why": trouble, "returned_to": None}
        progress.collapses.append(event)
        if self.settings.on_collapse == "recover" and self.state.good is not None:
            epoch = self.state.return_to_good()
            progress.learning_rate *= self.settings.recovery_rate
            event |= {"returned_to": epoch, "learning_rate": progress.learning_rate}
        self.listener.collapsed(event)
        return finite or event["returned_to"] is not None

    def _keep(self, record: dict[str, Any]) -> None:
        self._write(lambda: self.run.append_metrics(record))
        self.records.append(record)
        self.state.progress.validations += 1

    def _save(self) -> None:
        self._write(lambda: self.run.save(self.state))

    def _write(self, action: Callable[[], None]) -> None:
        """Write something. If that fails, stop; or keep all in memory and try until it works."""
        while True:
            try:
                action()
                return
            except WriteError as error:
                if self.on_save_error == "stop":
                    raise WriteError(f"{error}; then go on with --resume") from error
                self.listener.save_failed(str(error))
                time.sleep(RETRY_SECONDS)
                with suppress(WriteError):  # the folder may be back, but empty
                    self.run.restore(self.config, self.records)

    def _outcome(self, stopped: str) -> Outcome:
        progress, model = self.state.progress, self.state.model
        if self.state.best is not None:
            model.load_state_dict(self.state.best.weights)
            model.origin = self.state.best.origin
        elif stopped == "diverged":
            raise DivergedError(
                f"training diverged at epoch {progress.epoch} before its first good validation: "
                f"{progress.collapses[-1]['why']}; lower training.learning_rate"
            )
        return Outcome(
            model, progress.best, progress.epoch, progress.seconds, progress.collapses, stopped
        )


def resume_config(run: RunDirectory, epochs: int | None) -> Config | QueryConfig:
    """The configuration of a run to resume, with more epochs if asked."""
    config = run.config()
    if not run.can_resume():
        raise RunError(f"{run.path}: no checkpoint to resume from; train anew elsewhere")
    return config if epochs is None else config.with_settings({"training.epochs": epochs})
