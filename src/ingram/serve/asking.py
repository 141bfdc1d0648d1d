"""Many questions about one graph at once: what the batches of the service call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingram.answers import Ask, Candidates, GraphScorer
from ingram.answers import answer as answer_queries
from ingram.graph import Ids

Rows = list[dict[str, Any]]
"""A table of answers, row by row."""


@dataclass(frozen=True)
class Way:
    """How a question is to be answered; see Ask and Candidates."""

    k: int
    known: str
    typed: bool


@dataclass(frozen=True)
class Asked:
    """A question in ids, ASKED where the answer goes."""

    triple: tuple[int, int, int]
    way: Way


def answer(scorer: GraphScorer, questions: Sequence[Asked]) -> list[Rows]:
    """Ranked answers to each question; those to be answered in the same way go together."""
    answers: list[Rows] = [[] for _ in questions]
    for way in dict.fromkeys(question.way for question in questions):
        places = [i for i, question in enumerate(questions) if question.way == way]
        queries = np.array([questions[i].triple for i in places], np.int64)
        ask = Ask(way.k, way.known, Candidates(typed=way.typed))
        for table in answer_queries(scorer, queries, ask):
            for number, row in zip(table["query"], table.drop("query").to_dicts(), strict=True):
                answers[places[number - 1]].append(row)
    return answers


def score(scorer: GraphScorer, requests: Sequence[Ids]) -> list[list[float]]:
    """Scores of each request's triples (T, 3), all of them scored in one call."""
    sizes = np.cumsum([len(triples) for triples in requests])[:-1]
    scores = scorer.score(np.concatenate(requests)).cpu().numpy()
    return [part.tolist() for part in np.split(scores, sizes)]
