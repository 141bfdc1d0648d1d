"""Run directories among others: how each ended, and what was found in a folder of them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingram.errors import RunError
from ingram.experiments.environment import environment
from ingram.io.atomic import write_text
from ingram.io.lines import short
from ingram.training.checkpoints import RunDirectory
from ingram.training.listener import Outcome

OUTCOME, TEST = "outcome.json", "test.json"
ENDED = ("finished", "no better validation", "diverged")
"""Ways in which training ends for good."""


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object of a run."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RunError(f"{path}: no such file") from error
    except (ValueError, OSError, RecursionError) as error:
        reason = short(str(error))
        raise RunError(
            f"{path}: want JSON, got {reason}; remove it to have it made anew"
        ) from error
    if not isinstance(value, dict):
        raise RunError(f"{path}: want a JSON object, got {type(value).__name__}")
    return value


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file by a JSON object on one line."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def record_outcome(run: RunDirectory, outcome: Outcome | None, command: str) -> None:
    """Write down how training ended, by which command and with what.

    ``outcome`` is None where training diverged before there were weights to keep. A run that was
    resumed keeps the commands before.
    """
    about = {
        "stopped": "diverged" if outcome is None else outcome.stopped,
        "epoch": 0 if outcome is None else outcome.epoch,
        "seconds": 0.0 if outcome is None else round(outcome.seconds, 3),
        "collapses": [] if outcome is None else outcome.collapses,
        "commands": [*outcome_of(run.path).get("commands", []), command],
        "environment": environment(),
    }
    write_json(run.path / OUTCOME, about)


def outcome_of(path: Path) -> dict[str, Any]:
    """What :func:`record_outcome` wrote; empty if the run never came to an end."""
    return read_json(path / OUTCOME) if (path / OUTCOME).exists() else {}


def finished(run: RunDirectory) -> bool:
    """Whether training came to its end, or left nothing to go on from."""
    ended = outcome_of(run.path).get("stopped")
    if ended == "finished":
        return reached(run) >= run.config().training.epochs
    if ended in ENDED:
        return True
    if not (run.path / "config.yaml").exists() or run.checkpoints():
        return False  # resuming finds out, and loses nothing
    return not run.can_resume() or reached(run) >= run.config().training.epochs


@dataclass(frozen=True)
class Summary:
    """A run directory in a line. epochs: as set; state: tested, trained, interrupted or begun."""

    path: Path
    model: str
    epoch: int
    epochs: int
    valid_mrr: float | None
    test_mrr: float | None
    seconds: float | None
    bytes: int
    state: str


def summary(path: Path) -> Summary:
    """What a run directory holds."""
    run = RunDirectory(path)
    config, records, ended = run.config(), run.metrics(), outcome_of(path)
    tested = read_json(path / TEST) if (path / TEST).exists() else {}
    state = "begun"
    if tested:
        state = "tested"
    elif ended.get("stopped") in ENDED:
        state = "trained"
    elif run.can_resume():
        state = "interrupted"
    return Summary(
        path,
        config.model.name,
        reached(run),
        config.training.epochs,
        max((r["mrr"] for r in records), default=None),
        tested.get("mrr"),
        spent(run),
        sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
        state,
    )


def reached(run: RunDirectory) -> int:
    """The last epoch that is known to be done."""
    records = run.metrics()
    seen = records[-1]["epoch"] if records else 0
    return max(int(seen), int(outcome_of(run.path).get("epoch", 0)))


def spent(run: RunDirectory) -> float | None:
    """Seconds of training so far."""
    records, ended = run.metrics(), outcome_of(run.path)
    known = [r["seconds"] for r in records[-1:]] + [ended[k] for k in ended if k == "seconds"]
    return max(known, default=None)


def find_runs(paths: list[Path]) -> list[Path]:
    """Every run directory at or below the paths, in the order of their numbers."""
    found: set[Path] = set()
    for path in paths:
        if not path.is_dir():
            raise RunError(f"{path}: want a run directory or a folder of runs, found none")
        found |= {config.parent for config in path.rglob("config.yaml")}
    return sorted(found, key=lambda path: [_numbered(part) for part in path.parts])


def _numbered(part: str) -> list[tuple[int, str]]:
    """A sorting key by which seed-10 comes after seed-9."""
    words = re.findall(r"\d+|\D+", part)
    return [(int(word), "") if word.isdecimal() else (-1, word) for word in words]


def leftovers(path: Path) -> list[Path]:
    """What a run no longer needs: checkpoints once it is tested, all of it if nothing came of it.

    Weights and figures are never among them; an interrupted run keeps what it resumes from.
    """
    state = summary(path).state
    if state == "tested":
        return [path / "checkpoints"] if (path / "checkpoints").exists() else []
    return [path] if state == "begun" and not RunDirectory(path).model_path.exists() else []


def remove(path: Path) -> None:
    """A folder and all below it."""
    shutil.rmtree(path)
