"""What a run tells, while it goes and at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ingram.models import InGram, InGramQ


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

    def save_failed(self, why: str) -> None:
        """Something could not be written; the run waits and tries again."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run came to: the best model, its validation figures, and how the run ended.

    ``stopped``: finished, no better validation, out of time, diverged, interrupted (Ctrl-C) or
    terminated (by another signal).
    """

    model: InGram | InGramQ
    best: dict[str, Any]
    epoch: int
    seconds: float
    collapses: list[dict[str, Any]]
    stopped: str
