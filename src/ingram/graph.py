"""Knowledge graphs as values: labels, ids, triples.

Everything here is frozen and knows no device. Ids are int64; triples are ``(T, 3)`` arrays of
``head, relation, tail``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from ingram.errors import TriplesError, UnknownLabelError

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Labels in id order: the label of id ``i`` is ``labels[i]``. Labels are unique."""

    labels: pl.Series
    what: str = "label"

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: str) -> bool:
        return label in self._index

    @cached_property
    def _index(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    def id(self, label: str) -> int:
        """The id of one label; an unknown one is an error that offers the nearest known ones."""
        found = self._index.get(label)
        if found is None:
            near = get_close_matches(label, self._index, n=3, cutoff=0.6)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise UnknownLabelError(f"no {self.what} {label!r} in this graph{hint}")
        return found

    def ids(self, labels: pl.Series) -> pl.Series:
        """Ids of many labels at once; null where a label is unknown."""
        table = pl.DataFrame({"label": self.labels, "id": pl.int_range(len(self), eager=True)})
        query = pl.DataFrame({"label": labels.cast(pl.String)})
        return query.join(table, on="label", how="left", maintain_order="left")["id"]

    def take(self, ids: Iterable[int] | Ids) -> list[str]:
        """Labels of the given ids."""
        return self.labels.gather(np.asarray(list(ids), dtype=np.int64)).to_list()


def _frozen(triples: npt.ArrayLike) -> Ids:
    array = np.ascontiguousarray(triples, dtype=np.int64).reshape(-1, 3)
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """Facts of one graph. triples: (T, 3) ids of head, relation, tail, without duplicates.

    ``duplicates`` counts the triples that were dropped because they were stated already.
    """

    triples: Ids
    entities: Vocabulary
    relations: Vocabulary
    duplicates: int = field(default=0)

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

    @property
    def num_entities(self) -> int:
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        return len(self.relations)

    @property
    def num_triples(self) -> int:
        return len(self.triples)

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
        Ids follow first appearance, so the same table always gives the same ids.
        """
        table = label_frame(triples)
        frames = [table, *also]
        entities = _distinct(c for f in frames for c in (f["head"], f["tail"]))
        relations = _distinct(f["relation"] for f in frames)
        graph = cls(
            np.empty((0, 3), np.int64),
            Vocabulary(entities, "entity"),
            Vocabulary(relations, "relation"),
        )
        return graph.with_triples(graph.encode(table))

    def encode(self, triples: pl.DataFrame) -> Ids:
        """Ids (T, 3) of labelled triples; an unknown label is an error."""
        columns = []
        for name, vocabulary in zip(
            ("head", "relation", "tail"),
            (self.entities, self.relations, self.entities),
            strict=True,
        ):
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

    def with_triples(self, triples: npt.ArrayLike) -> KnowledgeGraph:
        """The same vocabularies with other facts; duplicates are dropped and counted."""
        array = _frozen(triples)
        keys = triple_keys(array, self.num_entities, self.num_relations)
        _, first = np.unique(keys, return_index=True)
        dropped = len(array) - len(first)
        kept = array if dropped == 0 else array[np.sort(first)]
        return KnowledgeGraph(kept, self.entities, self.relations, dropped)


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


def label_frame(triples: pl.DataFrame | Iterable[tuple[str, str, str]]) -> pl.DataFrame:
    """Labelled triples as a frame of three text columns without empty labels."""
    if isinstance(triples, pl.DataFrame):
        missing = {"head", "relation", "tail"} - set(triples.columns)
        if missing:
            raise TriplesError(
                f"want columns head, relation, tail, got {', '.join(triples.columns) or 'none'}"
            )
        table = triples.select(pl.col("head", "relation", "tail").cast(pl.String))
    else:
        schema = {"head": pl.String, "relation": pl.String, "tail": pl.String}
        table = pl.DataFrame(list(triples), schema=schema, orient="row")
    bad = table.with_row_index().filter(
        pl.any_horizontal(pl.col("head", "relation", "tail").fill_null("") == "")
    )
    if len(bad):
        row = bad.row(0)
        raise TriplesError(f"triple {row[0] + 1}: want three non-empty labels, got {row[1:]}")
    return table


def _distinct(columns: Iterable[pl.Series]) -> pl.Series:
    return pl.concat([c.rename("label") for c in columns]).unique(maintain_order=True)


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
