"""Embeddings: vectors with their labels. What a user keeps."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from polars.exceptions import PolarsError
from torch import Tensor

from ingram.answers import GraphScorer
from ingram.errors import DivergedError, EmbeddingsError
from ingram.graph import Ids, KnowledgeGraph
from ingram.io.atomic import replacing
from ingram.kernels.triple_scores import triple_scores
from ingram.labels import Vocabulary

FORMAT = "ingram-embeddings-1"


@dataclass(frozen=True, eq=False)
class Embeddings(GraphScorer):
    """Vectors of one graph's entities and relations, scored by DistMult (Eq. 5).

    entities: (n, width); relations: (m, width), already mapped by W-bar. With S random draws the
    width is S times the model's: the sum of S scores is one DistMult of the concatenation.
    ``made`` says how: model, seed, draws.
    """

    entities: Tensor
    relations: Tensor
    graph: KnowledgeGraph
    made: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, vectors in (("entity", self.entities), ("relation", self.relations)):
            if not vectors.isfinite().all():
                raise DivergedError(
                    f"{name} vectors hold NaN or infinity; a NaN would rank every answer first"
                )

    @property
    def width(self) -> int:
        return self.entities.shape[1]

    def save(self, path: str | Path) -> None:
        """Write a Parquet table: kind (entity or relation), label, vector."""
        path = Path(path)
        table = pl.concat(
            pl.DataFrame(
                {
                    "kind": pl.Series([kind] * len(vocabulary), dtype=pl.String),
                    "label": vocabulary.labels,
                    "vector": pl.Series(
                        vectors.float().cpu().numpy(), dtype=pl.Array(pl.Float32, self.width)
                    ),
                }
            )
            for kind, vocabulary, vectors in (
                ("entity", self.graph.entities, self.entities),
                ("relation", self.graph.relations, self.relations),
            )
        )
        if not path.parent.is_dir():
            raise EmbeddingsError(f"{path}: no folder {path.parent} to write into")
        metadata = {"ingram": json.dumps({"format": FORMAT, "made": self.made})}
        with replacing(path) as temporary:
            table.write_parquet(temporary, metadata=metadata)

    @classmethod
    def load(cls, path: str | Path, graph: KnowledgeGraph | None = None) -> Embeddings:
        """Read back what :meth:`save` wrote.

        ``graph`` gives the facts that answers are marked known by; its labels must be those of
        the table. Without it no answer is known.
        """
        path = Path(path)
        try:
            table = pl.read_parquet(path)
            made = json.loads(pl.read_parquet_metadata(path)["ingram"])["made"]
            parts = [table.filter(kind=kind) for kind in ("entity", "relation")]
            vectors = [torch.from_numpy(part["vector"].to_numpy().copy()) for part in parts]
        except FileNotFoundError as error:
            raise EmbeddingsError(f"{path}: no such file") from error
        except (PolarsError, KeyError, TypeError, ValueError, OSError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise EmbeddingsError(f"{path}: want embeddings in Parquet, got {reason}") from error
        vocabularies = [
            Vocabulary(part["label"].rename("label"), what)
            for part, what in zip(parts, ("entity", "relation"), strict=True)
        ]
        if graph is None:
            graph = KnowledgeGraph(np.empty((0, 3), np.int64), vocabularies[0], vocabularies[1])
        for own, other in zip(vocabularies, (graph.entities, graph.relations), strict=True):
            if not own.labels.equals(other.labels):
                raise EmbeddingsError(f"{path}: its {own.what} labels are not those of the graph")
        return cls(vectors[0], vectors[1], graph, made)

    def score(self, triples: Ids) -> Tensor:
        """(T,) scores of triples (T, 3)."""
        return triple_scores(self.entities, self.relations, torch.from_numpy(np.array(triples)))

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n): every entity as the answer. DistMult treats both sides alike."""
        return (self.entities[anchors] * self.relations[relations]) @ self.entities.T
