"""AdamW after gradient clipping, as :mod:`ingram.kernels.adam` does it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from ingram.kernels.adam import Parameters


class ClippedAdamW(torch.optim.AdamW):
    """torch's AdamW with torch's state, for parameters of one type on a CPU."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        *,
        lr: float = 1e-3,
        weight_decay: float = 0.0,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters, lr=lr, weight_decay=weight_decay, betas=betas, eps=eps)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if self.param_groups:
            raise ValueError("all parameters are of one group")
        super().add_param_group(param_group)

    @torch.no_grad()
    def clipped_step(self, limit: float) -> float:
        """A step with gradients whose norm is at most the limit; the norm as it was.

        If that is not finite, no step is made.
        """
        group, rows = self.param_groups[0], list[tuple[Tensor, ...]]()
        for p in group["params"]:
            if p.grad is not None:
                state: dict[str, Any] = self.state[p]
                if not state:
                    state["step"] = p.new_zeros(())
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                moments = (state["exp_avg"], state["exp_avg_sq"], state["step"])
                rows.append((p.grad.contiguous(), p, *moments))
        if not rows:
            return 0.0
        parameters = Parameters(rows)
        norm = parameters.gradient_norm()
        if math.isfinite(norm):
            scale = min(1.0, limit / (norm + 1e-6))
            parameters.step(scale, group["lr"], group["betas"], group["eps"], group["weight_decay"])
        return norm
