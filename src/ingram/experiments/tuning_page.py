"""``report.html`` of a search for settings: history, importance, trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from ingram.experiments.environment import environment
from ingram.experiments.figures import ACCENT, FAINT, LINE
from ingram.experiments.pages import escape, html_table, page, picture
from ingram.experiments.tuning import Search, optuna_package
from ingram.io.atomic import write_text
from ingram.training.config import dump_config

ENOUGH = 4
"""Complete trials before a word on what matters."""


def write_tuning_report(search: Search, study: Any, command: str) -> None:
    """The page of a study as far as it is."""
    states = optuna_package().trial.TrialState
    done = study.get_trials(deepcopy=False, states=(states.COMPLETE,))
    ended = study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED))
    parts = [
        "<h1>Search for settings</h1>",
        f"<p>{len(ended):,} trials of {search.epochs:,} epochs, {len(ended) - len(done):,} of them "
        "ended early because their validation fell behind the median or diverged. The test split "
        "was not looked at.</p>",
        "<h2>History</h2>",
        picture(history_figure([(t.number, t.value) for t in done])),
    ]
    if len(done) >= ENOUGH:
        parts += [
            "<h2>Importance</h2>",
            "<p>How much each setting tells good trials from the rest (PED-ANOVA); the values are "
            "parts of 1 and rough before there are dozens of trials.</p>",
            picture(importance_figure(importance(study))),
        ]
    parts += ["<h2>Trials</h2>", html_table(trials_table(ended))]
    if done:
        best = dump_config(search.settings(study.best_trial.params))
        parts += [f"<h2>Best settings: trial {study.best_trial.number}</h2>"]
        parts += [f"<pre>{escape(best)}</pre>"]
    lines = "\n".join(f"{name} {value}" for name, value in environment().items())
    parts += ["<h2>Command</h2>", f"<pre>{escape(command)}</pre>"]
    parts += ["<h2>Environment</h2>", f"<pre>{escape(lines)}</pre>"]
    write_text(search.folder / "report.html", page("ingram tune", "\n".join(parts)))


def importance(study: Any) -> dict[str, float]:
    """By setting, the greatest first."""
    optuna = optuna_package()
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(v) if math.isfinite(v) else 0.0 for name, v in found.items()}


def trials_table(trials: Sequence[Any]) -> pl.DataFrame:
    """The best first, then those that were ended early."""
    ordered = sorted(trials, key=lambda t: (*_place(t), t.number))
    return pl.DataFrame(
        [
            {
                "trial": str(t.number),
                "MRR": f"{t.value:.4f}" if t.state.name == "COMPLETE" else t.state.name.lower(),
                **{name.partition(".")[2]: f"{value:g}" for name, value in t.params.items()},
            }
            for t in ordered
        ]
    )


def _place(trial: Any) -> tuple[bool, float]:
    early = trial.state.name != "COMPLETE"
    return early, 0.0 if early else -trial.value


def history_figure(values: Sequence[tuple[int, float]]) -> Figure:
    """Each trial's validation MRR, and the best so far."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.subplots()
    numbers, found = [n for n, _ in values], [v for _, v in values]
    best = [max(found[: i + 1]) for i in range(len(found))]
    axes.scatter(numbers, found, color=FAINT, s=18, label="trial")
    axes.step(numbers, best, where="post", color=LINE, linewidth=1.8, label="best so far")
    axes.set_title("validation MRR", loc="left", fontsize=11)
    axes.set_xlabel("trial")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, alpha=0.3)
    axes.legend(frameon=False, fontsize=8)
    return figure


def importance_figure(values: Mapping[str, float]) -> Figure:
    """A bar a setting."""
    figure = Figure(figsize=(9, 0.35 * len(values) + 0.8), layout="constrained")
    axes = figure.subplots()
    names = list(values)[::-1]
    axes.barh(names, [values[name] for name in names], color=ACCENT, height=0.6)
    axes.set_title("importance", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
