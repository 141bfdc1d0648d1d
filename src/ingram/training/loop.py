"""The training loop, from the top to the bottom of a run."""

from __future__ import annotations

import copy
import hashlib
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ingram.errors import DivergedError, RunError
from ingram.graph import Dataset, Ids, KnowledgeGraph
from ingram.models import MODELS, InGram, InGramQ, load_model
from ingram.training.checkpoints import Progress, RunDirectory
from ingram.training.config import Config, QueryConfig
from ingram.training.interrupts import Interrupts
from ingram.training.learners import learner_of
from ingram.training.schedules import rate_at
from ingram.training.validation import Validation


class Listener:
    """What a run tells while it goes. Override what you want to hear."""

    def started(self, epoch: int, epochs: int) -> None:
        """Training goes from ``epoch`` to ``epochs``."""

    def epoch(self, number: int, loss: float) -> None:
        """An optimiser step was made."""

    def validated(self, record: dict[str, Any]) -> None:
        """A line of metrics.jsonl was written."""

    def collapsed(self, record: dict[str, Any]) -> None:
        """Training collapsed; ``record`` says why and what was done."""


@dataclass(frozen=True, eq=False)
class Source:
    """A graph to learn on, by name."""

    name: str
    graph: KnowledgeGraph

    def describe(self, *more: Ids) -> dict[str, Any]:
        """What a run records of it: name, sizes, and a sum over its triples and ``more``."""
        weights = [] if self.graph.weights is None else [self.graph.weights]
        parts = [array.tobytes() for array in (self.graph.triples, *weights, *more)]
        return {
            "name": self.name,
            "entities": self.graph.num_entities,
            "relations": self.graph.num_relations,
            "triples": self.graph.num_triples,
            "sum": hashlib.sha256(b"".join(parts)).hexdigest()[:16],
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run came to: the best model, its validation figures, and how the run ended."""

    model: InGram | InGramQ
    best: dict[str, Any]
    epoch: int
    seconds: float
    collapses: list[dict[str, Any]]
    stopped: str


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
) -> Outcome:
    """Train in a run directory, or go on where the run in it stopped.

    Of several datasets each epoch takes one, drawn at random; validation is the mean over all.
    With ``graphs`` these are learned on instead, and the datasets only validate.
    With ``start`` the first weights are that model's, and they are the best until a validation is
    better.

    Ctrl-C, or ``minutes`` running out, ends the run after the epoch it is at, with a checkpoint;
    resuming then gives the same bits as a run that was left alone. A second Ctrl-C ends it at
    once, and resuming goes on from the last validation.
    """
    datasets = [datasets] if isinstance(datasets, Dataset) else list(datasets)
    if graphs is None:
        graphs = [Source(dataset.name, dataset.train) for dataset in datasets]
    return _Run(datasets, graphs, config, run, start, listener or Listener()).go(resume, minutes)


class _Run:
    def __init__(
        self,
        datasets: list[Dataset],
        graphs: Sequence[Source],
        config: Config | QueryConfig,
        run: RunDirectory,
        start: InGram | InGramQ | None,
        listener: Listener,
    ) -> None:
        self.config, self.run, self.start, self.listener = config, run, start, listener
        self.settings = config.training
        self.learner = learner_of([source.graph for source in graphs], config)
        self.validation = Validation(datasets, self.learner, config.evaluation)
        self.data: dict[str, Any] = {
            "graphs": [source.describe() for source in graphs],
            "validation": [Source(d.name, d.inference).describe(d.valid) for d in datasets],
        }
        self.progress = Progress(learning_rate=self.settings.learning_rate)
        self.model = MODELS[config.model.name](config.model, seed=self.settings.seed)
        if start is not None:
            self.model.load_state_dict(start.state_dict())
            self.progress.start = start.origin
        self.average = copy.deepcopy(self.model) if self.settings.averaging else None
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=self.settings.learning_rate,
            weight_decay=self.settings.weight_decay,
            fused=True,
        )

    def go(self, resume: bool, minutes: float | None) -> Outcome:
        if resume:
            self.progress = self._load("last")
            self.run.keep_metrics(self.progress.epoch)
        else:
            self.run.create(self.config)
            if self.start is not None:
                self.validate()
        started = time.monotonic() - self.progress.seconds
        deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
        stopped = "finished"
        with Interrupts() as interrupts:
            self.listener.started(self.progress.epoch, self.settings.epochs)
            for number in range(self.progress.epoch + 1, self.settings.epochs + 1):
                if interrupts.noted:
                    break
                loss = self.epoch(number)
                self.progress.epoch = number
                self.progress.loss_sum += loss
                self.progress.loss_count += 1
                self.progress.seconds = time.monotonic() - started
                self.listener.epoch(number, loss)
                due = number % self.settings.validate_every == 0
                out_of_time = time.monotonic() > deadline
                if due or number == self.settings.epochs or not math.isfinite(loss):
                    if not self.validate():
                        stopped = "diverged"
                        break
                    if self.settings.patience and self.progress.stale >= self.settings.patience:
                        stopped = "no better validation"
                        break
                if out_of_time:
                    stopped = "out of time"
                    break
        if interrupts.noted and stopped != "diverged":
            stopped = "interrupted"
        if stopped in ("out of time", "interrupted"):
            self._save("last")
        return self._outcome(stopped)

    def epoch(self, number: int) -> float:
        """All optimiser steps of an epoch; returns their mean loss."""
        losses: list[float] = []
        for loss in self.learner.losses(self.model, number):
            self._set_rate(number, len(losses))
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
            self.optimizer.step()
            losses.append(loss.item())
            if self.average is not None:
                self._add_to_average(number)
        return sum(losses) / len(losses)

    def _set_rate(self, number: int, step: int) -> None:
        done = number - 1 + step / getattr(self.settings, "steps", 1)
        rate = self.progress.learning_rate * rate_at(done / self.settings.epochs, self.settings)
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    @torch.no_grad()
    def _add_to_average(self, number: int) -> None:
        """The younger the run, the less of the past is kept: it is not worth much yet."""
        assert self.average is not None
        kept = min(self.settings.averaging, number / (number + 10))
        pairs = zip(self.average.parameters(), self.model.parameters(), strict=True)
        for slow, fast in pairs:
            slow.lerp_(fast, 1 - kept)

    def validate(self) -> bool:
        """Rank the validation triples, keep the best weights, watch for a collapse.

        False if the run cannot go on.
        """
        progress = self.progress
        loss = progress.loss_sum / progress.loss_count if progress.loss_count else None
        progress.loss_sum, progress.loss_count = 0.0, 0
        model = self.average or self.model
        figures: dict[str, Any] = {"mrr": 0.0}
        made: dict[str, Any] = {}
        try:
            figures, made = self.validation.figures(model, progress.epoch)
        except DivergedError:
            loss = math.nan
        finite = loss is None or math.isfinite(loss)
        best = max(progress.best.get("mrr", 0.0), progress.watch.best_mrr)
        trouble = None
        if loss is not None:
            trouble = progress.watch.judge(loss, figures["mrr"], self.validation.chance)
        record: dict[str, Any] = {
            "epoch": progress.epoch,
            "loss": loss if finite else None,
            **figures,
            "learning_rate": progress.learning_rate,
            "seconds": round(progress.seconds, 3),
        }
        if trouble:
            record["collapse"] = trouble
        self.run.append_metrics(record)
        better = finite and figures["mrr"] > best
        progress.stale = 0 if better else progress.stale + 1
        if better or (self.settings.keep == "last" and not trouble):
            progress.best = {"epoch": progress.epoch, **figures}
            origin = {"graphs": self.data["graphs"], "valid": progress.best, **made}
            if progress.start is not None:
                origin["start"] = progress.start
            model.save(self.run.model_path, origin)
        self.listener.validated(record)
        if trouble and not self._handle(trouble, finite):
            return False
        self._save("last")
        if not trouble and progress.watch.healthy:
            self._save("good")
        return True

    def _handle(self, trouble: str, finite: bool) -> bool:
        progress = self.progress
        event: dict[str, Any] = {"epoch": progress.epoch, "why": trouble, "returned_to": None}
        progress.collapses.append(event)
        can_return = self.run.checkpoint_path("good").exists()
        if self.settings.on_collapse == "recover" and can_return:
            good = self._load("good")
            progress.watch = good.watch
            progress.learning_rate *= self.settings.recovery_rate
            event |= {"returned_to": good.epoch, "learning_rate": progress.learning_rate}
        self.listener.collapsed(event)
        return finite or event["returned_to"] is not None

    def _save(self, name: str) -> None:
        self.run.save_checkpoint(
            name, self.model, self.optimizer, self.progress, self.average, self.data
        )

    def _load(self, name: str) -> Progress:
        return self.run.load_checkpoint(name, self.model, self.optimizer, self.average, self.data)

    def _outcome(self, stopped: str) -> Outcome:
        model = self.model
        if self.run.model_path.exists():
            model = load_model(self.run.model_path)
        elif stopped == "diverged":
            raise DivergedError(
                f"training diverged at epoch {self.progress.epoch} before its first validation; "
                "lower training.learning_rate"
            )
        p = self.progress
        return Outcome(model, p.best, p.epoch, p.seconds, p.collapses, stopped)


def resume_config(run: RunDirectory, epochs: int | None) -> Config | QueryConfig:
    """The configuration of a run to resume, with more epochs if asked."""
    config = run.config()
    if not run.checkpoint_path().exists():
        raise RunError(f"{run.path}: no checkpoint to resume from; train anew elsewhere")
    return config if epochs is None else config.with_settings({"training.epochs": epochs})
