"""A search for settings by validation, with optuna: resumable, pruned, by several processes.

study.db      optuna's storage: every trial with its settings, values and state
trials/N/     the run directory of trial N; one that was cut short goes on
best.yaml     the best settings so far, for ``--config``
report.html   history, importance, trials
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ingram.errors import ConfigError, DivergedError, MissingPackageError
from ingram.experiments.runs import record_outcome
from ingram.experiments.trackers import tracking
from ingram.graph import Dataset
from ingram.io.atomic import make_folders, write_text
from ingram.training import Config, Listener, QueryConfig, train
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import dump_config, parse_config

APPENDIX_C: dict[str, tuple[Any, ...]] = {
    "model.relation_hidden": (32, 64, 128, 256),
    "model.entity_hidden": (128, 256),
    "model.relation_layers": (1, 2, 3),
    "model.entity_layers": (2, 3, 4),
    "model.relation_heads": (8, 16),
    "model.entity_heads": (8, 16),
    "model.bins": (1, 5, 10),
    "training.margin": (1.0, 1.5, 2.0, 2.5),
    "training.learning_rate": (5e-4, 1e-3),
}
SPACES: dict[str, dict[str, tuple[Any, ...]]] = {
    "ingram": APPENDIX_C,
    "ingram-q": {
        "model.width": (16, 32, 48),
        "model.relation_layers": (2, 3, 4),
        "model.entity_layers": (3, 4, 5, 6),
        "model.bins": (1, 5, 10, 20),
        "training.learning_rate": (5e-4, 1e-3, 2e-3, 4e-3),
        "training.weight_decay": (0.0, 0.01, 0.1),
        "training.message_share": (0.6, 0.75, 0.9),
        "training.queries": (16, 32, 64),
    },
}
"""What is searched for each model; of the embedding model, the paper's own space."""
PATIENT = 5
"""Trials that end before others are judged by them."""
Hearing = Callable[[str], AbstractContextManager[Listener]]


@dataclass(frozen=True)
class Search:
    """What a search is: it may go on later, and in several processes, with the same values.

    config: what trials start from; epochs: of a trial, which the best settings do not keep.
    """

    folder: Path
    config: Config | QueryConfig
    trials: int
    epochs: int
    seed: int = 0

    @property
    def space(self) -> dict[str, tuple[Any, ...]]:
        """Without what the start's objective does not read, and with the start's own values."""
        start, space = self.config.model_dump(), dict[str, tuple[Any, ...]]()
        for name, values in SPACES[self.config.model.name].items():
            section, key = name.split(".")
            if name not in self.config.unread:
                space[name] = tuple(sorted({*values, start[section][key]}))
        return space

    def study(self, worker: int = 0) -> Any:
        """The study on disk, made if it is not there."""
        optuna = optuna_package()
        address = f"sqlite:///{(self.folder / 'study.db').resolve()}"
        done = worker
        if (self.folder / "study.db").exists():
            done += 1_000 * len(optuna.load_study(study_name="ingram", storage=address).trials)
        study = optuna.create_study(
            study_name="ingram",
            storage=address,
            direction="maximize",
            load_if_exists=True,
            sampler=optuna.samplers.TPESampler(seed=self.seed + done, constant_liar=True),
            pruner=optuna.pruners.MedianPruner(PATIENT, n_warmup_steps=self.epochs // 4),
        )
        self._want_same(study)
        return study

    def _want_same(self, study: Any) -> None:
        """A study is about one start and one budget: values of others cannot be compared."""
        kept = study.user_attrs
        if "config" not in kept:
            study.set_user_attr("epochs", self.epochs)
            study.set_user_attr("config", dump_config(self.config))
            return
        what = None
        if kept["epochs"] != self.epochs:
            what = f"{kept['epochs']:,} epochs a trial"
        elif parse_config(kept["config"].encode(), str(self.folder)) != self.config:
            what = "other settings"
        if what:
            raise ConfigError(
                f"{self.folder}: holds a study begun with {what}; ask for the same, or choose "
                "another -o"
            )

    def prepare(self) -> None:
        """Make the study; queue the settings it starts from, and the trials that were cut short."""
        states = optuna_package().trial.TrialState
        make_folders(self.folder / "trials")
        study = self.study()
        if not study.trials:
            plain = self.config.model_dump()
            names = {name: name.split(".") for name in self.space}
            study.enqueue_trial({name: plain[s][k] for name, (s, k) in names.items()})
        for trial in study.get_trials(states=(states.RUNNING,)):
            study.tell(trial.number, state=states.FAIL)
            study.enqueue_trial(trial.params, user_attrs={"run": run_of(trial)})

    def ended(self, study: Any) -> int:
        """Trials that need not be made again."""
        states = optuna_package().trial.TrialState
        return len(study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED)))

    def settings(self, params: dict[str, Any]) -> Config | QueryConfig:
        """The settings of a trial, with the epochs of the start."""
        return self.config.with_settings(params)


def run_trials(
    search: Search,
    datasets: list[Dataset],
    hearing: Hearing,
    say: Callable[[str], None],
    command: str,
    worker: int = 0,
) -> str | None:
    """Trial after trial until there are enough; returns the signal's name if one ended it."""
    study = search.study(worker)
    while search.ended(study) < search.trials:
        stopped = _trial(search, study, datasets, hearing, say, command)
        if stopped in ("interrupted", "terminated"):
            return stopped
    return None


def _trial(
    search: Search,
    study: Any,
    datasets: list[Dataset],
    hearing: Hearing,
    say: Callable[[str], None],
    command: str,
) -> str:
    optuna = optuna_package()
    states = optuna.trial.TrialState
    trial = study.ask()
    params = {n: trial.suggest_categorical(n, values) for n, values in search.space.items()}
    run = RunDirectory(search.folder / "trials" / run_of(trial))
    budget = {"training.epochs": search.epochs, "training.seed": search.seed}
    try:
        config = search.settings(params).with_settings(budget)
    except ConfigError as error:
        study.tell(trial, state=states.PRUNED)
        say(f"trial {trial.number}: {error}")
        return "refused"
    judge = _Judge(trial)
    resume = (run.path / "config.yaml").exists()
    for record in run.metrics() if resume else []:
        trial.report(record["mrr"], record["epoch"])
    try:
        with (
            hearing(f"trial {trial.number}") as screen,
            tracking((), run, config, screen, judge) as listener,
        ):
            outcome = train(datasets, config, run, resume=resume, listener=listener)
    except (optuna.TrialPruned, DivergedError) as error:
        study.tell(trial, state=states.PRUNED)
        why = "pruned" if isinstance(error, optuna.TrialPruned) else "diverged"
        say(f"trial {trial.number}: {why}")
        return why
    record_outcome(run, outcome, command)
    if outcome.stopped not in ("interrupted", "terminated"):
        study.tell(trial, outcome.best["mrr"])
        best = study.best_trial
        say(
            f"trial {trial.number}: validation MRR {outcome.best['mrr']:.3f}; the best is "
            f"{best.value:.3f}, trial {best.number}"
        )
    return outcome.stopped


class _Judge(Listener):
    """Ends a trial whose validation falls behind the others'."""

    def __init__(self, trial: Any) -> None:
        self.trial = trial

    def validated(self, record: dict[str, Any]) -> None:
        self.trial.report(record["mrr"], record["epoch"])
        if self.trial.should_prune():
            raise optuna_package().TrialPruned


def run_of(trial: Any) -> str:
    """The name of a trial's run directory; one that goes on has that of the trial cut short."""
    return str(trial.user_attrs.get("run", trial.number))


def write_best(search: Search, study: Any, command: str) -> Path | None:
    """``best.yaml``, with what it is the best of; None before a trial is complete."""
    states = optuna_package().trial.TrialState
    if not study.get_trials(deepcopy=False, states=(states.COMPLETE,)):
        return None
    best = study.best_trial
    said = (
        f"# The best of {search.ended(study):,} trials of {search.epochs:,} epochs: number "
        f"{best.number}, validation MRR {best.value:.4f}.\n# {' '.join(command.split())}\n"
    )
    path = search.folder / "best.yaml"
    write_text(path, said + dump_config(search.settings(best.params)))
    return path


def optuna_package() -> Any:
    """Optuna, which only this needs, and quiet: what it does is said here."""
    try:
        optuna = import_module("optuna")
    except ImportError as error:
        raise MissingPackageError(
            'tuning needs optuna, which is not installed: pip install "ingram[tune]"'
        ) from error
    logging.getLogger("optuna").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
