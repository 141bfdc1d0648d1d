"""The training loop, from the top to the bottom of a run."""

from __future__ import annotations

import math
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ingram.errors import ConfigError, DivergedError, RunError
from ingram.evaluation.metrics import overall
from ingram.evaluation.ranking import KnownAnswers, rank
from ingram.graph import Dataset, KnowledgeGraph
from ingram.io.folder import hold_out, read_dataset
from ingram.kernels.triple_scores import triple_scores
from ingram.models.ingram import InGram
from ingram.training.checkpoints import Progress, RunDirectory
from ingram.training.config import PRESETS, Config
from ingram.training.epochs import VALIDATION, Epoch, Epochs
from ingram.training.interrupts import Interrupts
from ingram.training.objectives import margin_loss


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
class Outcome:
    """What a run came to: the best model, its validation figures, and how the run ended."""

    model: InGram
    best: dict[str, Any]
    epoch: int
    seconds: float
    collapses: list[dict[str, Any]]
    stopped: str


def fit(
    data: Dataset | KnowledgeGraph | str | Path,
    *,
    preset: str = "default",
    output: str | Path | None = None,
    epochs: int | None = None,
    seed: int = 0,
    minutes: float | None = None,
    settings: dict[str, Any] | None = None,
    listener: Listener | None = None,
) -> InGram:
    """Train on a dataset and return the model that was best on validation.

    ``data``: a :class:`Dataset`, the path of a dataset folder or triples file, or a graph, a part
    of which is then held out. ``output``: a run directory to keep; without it nothing is left on
    disk. ``settings``: single values of the
    configuration, such as ``{"model.bins": 5}``.
    """
    changes = {"training.seed": seed, **(settings or {})}
    if epochs is not None:
        changes["training.epochs"] = epochs
    if preset not in PRESETS:
        raise ConfigError(f"no preset {preset!r}; known are {', '.join(PRESETS)}")
    config = PRESETS[preset].with_settings(changes)
    if isinstance(data, KnowledgeGraph):
        data = hold_out(data, "graph", seed=seed)
    elif not isinstance(data, Dataset):
        data = read_dataset(data, seed=seed)
    with ExitStack() as stack:
        if output is None:
            output = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "run"
        outcome = train(data, config, RunDirectory(output), minutes=minutes, listener=listener)
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    return outcome.model


def train(
    dataset: Dataset,
    config: Config,
    run: RunDirectory,
    *,
    resume: bool = False,
    minutes: float | None = None,
    listener: Listener | None = None,
) -> Outcome:
    """Train in a run directory, or go on where the run in it stopped.

    Ctrl-C, or ``minutes`` running out, ends the run after the epoch it is at, with a checkpoint;
    resuming then gives the same bits as a run that was left alone. A second Ctrl-C ends it at
    once, and resuming goes on from the last validation.
    """
    return _Run(dataset, config, run, listener or Listener()).go(resume, minutes)


class _Run:
    def __init__(
        self, dataset: Dataset, config: Config, run: RunDirectory, listener: Listener
    ) -> None:
        self.dataset, self.config, self.run, self.listener = dataset, config, run, listener
        self.settings = config.training
        self.epochs = Epochs(dataset.train, config)
        self.known = KnownAnswers.of(dataset)
        self.model = InGram(config.model, seed=self.settings.seed)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=self.settings.learning_rate, fused=True
        )
        self.progress = Progress(learning_rate=self.settings.learning_rate)

    def go(self, resume: bool, minutes: float | None) -> Outcome:
        if resume:
            self.progress = self.run.load_checkpoint("last", self.model, self.optimizer)
            self.run.keep_metrics(self.progress.epoch)
            self._set_rate()
        else:
            self.run.create(self.config)
        started = time.monotonic() - self.progress.seconds
        deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
        stopped = "finished"
        with Interrupts() as interrupts:
            self.listener.started(self.progress.epoch, self.settings.epochs)
            for number in range(self.progress.epoch + 1, self.settings.epochs + 1):
                if interrupts.noted:
                    break
                epoch = self.epochs.prepare(number)
                loss = self.step(epoch)
                self.progress.epoch = epoch.number
                self.progress.loss_sum += loss
                self.progress.loss_count += 1
                self.progress.seconds = time.monotonic() - started
                self.listener.epoch(epoch.number, loss)
                due = epoch.number % self.settings.validate_every == 0
                out_of_time = time.monotonic() > deadline
                if due or epoch.number == self.settings.epochs or not math.isfinite(loss):
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
            self.run.save_checkpoint("last", self.model, self.optimizer, self.progress)
        return self._outcome(stopped)

    def step(self, epoch: Epoch) -> float:
        """One optimiser step: F_tr is the message graph, the whole of T_tr the batch."""
        entities, relations = self.model(epoch.graph, epoch.features)
        scores = triple_scores(entities[0], relations[0], epoch.triples)
        positive, negative = scores[: epoch.positives], scores[epoch.positives :]
        loss = margin_loss(
            positive, negative.view(-1, self.settings.negatives), self.settings.margin
        )
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        return loss.item()

    def validate(self) -> bool:
        """Rank the validation triples, keep the best weights, watch for a collapse.

        False if the run cannot go on.
        """
        progress, draws = self.progress, self.config.evaluation.draws
        features = [self.settings.seed, VALIDATION, progress.epoch]
        loss = progress.loss_sum / max(progress.loss_count, 1)
        progress.loss_sum, progress.loss_count = 0.0, 0
        figures: dict[str, float] = {"mrr": 0.0}
        try:
            embeddings = self.model.embed(self.dataset.inference, seed=features, draws=draws)
            ranks = rank(
                embeddings, self.dataset.valid, self.known, self.dataset.inference.num_entities
            )
            figures = overall(ranks, ties=self.config.evaluation.ties)
        except DivergedError:
            loss = math.nan
        trouble = progress.watch.judge(loss, figures["mrr"], self.dataset.inference.num_entities)
        record: dict[str, Any] = {
            "epoch": progress.epoch,
            "loss": loss if math.isfinite(loss) else None,
            **{k: v for k, v in figures.items() if k != "queries"},
            "learning_rate": progress.learning_rate,
            "seconds": round(progress.seconds, 3),
        }
        if trouble:
            record["collapse"] = trouble
        self.run.append_metrics(record)
        progress.stale += 1
        if math.isfinite(loss) and figures["mrr"] > progress.best.get("mrr", 0.0):
            progress.stale = 0
            progress.best = {k: record[k] for k in ("epoch", *figures) if k in record}
            self.model.save(
                self.run.model_path,
                {"valid": progress.best, "features": features, "draws": draws},
            )
        self.listener.validated(record)
        if trouble and not self._handle(trouble, math.isfinite(loss)):
            return False
        self.run.save_checkpoint("last", self.model, self.optimizer, progress)
        if not trouble and progress.watch.healthy:
            self.run.save_checkpoint("good", self.model, self.optimizer, progress)
        return True

    def _handle(self, trouble: str, finite: bool) -> bool:
        progress = self.progress
        event: dict[str, Any] = {"epoch": progress.epoch, "why": trouble, "returned_to": None}
        progress.collapses.append(event)
        can_return = self.run.checkpoint_path("good").exists()
        if self.settings.on_collapse == "recover" and can_return:
            good = self.run.load_checkpoint("good", self.model, self.optimizer)
            progress.watch = good.watch
            progress.learning_rate *= self.settings.recovery_rate
            self._set_rate()
            event |= {"returned_to": good.epoch, "learning_rate": progress.learning_rate}
        self.listener.collapsed(event)
        return finite or event["returned_to"] is not None

    def _set_rate(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.progress.learning_rate

    def _outcome(self, stopped: str) -> Outcome:
        model = self.model
        if self.run.model_path.exists():
            model = InGram.load(self.run.model_path)
        elif stopped == "diverged":
            raise DivergedError(
                f"training diverged at epoch {self.progress.epoch} before its first validation; "
                "lower training.learning_rate"
            )
        p = self.progress
        return Outcome(model, p.best, p.epoch, p.seconds, p.collapses, stopped)


def resume_config(run: RunDirectory, epochs: int | None) -> Config:
    """The configuration of a run to resume, with more epochs if asked."""
    config = run.config()
    if not run.checkpoint_path().exists():
        raise RunError(f"{run.path}: no checkpoint to resume from; train anew elsewhere")
    return config if epochs is None else config.with_settings({"training.epochs": epochs})
