"""Noticing a collapse: training that was going well and suddenly is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import ConfigDict

JUMP = 1.5
"""A loss this many times the best one is a jump."""
GROWTH = 10
"""A loss this many times the first epoch's, before any interval was good, diverges."""


@dataclass
class CollapseWatch:
    """Judges each validation interval by its mean loss and validation MRR.

    A collapse is a loss that is not finite; a loss that jumps and either stays for two intervals
    or takes the MRR below half of its best; a loss that has only grown since the first epoch; or
    an MRR back at chance. A loss with a power is bounded and cannot grow much: there it is the MRR
    that tells. The fields are its memory, kept in checkpoints.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    best_loss: float = math.inf
    best_mrr: float = 0.0
    jumped: bool = False
    first_loss: float = math.inf

    def judge(self, loss: float, mrr: float, chance: float) -> str | None:
        """Why this interval is a collapse, or None. ``chance``: the MRR of random ranks."""
        if not math.isfinite(loss):
            return "the loss is not finite"
        jumped = loss > JUMP * self.best_loss
        stays, self.jumped = jumped and self.jumped, jumped
        if jumped and (stays or mrr < self.best_mrr / 2):
            return f"the loss jumped from {self.best_loss:.3f} to {loss:.3f}"
        if math.isinf(self.best_loss) and loss > GROWTH * max(self.first_loss, 1.0):
            return f"the loss grew from {self.first_loss:.3f} at the first epoch to {loss:.3g}"
        if mrr < 2 * chance and self.best_mrr > 5 * chance:
            return f"the validation MRR fell from {self.best_mrr:.3f} to {mrr:.3f}, near chance"
        self.best_loss = min(self.best_loss, loss)
        self.best_mrr = max(self.best_mrr, mrr)
        return None

    @property
    def healthy(self) -> bool:
        """Whether the last interval is one to come back to."""
        return not self.jumped
