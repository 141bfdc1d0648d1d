"""Targets as questions: a triple is asked for its tail and for its head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ingram.answers import KnownAnswers
from ingram.answers.loops import loopless
from ingram.graph import Ids
from ingram.models.config import Loops
from ingram.splits import Facts


@dataclass(frozen=True, eq=False)
class Questions:
    """Q questions (anchor, relation, ?), relations in [0, 2m): an inverse asks for the head.

    anchors, relations, answers: (Q,). Entities that are no candidates, other true answers above
    all, stand as pairs (row, entity) in ``rows`` and ``others``.
    """

    anchors: Tensor
    relations: Tensor
    answers: Tensor
    rows: Tensor
    others: Tensor


class TrueAnswers:
    """All that a training graph states, so that what is true is not learned to be false.

    Where only stated ``loops`` count, an anchor is no candidate if the relation has none.
    """

    def __init__(self, graph: Facts, loops: Loops = "any") -> None:
        self.known = KnownAnswers(graph.triples, graph.num_relations)
        self.num_relations = graph.num_relations
        self.loopless = loopless(graph) & (loops == "stated")

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
        anchors, answers = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        wrong = others != answers[rows]
        own = np.flatnonzero(np.tile(self.loopless[relations], 2))
        return Questions(
            torch.from_numpy(anchors),
            torch.from_numpy(np.concatenate([relations, relations + self.num_relations])),
            torch.from_numpy(answers),
            torch.from_numpy(np.concatenate([rows[wrong], own])),
            torch.from_numpy(np.concatenate([others[wrong], anchors[own]])),
        )
