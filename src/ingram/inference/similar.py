"""What lies near: entities or relations by the cosine of their vectors."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

import numpy as np
import polars as pl
from torch.nn.functional import normalize

from ingram.embeddings import Embeddings
from ingram.errors import MissingPackageError
from ingram.labels import Vocabulary

SIMILAR = {"label": pl.String, "near": pl.String, "cosine": pl.Float64, "rank": pl.Int64}
"""Columns of a table of what is similar."""


class Neighbourhood:
    """The entities or relations of some embeddings, ready to be searched.

    Exact: every vector is looked at. ``approximate``: an HNSW index by usearch is built first,
    which pays for many questions to millions of vectors; a true neighbour may be missed.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        what: Literal["entity", "relation"] = "entity",
        *,
        approximate: bool = False,
    ) -> None:
        graph = embeddings.graph
        self.labels: Vocabulary = graph.entities if what == "entity" else graph.relations
        vectors = embeddings.entities if what == "entity" else embeddings.relations
        self.vectors = normalize(vectors.float().cpu(), dim=1)
        self.index: Any = None
        if approximate:
            self.index = _usearch().Index(ndim=self.vectors.shape[1], metric="cos", dtype="f32")
            self.index.add(np.arange(len(self.vectors)), self.vectors.numpy())

    def near(self, label: str, k: int = 10) -> pl.DataFrame:
        """The k nearest to a label, itself left out. Columns: label, near, cosine, rank."""
        own = self.labels.id(label)
        most = min(k + 1, len(self.vectors))
        if self.index is not None:
            ids = self.index.search(self.vectors[own].numpy(), most).keys.astype(np.int64)
            cosines = self.vectors[ids] @ self.vectors[own]
        else:
            cosines, places = (self.vectors @ self.vectors[own]).topk(most)
            ids = places.numpy()
        others = ids != own
        ids, values = ids[others][:k], cosines.numpy()[others][:k]
        return pl.DataFrame(
            {
                "label": [label] * len(ids),
                "near": self.labels.take(ids),
                "cosine": values.astype(np.float64),
                "rank": np.arange(1, len(ids) + 1),
            },
            schema=SIMILAR,
        )


def _usearch() -> Any:
    try:
        return import_module("usearch.index")
    except ImportError as error:
        raise MissingPackageError(
            "approximate search needs the package usearch: pip install 'ingram[similar]'"
        ) from error
