"""Which answers may be given at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from ingram.errors import QueryError
from ingram.graph import Ids, KnowledgeGraph, distinct
from ingram.labels import Vocabulary


@dataclass(frozen=True, eq=False)
class Candidates:
    """Answers are taken from those that pass every condition; without one, from all.

    labels: a list to choose from. glob: a pattern for the whole label, with ``*``, ``?`` and
    ``[a-z]``. regex: a regular expression found anywhere in the label. typed: entities that the
    graph shows in that place of that relation, such as the heads of ``capital_of``.
    """

    labels: Sequence[str] | None = None
    glob: str | None = None
    regex: str | None = None
    typed: bool = False

    def named(self, vocabulary: Vocabulary) -> Ids | None:
        """The ids that list and patterns leave, in order; None for all. ``typed`` is apart."""
        if self.labels is None and self.glob is None and self.regex is None:
            return None
        chosen = pl.repeat(True, len(vocabulary), eager=True)
        if self.labels is not None:
            wanted = pl.Series("label", list(self.labels), pl.String)
            ids = vocabulary.ids(wanted)
            if ids.null_count():
                vocabulary.id(wanted.filter(ids.is_null())[0])
            chosen &= vocabulary.labels.is_in(wanted.implode())
        if self.glob is not None:
            chosen &= _matches(vocabulary.labels, glob_regex(self.glob), self.glob)
        if self.regex is not None:
            chosen &= _matches(vocabulary.labels, self.regex, self.regex)
        return chosen.arg_true().to_numpy().astype(np.int64)


ALL = Candidates()


def glob_regex(glob: str) -> str:
    """The regular expression for a pattern of ``*``, ``?`` and ``[...]`` over a whole label."""
    parts = []
    for piece in re.split(r"(\*|\?|\[!?\]?[^\]]*\])", glob):
        if piece in ("*", "?"):
            parts.append(".*" if piece == "*" else ".")
        elif piece.startswith("[") and piece.endswith("]") and len(piece) > 2:
            inside = piece[1:-1].replace("\\", r"\\").replace("[", r"\[")
            inside = "^" + inside[1:] if inside.startswith("!") else inside.replace("^", r"\^")
            parts.append(f"[{inside}]")
        else:
            parts.append(re.escape(piece))
    return f"(?s)^{''.join(parts)}$"


def _matches(labels: pl.Series, regex: str, said: str) -> pl.Series:
    try:
        return labels.str.contains(regex)
    except PolarsError as error:
        reason = str(error).strip().splitlines()[-1]
        raise QueryError(f"want a pattern, got {said!r}: {reason}") from error


class Roles:
    """Which entities a graph shows as heads and as tails of each relation."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        n, m = max(graph.num_entities, 1), graph.num_relations
        self._sides = {}
        for side, column in (("head", 0), ("tail", 2)):
            keys = distinct(graph.triples[:, 1] * n + graph.triples[:, column])
            relations, entities = np.divmod(keys, n)
            self._sides[side] = (np.searchsorted(relations, np.arange(m + 1)), entities)

    def of(self, relation: int, side: str) -> Ids:
        """The entities seen on that side of the relation, in order of their ids."""
        pointers, entities = self._sides[side]
        found: Ids = entities[pointers[relation] : pointers[relation + 1]]
        return found
