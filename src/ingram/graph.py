"""Knowledge graphs as values: ids and triples.

Everything here is frozen and knows no device. Ids are int64; triples are ``(T, 3)`` arrays of
``head, relation, tail``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from ingram.errors import TriplesError
from ingram.labels import FIELDS, WEIGHT, Vocabulary, label_frame, numbered

Ids = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


def _frozen(triples: npt.ArrayLike) -> Ids:
    array = np.ascontiguousarray(triples, dtype=np.int64).reshape(-1, 3)
    array.flags.writeable = False
    return array


def _frozen_weights(weights: npt.ArrayLike, count: int) -> Weights:
    array = np.array(weights, dtype=np.float64)
    if array.shape != (count,):
        raise TriplesError(f"weights want shape ({count},), got {array.shape}")
    if not (np.isfinite(array) & (array > 0)).all():
        bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))[0]
        raise TriplesError(f"triple {bad + 1}: want a positive weight, got {array[bad]}")
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """Facts of one graph. triples: (T, 3) ids of head, relation, tail, without duplicates.

    ``duplicates`` counts the triples that were dropped because they were stated already.
    weights: (T,) how often each triple counts in the relation graph; None where each counts once.
    """

    triples: Ids
    entities: Vocabulary
    relations: Vocabulary
    duplicates: int = field(default=0)
    weights: Weights | None = None

    def __post_init__(self) -> None:
        triples = _frozen(self.triples)
        if len(triples):
            limits = (len(self.entities), len(self.relations), len(self.entities))
            if triples.min() < 0 or (triples.max(axis=0) >= limits).any():
                raise TriplesError(
                    f"triples want ids below {limits}, got a maximum of "
                    f"{tuple(triples.max(axis=0).tolist())} and a minimum of {triples.min()}"
                )
        object.__setattr__(self, "triples", triples)
        if self.weights is not None:
            object.__setattr__(self, "weights", _frozen_weights(self.weights, len(triples)))

    @property
    def num_entities(self) -> int:
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        return len(self.relations)

    @property
    def num_triples(self) -> int:
        return len(self.triples)

    def degrees(self) -> Ids:
        """(n,) how many ends of triples each entity is."""
        return np.bincount(self.triples[:, [0, 2]].ravel(), minlength=self.num_entities)

    def __repr__(self) -> str:
        return (
            f"KnowledgeGraph({self.num_entities:,} entities, {self.num_relations:,} relations, "
            f"{self.num_triples:,} triples)"
        )

    @classmethod
    def from_labels(
        cls, triples: pl.DataFrame | Iterable[tuple[str, str, str]], *also: pl.DataFrame
    ) -> KnowledgeGraph:
        """A graph of labelled triples: a frame with columns head, relation, tail, or tuples.

        ``also``: frames whose labels get ids too, though their triples are no facts of the graph.
        Ids follow first appearance, so the same table always gives the same ids. A column
        ``weight`` becomes the weights; those of a triple stated twice add up.
        """
        table = label_frame(triples)
        frames = [table, *also]
        ends, entities = numbered([c for f in frames for c in (f["head"], f["tail"])])
        kinds, relations = numbered([f["relation"] for f in frames])
        graph = cls(
            np.empty((0, 3), np.int64),
            Vocabulary(entities, "entity"),
            Vocabulary(relations, "relation"),
        )
        count = len(table)
        ids = np.stack([ends[:count], kinds[:count], ends[count : 2 * count]], axis=1)
        return graph.with_triples(ids, table[WEIGHT] if WEIGHT in table.columns else None)

    def encode(self, triples: pl.DataFrame) -> Ids:
        """Ids (T, 3) of labelled triples; an unknown label is an error."""
        columns = []
        vocabularies = (self.entities, self.relations, self.entities)
        for name, vocabulary in zip(FIELDS, vocabularies, strict=True):
            ids = vocabulary.ids(triples[name])
            if ids.null_count():
                vocabulary.id(triples[name].filter(ids.is_null())[0])
            columns.append(ids.to_numpy())
        return np.stack(columns, axis=1).astype(np.int64)

    def decode(self, triples: Ids) -> pl.DataFrame:
        """The inverse of :meth:`encode`."""
        return pl.DataFrame(
            {
                "head": self.entities.labels.gather(triples[:, 0]),
                "relation": self.relations.labels.gather(triples[:, 1]),
                "tail": self.entities.labels.gather(triples[:, 2]),
            }
        )

    def labelled(self) -> pl.DataFrame:
        """The facts as :meth:`from_labels` takes them: labels, and weights if there are any."""
        table = self.decode(self.triples)
        return (
            table if self.weights is None else table.with_columns(pl.Series(WEIGHT, self.weights))
        )

    def with_triples(
        self, triples: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> KnowledgeGraph:
        """The same vocabularies with other facts; duplicates are dropped and counted.

        ``weights`` (T,) of duplicates add up. Without them, and if this graph has weights, each
        triple keeps the one it has here; a triple that is new counts once.
        """
        array = _frozen(triples)
        keys = triple_keys(array, self.num_entities, self.num_relations)
        _, first = np.unique(keys, return_index=True)
        first.sort()
        kept = array if len(first) == len(array) else array[first]
        held: Weights | None = None
        if weights is not None:
            held = _sums(keys, keys[first], _frozen_weights(weights, len(array)))
        elif self.weights is not None:
            own = triple_keys(self.triples, self.num_entities, self.num_relations)
            held = _looked_up(own, self.weights, keys[first])
        dropped = len(array) - len(first)
        return KnowledgeGraph(kept, self.entities, self.relations, dropped, held)


def _sums(keys: Ids, distinct: Ids, weights: Weights) -> Weights:
    """For each of the distinct keys, the sum of the weights that stand under it."""
    order = np.argsort(distinct)
    places = order[np.searchsorted(distinct, keys, sorter=order)]
    return np.asarray(np.bincount(places, weights), np.float64)


def _looked_up(keys: Ids, weights: Weights, wanted: Ids) -> Weights:
    """The weights under the wanted keys; one where there is none. No key occurs twice."""
    found = np.ones(len(wanted))
    _, here, there = np.intersect1d(wanted, keys, assume_unique=True, return_indices=True)
    found[here] = weights[there]
    return found


def with_inverses(triples: Ids, num_relations: int) -> Ids:
    """Triples and their reverses (tail, r + m, head), in this order: (2T, 3).

    Call this on the facts alone and after any split: a reverse triple among the facts gives its
    target away.
    """
    heads, relations, tails = triples.T
    reverse = np.stack([tails, relations + num_relations, heads], axis=1)
    return np.concatenate([triples, reverse])


def triple_keys(triples: Ids, num_entities: int, num_relations: int) -> Ids:
    """One integer a triple, (T,), so that sets of triples can be compared quickly."""
    if num_entities * num_entities * max(num_relations, 1) >= 2**63:
        raise TriplesError(
            f"{num_entities:,} entities and {num_relations:,} relations are more than 64-bit "
            "keys can tell apart; split the graph"
        )
    keys: Ids = (triples[:, 0] * num_relations + triples[:, 1]) * num_entities + triples[:, 2]
    return keys


def distinct(keys: Ids) -> Ids:
    """Sorted, each once: by sorting alone, where numpy's unique hashes first, ten times slower."""
    keys = np.sort(keys)
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    once: Ids = keys[new]
    return once


@dataclass(frozen=True)
class Repeats:
    """Triples that a part of a dataset states again: how many were dropped, some as labels."""

    part: str
    count: int
    examples: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Dataset:
    """What a model learns from and what it is tested on.

    train: the training graph. inference: the observed facts of the graph the model is applied to.
    valid, test: (T, 3) ids in the inference graph's vocabularies. ``inductive`` is false when the
    inference graph is the training graph itself: then the figures say nothing about new entities.
    ``repeats``: what the files stated more than once.
    """

    name: str
    train: KnowledgeGraph
    inference: KnowledgeGraph
    valid: Ids
    test: Ids
    inductive: bool = True
    repeats: tuple[Repeats, ...] = ()

    def split(self, name: str) -> Ids:
        """The triples of split ``valid`` or ``test``."""
        return {"valid": self.valid, "test": self.test}[name]

    @property
    def known_relations(self) -> npt.NDArray[np.bool_]:
        """(m,): which relations of the inference graph occur in the training graph."""
        known = self.inference.relations.labels.is_in(self.train.relations.labels.implode())
        return known.to_numpy()
