"""What training lowers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ingram.training.questions import Questions


def margin_loss(positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Mean of max(0, margin - f(true) + f(false)) over all pairs (section 5.3).

    positive: (T,) scores; negative: (T, N) scores of each one's corruptions. The paper writes a
    sum; its published system takes the mean.
    """
    return (margin - positive.unsqueeze(1) + negative).relu().mean()


def masked_cross_entropy(scores: Tensor, questions: Questions, power: float = 0.0) -> Tensor:
    """Mean of -log p, the softmax at each answer over all entities that are candidates.

    scores: (Q, n). With a ``power`` q, the mean of (1 - p^q) / q: its gradient is p^q times that of
    -log p, so that a question nobody could answer counts less. It tends to -log p as q does to 0.
    """
    masked = scores.index_put((questions.rows, questions.others), scores.new_full((), -torch.inf))
    if not power:
        return nn.functional.cross_entropy(masked, questions.answers)
    losses = nn.functional.cross_entropy(masked, questions.answers, reduction="none")
    return -torch.expm1(-power * losses).mean() / power
