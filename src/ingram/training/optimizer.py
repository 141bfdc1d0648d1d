"""AdamW after gradient clipping, as :mod:`ingram.kernels.adam` does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ingram.kernels.adam import Parameters


def clipping(norm: float, limit: float) -> float:
    """What gradients of such a norm are multiplied by, so that it is no more than the limit."""
    return min(1.0, limit / (norm + 1e-6))


class ClippedAdamW(torch.optim.AdamW):
    """torch's AdamW with torch's state, for parameters of one type on a CPU."""

    _found: Parameters | None = None

    @torch.no_grad()
    def gradient_norm(self) -> float:
        """Of all gradients together. The next step takes the gradients as they are now."""
        self._found = self._parameters()
        return 0.0 if self._found is None else self._found.gradient_norm()

    @torch.no_grad()
    def step(  # type: ignore[override]
        self, closure: Callable[[], float] | None = None, scale: float = 1.0
    ) -> None:
        """One step, with gradients multiplied by ``scale``."""
        if closure is not None:
            raise TypeError("a closure is not taken: compute the loss and its gradient before")
        found, self._found = self._found or self._parameters(), None
        if found is not None:
            group = self.param_groups[0]
            found.step(scale, group["lr"], group["betas"], group["eps"], group["weight_decay"])

    def _parameters(self) -> Parameters | None:
        rows = list[tuple[Tensor, ...]]()
        for p in self.param_groups[0]["params"]:
            if p.grad is not None:
                state: dict[str, Any] = self.state[p]
                if not state:
                    state["step"] = p.new_zeros(())
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                moments = (state["exp_avg"], state["exp_avg_sq"], state["step"])
                rows.append((p.grad.contiguous(), p, *moments))
        return Parameters(rows) if rows else None
