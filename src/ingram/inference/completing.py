"""The most plausible missing triples of a whole graph, without holding the scores of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor

from ingram.answers import GraphScorer
from ingram.answers.asking import Progress, Scores, hide, silent, with_probability
from ingram.answers.batches import scored_batches
from ingram.answers.loops import loopless
from ingram.errors import QueryError
from ingram.graph import Ids
from ingram.io.formats import STDIN, format_of
from ingram.io.tables import TABLE_FORMATS, write_tables
from ingram.io.writing import WRITERS, write_triples
from ingram.kernels.top_k import top_k


def complete(
    scorer: GraphScorer,
    count: int = 1_000,
    *,
    per_relation: int | None = None,
    relations: Sequence[str] | None = None,
    all_heads: bool = False,
    typed: bool = False,
    progress: Progress = silent,
) -> pl.DataFrame:
    """The ``count`` triples that score best of those that are no facts, best first.

    Asks (h, r, ?) for each relation and each entity that is a head of it among the facts, or for
    every entity with ``all_heads``. ``typed``: tails only that are tails of the relation among the
    facts. A triple from an entity to itself is proposed only for relations that have such a fact.
    per_relation: at most so many of each relation. relations: labels of those to complete.

    Columns: head, relation, tail, score, rank, and probability if the scorer is calibrated. Equal
    scores keep the order of ids: relation, head, tail. ``progress`` hears of questions asked, and
    of how many there are.
    """
    if count < 1 or (per_relation is not None and per_relation < 1):
        raise QueryError(f"want at least one triple, got {min(count, per_relation or count)}")
    graph = scorer.graph
    chosen: Sequence[int] = range(graph.num_relations)
    if relations is not None:
        chosen = sorted({graph.relations.id(label) for label in relations})
    every = np.arange(graph.num_entities)
    heads = {r: every if all_heads else scorer.roles.of(r, "head") for r in chosen}
    without_loops = loopless(graph)
    asked, total = 0, sum(map(len, heads.values()))
    best = _Best(count)
    for relation, of_it in heads.items():
        here = best if per_relation is None else _Best(min(per_relation, count), best.floor)
        tails = scorer.roles.of(relation, "tail") if typed else None
        for some, scores in _missing(scorer, relation, of_it, loops=not without_loops[relation]):
            here.add(scores, relation, of_it[some], tails)
            asked += len(scores)
            progress(asked, total)
        if here is not best:
            best.take(*here.cut())
    return _table(scorer, *best.cut())


def want_triples_file(path: Path) -> None:
    """Refuse a file that a completion cannot be written to; ask this before long work."""
    kinds = {*WRITERS, *TABLE_FORMATS}
    if str(path) == STDIN or format_of(path) not in kinds or not path.parent.is_dir():
        raise QueryError(f"{path}: want a file in a folder to write {', '.join(sorted(kinds))} to")


def write_completion(found: pl.DataFrame, path: Path) -> None:
    """A file that reads as a graph: Parquet and JSON Lines with all columns, others the triples."""
    if format_of(path) in ("parquet", "jsonl"):
        write_tables([found], path)
    else:
        write_triples(found, path)


def _missing(
    scorer: GraphScorer, relation: int, heads: Ids, *, loops: bool
) -> Iterator[tuple[slice, Tensor]]:
    """Batches of scores of (h, relation, ?), the facts taken out, and loops unless wanted."""
    relations = np.full_like(heads, relation)
    score = partial(scorer.candidate_scores, side="tail")
    for some, scores in scored_batches(score, heads, relations, scorer.graph.num_entities):
        hide(scores, *scorer.known.of_queries(heads[some], relations[some], "tail"))
        if not loops:
            own = torch.from_numpy(heads[some].copy()).to(scores.device)
            scores.scatter_(1, own.unsqueeze(1), -torch.inf)
        yield some, scores


class _Best:
    """The best triples so far; among equals those that came first.

    What comes in is sorted into the rest when as much has come as is kept.
    """

    def __init__(self, limit: int, floor: float = -np.inf) -> None:
        self.limit, self.floor = limit, floor
        self.scores: list[Scores] = []
        self.triples: list[Ids] = []
        self.pending = 0

    def add(self, scores: Tensor, relation: int, heads: Ids, tails: Ids | None) -> None:
        """Take what is better than the worst kept of scores (heads, n); tails: only of these."""
        if tails is not None:
            scores = scores[:, torch.from_numpy(tails.copy()).to(scores.device)]
        flat = top_k(scores.reshape(1, -1), self.limit, floor=self.floor)
        best, places = (t[0].cpu().numpy() for t in flat)
        rows, columns = np.divmod(places[places >= 0], max(scores.shape[1], 1))
        found = columns if tails is None else tails[columns]
        self.take(
            best[: len(rows)],
            np.stack([heads[rows], np.full_like(rows, relation), found], axis=1),
        )

    def take(self, scores: Scores, triples: Ids) -> None:
        self.scores.append(scores)
        self.triples.append(triples)
        self.pending += len(scores)
        if self.pending > self.limit:
            self.cut()

    def cut(self) -> tuple[Scores, Ids]:
        """Scores (K,) and triples (K, 3) of the best, best first."""
        scores = np.concatenate([np.empty(0, np.float32), *self.scores])
        triples = np.concatenate([np.empty((0, 3), np.int64), *self.triples])
        order = np.argsort(-scores, kind="stable")[: self.limit]
        self.scores, self.triples = [scores[order]], [triples[order]]
        self.pending = 0
        if len(order) == self.limit:
            self.floor = max(self.floor, float(scores[order[-1]]))
        return self.scores[0], self.triples[0]


def _table(scorer: GraphScorer, scores: Scores, triples: Ids) -> pl.DataFrame:
    table = scorer.graph.decode(triples).with_columns(
        score=pl.Series(scores, dtype=pl.Float64), rank=pl.int_range(1, len(scores) + 1)
    )
    return with_probability(table, scorer)
