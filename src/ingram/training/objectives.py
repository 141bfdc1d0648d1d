"""What training lowers."""

from __future__ import annotations

from torch import Tensor


def margin_loss(positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Mean of max(0, margin - f(true) + f(false)) over all pairs (section 5.3).

    positive: (T,) scores; negative: (T, N) scores of each one's corruptions. The paper writes a
    sum; its published system takes the mean.
    """
    return (margin - positive.unsqueeze(1) + negative).relu().mean()
