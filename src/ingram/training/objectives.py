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


def masked_cross_entropy(scores: Tensor, questions: Questions) -> Tensor:
    """Mean of -log softmax at each answer, over all entities but the other true answers.

    scores: (Q, n).
    """
    masked = scores.index_put((questions.rows, questions.others), scores.new_full((), -torch.inf))
    return nn.functional.cross_entropy(masked, questions.answers)
