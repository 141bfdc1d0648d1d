"""Which answers are facts already, looked up without going through the facts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ingram.graph import Dataset, Ids, distinct, triple_keys

ORDER = {"tail": (0, 1, 2), "head": (2, 1, 0), "relation": (0, 2, 1)}
"""For each side that is asked for, the columns that are given, and the asked one last."""


class KnownAnswers:
    """For each question (anchor, relation), or (head, tail), the answers that are true."""

    def __init__(self, triples: Ids, num_relations: int) -> None:
        """Of all true triples; one that stands twice counts once."""
        self.num_relations = num_relations
        self.num_entities = int(triples[:, [0, 2]].max(initial=0)) + 1
        self._triples = triples
        # One sorted number a triple, the asked part last: a question's answers stand together.
        self._keys = {
            "tail": distinct(triple_keys(triples, self.num_entities, num_relations)),
        }

    @classmethod
    def of(cls, dataset: Dataset) -> KnownAnswers:
        """The published filter: facts, validation and test triples."""
        parts = [dataset.inference.triples, dataset.valid, dataset.test]
        return cls(np.concatenate(parts), dataset.inference.num_relations)

    def of_queries(self, first: Ids, second: Ids, side: str) -> tuple[Ids, Ids]:
        """Row pointers (Q + 1,) and answers: those of query q are ``pointers[q:q+2]``.

        first, second: (Q,) anchors and relations; heads and tails if side is relation.
        """
        keys, sizes = self._sorted(side), self._sizes(side)
        inside = second < sizes[0]
        wanted = np.where(inside, first * sizes[0] + second, -1) * sizes[1]
        begin, end = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted + sizes[1])
        end = np.where(inside, end, begin)
        pointers = np.concatenate([[0], np.cumsum(end - begin)])
        offset = np.repeat(begin - pointers[:-1], end - begin)
        return pointers, keys[offset + np.arange(pointers[-1])] % sizes[1]

    def contains(self, triples: Ids) -> npt.NDArray[np.bool_]:
        """(T,): which of the triples are true."""
        keys = self._sorted("tail")
        if not len(keys):
            return np.zeros(len(triples), np.bool_)
        wanted = triple_keys(triples, self.num_entities, self.num_relations)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found: npt.NDArray[np.bool_] = keys[places] == wanted
        return found & (triples[:, [0, 2]] < self.num_entities).all(axis=1)

    def _sizes(self, side: str) -> tuple[int, int]:
        """How many values the second given part and the asked part can have."""
        sizes = (self.num_entities, self.num_relations, self.num_entities)
        return sizes[ORDER[side][1]], sizes[ORDER[side][2]]

    def _sorted(self, side: str) -> Ids:
        if side not in self._keys:
            (of_second, of_asked), (first, second, asked) = self._sizes(side), ORDER[side]
            t = self._triples
            keys = (t[:, first] * of_second + t[:, second]) * of_asked + t[:, asked]
            self._keys[side] = distinct(keys)
        return self._keys[side]
