"""Questions in, tables of answers out: the best few, by batches under a memory budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl
import torch
from torch import Tensor

from ingram.answers.batches import scored_batches
from ingram.answers.candidates import ALL, Candidates
from ingram.answers.known import ORDER
from ingram.answers.loops import take_out
from ingram.errors import QueryError, UnknownLabelError
from ingram.graph import Ids, KnowledgeGraph
from ingram.kernels.top_k import top_k
from ingram.labels import FIELDS, Vocabulary

if TYPE_CHECKING:
    from ingram.answers.scorer import GraphScorer

KNOWN = ("hide", "mark", "keep")
ASKED = -1
"""Stands for the part that is asked for, in questions of ids."""
ROWS = 2**18
"""Answers that are made into one table."""

Scores = npt.NDArray[np.floating]


Progress = Callable[[int, int], None]
"""What hears how much is done, and of how much."""


def silent(done: int, total: int) -> None:
    """Hears nothing."""


@dataclass(frozen=True, eq=False)
class Ask:
    """How to answer. k: how many answers a question gets.

    known: ``hide`` leaves out answers that are facts already, ``mark`` says in a column ``known``
    which ones are, ``keep`` makes no difference between them.
    """

    k: int = 10
    known: str = "mark"
    candidates: Candidates = ALL

    def __post_init__(self) -> None:
        if self.known not in KNOWN:
            raise QueryError(f"known: want one of {', '.join(KNOWN)}, got {self.known!r}")
        if self.k < 1:
            raise QueryError(f"k: want at least one answer, got {self.k}")


def vocabularies(graph: KnowledgeGraph) -> tuple[Vocabulary, Vocabulary, Vocabulary]:
    """Those of head, relation and tail."""
    return graph.entities, graph.relations, graph.entities


def encode_queries(graph: KnowledgeGraph, queries: pl.DataFrame, name: str = "queries") -> Ids:
    """(Q, 3) ids, ASKED in the one part that is null, empty or ``?``."""
    if missing := [field for field in FIELDS if field not in queries.columns]:
        raise QueryError(f"{name}: want columns head, relation, tail, got no {missing[0]}")
    text = queries.select(pl.col(FIELDS).cast(pl.String).fill_null("").replace({"?": ""}))
    asked = text.select(pl.sum_horizontal(pl.col(FIELDS) == "")).to_series()
    if len(bad := (asked != 1).arg_true()):
        raise QueryError(
            f"{name}: query {bad[0] + 1}: want one of head, relation and tail to be asked for "
            f"(empty or ?) and the others given, got {text.row(bad[0])}"
        )
    columns = []
    for field, vocabulary in zip(FIELDS, vocabularies(graph), strict=True):
        ids = vocabulary.ids(text[field])
        if len(unknown := (ids.is_null() & (text[field] != "")).arg_true()):
            try:
                vocabulary.id(text[field][unknown[0]])
            except UnknownLabelError as error:
                raise UnknownLabelError(f"{name}: query {unknown[0] + 1}: {error}") from error
        columns.append(ids.fill_null(ASKED).to_numpy())
    return np.stack(columns, axis=1).astype(np.int64)


def answer(
    scorer: GraphScorer,
    queries: Ids,
    ask: Ask,
    progress: Progress = silent,
) -> Iterator[pl.DataFrame]:
    """Tables of answers to queries (Q, 3), in their order; together they are one tidy table.

    Columns: query (its row, from 1), head, relation, tail, score, rank, known if marked, and
    probability if the scorer is calibrated. Equal scores keep the order of ids. ``progress`` hears
    of queries answered, and of how many there are.
    """
    wide = max(scorer.graph.num_entities, scorer.graph.num_relations, 1)
    rows = max(1, ROWS // min(ask.k, wide))
    allowed = {
        field: ask.candidates.named(vocabulary)
        for field, vocabulary in zip(FIELDS, vocabularies(scorer.graph), strict=True)
        if (queries[:, FIELDS.index(field)] == ASKED).any()
    }
    for start in range(0, max(len(queries), 1), rows):
        part = queries[start : start + rows]
        found = _best(scorer, part, ask, allowed, partial(_hear, progress, start, len(queries)))
        table = _table(scorer, part, found, mark=ask.known == "mark")
        yield table.with_columns(pl.col("query") + start + 1)


def _hear(progress: Progress, before: int, total: int, done: int) -> None:
    progress(before + done, total)


@dataclass(frozen=True, eq=False)
class _Found:
    """Answers, (A,) each: the row of the query, the place from 0, the id and the score."""

    rows: Ids
    places: Ids
    ids: Ids
    scores: Scores


def _best(
    scorer: GraphScorer,
    queries: Ids,
    ask: Ask,
    allowed: dict[str, Ids | None],
    progress: Callable[[int], None],
) -> _Found:
    found: list[tuple[Ids, Ids, Ids, Scores]] = []
    done = 0
    for side, relation, group in _groups(queries, by_relation=ask.candidates.typed):
        only = allowed[side]
        if relation is not None:
            typed = scorer.roles.of(relation, side)
            only = typed if only is None else np.intersect1d(only, typed, assume_unique=True)
        first, second = (queries[group, column] for column in ORDER[side][:2])
        width = scorer.graph.num_relations if side == "relation" else scorer.graph.num_entities
        scored = scored_batches(partial(scorer.side_scores, side=side), first, second, width)
        for some, scores in scored:
            if side == "relation":
                take_out(scores)
            else:  # no pass over all entities for the sake of one
                asked = torch.from_numpy(first[some]), torch.from_numpy(second[some])
                scorer.lower_loops(scores, *asked, -torch.inf)
            if ask.known == "hide":
                hide(scores, *scorer.known.of_queries(first[some], second[some], side))
            best, ids = best_of(scores, ask.k, only)
            rows, places = np.nonzero(ids >= 0)
            found.append((group[some][rows], places, ids[rows, places], best[rows, places]))
            done += len(scores)
            progress(done)
    if not found:
        nothing = np.empty(0, np.int64)
        return _Found(nothing, nothing, nothing, np.empty(0))
    columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
    order = np.lexsort((columns[1], columns[0]))
    return _Found(*(column[order] for column in columns))


def _groups(queries: Ids, *, by_relation: bool) -> Iterator[tuple[str, int | None, Ids]]:
    """Rows of queries that ask for the same side, and for the same relation if wanted."""
    asked = (queries == ASKED).argmax(axis=1)
    for column, side in enumerate(FIELDS):
        rows = np.flatnonzero(asked == column)
        if not len(rows):
            continue
        if not by_relation:
            yield side, None, rows
            continue
        if side == "relation":
            raise QueryError(
                "typed candidates are entities, but a query asks for a relation; leave out typed"
            )
        relations = queries[rows, 1]
        for relation in np.unique(relations).tolist():
            yield side, relation, rows[relations == relation]


def hide(scores: Tensor, pointers: Ids, answers: Ids) -> None:
    """Take the answers of each row out of the running, in place."""
    rows = np.repeat(np.arange(len(scores)), np.diff(pointers))
    places = [torch.from_numpy(a).to(scores.device) for a in (rows, answers)]
    scores[places[0], places[1]] = -torch.inf


def best_of(scores: Tensor, k: int, only: Ids | None = None) -> tuple[Scores, Ids]:
    """The k best of each row and their ids, (Q, k) each, ids -1 where a row has fewer.

    ``only``: the ids to choose from, in order; all if None.
    """
    if only is not None:
        scores = scores[:, torch.from_numpy(only.copy()).to(scores.device)]
    best, columns = (t.cpu().numpy() for t in top_k(scores, k))
    if only is not None and len(only):
        columns = np.where(columns >= 0, only[columns], -1)
    return best, columns


def _table(scorer: GraphScorer, queries: Ids, found: _Found, *, mark: bool) -> pl.DataFrame:
    triples = queries[found.rows]
    triples = np.where(triples == ASKED, found.ids[:, None], triples)
    table = pl.DataFrame({"query": found.rows}).hstack(scorer.graph.decode(triples))
    table = table.with_columns(
        score=pl.Series(found.scores, dtype=pl.Float64),
        rank=pl.Series(found.places + 1, dtype=pl.Int64),
    )
    if mark:
        table = table.with_columns(known=pl.Series(scorer.known.contains(triples)))
    return with_probability(table, scorer)


def with_probability(table: pl.DataFrame, scorer: GraphScorer) -> pl.DataFrame:
    """The table with a column ``probability`` of its scores, if the scorer is calibrated."""
    if scorer.calibration is None:
        return table
    return table.with_columns(
        probability=pl.Series(scorer.calibration.probability(table["score"].to_numpy()))
    )
