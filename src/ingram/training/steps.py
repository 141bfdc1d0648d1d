"""The optimiser steps of an epoch."""

from __future__ import annotations

import math

import torch

from ingram.training.config import TrainingConfig
from ingram.training.diagnosis import bad_gradient, origin_of_loss
from ingram.training.learners import Learner
from ingram.training.schedules import rate_at
from ingram.training.state import State


class Steps:
    """Moves a state forward, an epoch at a time.

    ``trouble_at`` says where numbers stopped being finite, once they did.
    """

    def __init__(self, state: State, learner: Learner, settings: TrainingConfig) -> None:
        self.state, self.learner, self.settings = state, learner, settings
        self.trouble_at = ""

    def epoch(self, number: int) -> float:
        """The mean loss of epoch ``number``, or NaN if a number was not finite.

        A step is made only with finite gradients, so the weights stay what they were.
        """
        model, losses = self.state.model, list[float]()
        for loss in self.learner.losses(model, number):
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                again = self.learner.losses(model, number)
                self.trouble_at = origin_of_loss(model, again, len(losses) - 1)
                return math.nan
            self._set_rate(number, len(losses) - 1)
            self.state.optimizer.zero_grad()
            loss.backward()
            norm = self.state.optimizer.clipped_step(self.settings.clip_norm)
            if at := bad_gradient(model, norm):
                self.trouble_at = at
                return math.nan
            if self.state.average is not None:
                self._add_to_average(number)
        if number == 1:
            self.state.progress.watch.first_loss = losses[0]
        return sum(losses) / len(losses)

    def _set_rate(self, number: int, step: int) -> None:
        done = number - 1 + step / getattr(self.settings, "steps", 1)
        rate = self.state.progress.learning_rate
        rate *= rate_at(done / self.settings.epochs, self.settings)
        for group in self.state.optimizer.param_groups:
            group["lr"] = rate

    @torch.no_grad()
    def _add_to_average(self, number: int) -> None:
        """The younger the run, the less of the past is kept: it is not worth much yet."""
        assert self.state.average is not None
        kept = min(self.settings.averaging, number / (number + 10))
        pairs = zip(self.state.average.parameters(), self.state.model.parameters(), strict=True)
        for slow, fast in pairs:
            slow.lerp_(fast, 1 - kept)
