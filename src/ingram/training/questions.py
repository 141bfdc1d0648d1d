"""Targets as questions: a triple is asked for its tail and for its head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ingram.answers import KnownAnswers
from ingram.graph import Ids
from ingram.splits import Facts


@dataclass(frozen=True, eq=False)
class Questions:
    """Q questions (anchor, relation, ?), relations in [0, 2m): an inverse asks for the head.

    anchors, relations, answers: (Q,). Other true answers stand as pairs (row, entity) in ``rows``
    and ``others``.
    """

    anchors: Tensor
    relations: Tensor
    answers: Tensor
    rows: Tensor
    others: Tensor


class TrueAnswers:
    """All that a training graph states, so that what is true is not learned to be false."""

    def __init__(self, graph: Facts) -> None:
        self.known = KnownAnswers(graph.triples, graph.num_relations)
        self.num_relations = graph.num_relations

    def ask(self, triples: Ids) -> Questions:
        """Each triple from both sides: first all tails, then all heads."""
        heads, relations, tails = triples.T
        sides = [
            self.known.of_queries(given, relations, side)
            for given, side in ((heads, "tail"), (tails, "head"))
        ]
        counts = np.concatenate([np.diff(pointers) for pointers, _ in sides])
        others = np.concatenate([entities for _, entities in sides])
        rows = np.repeat(np.arange(2 * len(triples)), counts)
        answers = np.concatenate([tails, heads])
        wrong = others != answers[rows]
        return Questions(
            torch.from_numpy(np.concatenate([heads, tails])),
            torch.from_numpy(np.concatenate([relations, relations + self.num_relations])),
            torch.from_numpy(answers),
            torch.from_numpy(rows[wrong]),
            torch.from_numpy(others[wrong]),
        )
