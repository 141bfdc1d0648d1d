"""Answers that name the question's own entity: (v, r, v)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ingram.splits import Facts

LOWEST = -1e6
"""The score of a loop that is no answer: below every other, and finite."""


def loopless(graph: Facts) -> npt.NDArray[np.bool_]:
    """(m,): relations of which no fact joins an entity to itself."""
    heads, relations, tails = graph.triples.T
    found = np.ones(graph.num_relations, np.bool_)
    found[relations[heads == tails]] = False
    return found


def take_out(scores: Tensor) -> None:
    """Put loops that are no answers beyond all ranking, in place."""
    scores[scores == LOWEST] = -torch.inf


def with_own(
    pointers: Tensor, excluded: Tensor, rows: Tensor, own: Tensor, num_entities: int
) -> tuple[Tensor, Tensor]:
    """Row pointers (Q + 1,) and exclusions, ascending, with ``own`` (R,) of ``rows`` among them."""
    if not len(rows):
        return pointers, excluded
    count = len(pointers) - 1
    of = torch.arange(count).repeat_interleave(pointers.diff())
    keys = torch.cat([of * num_entities + excluded, rows * num_entities + own]).unique()
    return torch.searchsorted(keys, torch.arange(count + 1) * num_entities), keys % num_entities
