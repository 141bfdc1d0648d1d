"""Finding a label while it is typed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from ingram.graph import Ids, KnowledgeGraph
from ingram.labels import Vocabulary

LAST = "\U0010ffff"
"""No label goes on beyond it: what begins with a word stands between the word and word + LAST."""


class Lookup:
    """Labels by how they begin, letter case left aside; the most frequent come first.

    counts: (n,) how often each label is used.
    """

    def __init__(self, vocabulary: Vocabulary, counts: Ids) -> None:
        self.labels, self.counts = vocabulary.labels, counts
        folded = vocabulary.labels.str.to_lowercase()
        self.order: npt.NDArray[np.uint32] = folded.arg_sort().to_numpy()
        self.folded = folded.gather(self.order)

    def find(self, typed: str, k: int) -> list[tuple[str, int]]:
        """Labels and counts: the label itself, others that begin so, then those that hold it."""
        word = pl.Series([typed], dtype=pl.String).str.to_lowercase()[0]
        ends = [self.folded.search_sorted(w, side="left") for w in (word, word + LAST)]
        found = self._best(np.arange(int(ends[0]), int(ends[1])), word, k)
        if len(found) < k:
            holds = self.folded.str.contains(word, literal=True).arg_true().to_numpy()
            beyond = holds[(holds < int(ends[0])) | (holds >= int(ends[1]))]
            found += self._best(beyond, word, k - len(found))
        return found

    def _best(self, places: npt.NDArray[np.int64], word: str, k: int) -> list[tuple[str, int]]:
        """The k most frequent of some places in the sorted labels, the word itself before all."""
        counts = self.counts[self.order[places]] + (
            self.folded.gather(places) == word
        ).to_numpy() * (self.counts.max(initial=0) + 1)
        if len(places) > k:
            among = np.flatnonzero(counts >= np.partition(counts, -k)[-k])
            places, counts = places[among], counts[among]
        ids = self.order[places[np.argsort(-counts, kind="stable")[:k]]]
        return list(zip(self.labels.gather(ids).to_list(), self.counts[ids].tolist(), strict=True))


def entity_lookup(graph: KnowledgeGraph) -> Lookup:
    """Over a graph's entities, counted by the triples at each."""
    return Lookup(graph.entities, graph.degrees())
