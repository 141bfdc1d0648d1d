"""Embeddings: vectors with their labels. What a user keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ingram.answers import GraphScorer
from ingram.answers.batches import all_finite, refuse_diverged
from ingram.answers.loops import LOWEST, with_own
from ingram.errors import DivergedError, EmbeddingsError
from ingram.graph import Ids, KnowledgeGraph
from ingram.io.vectors import INVERSE, VectorTable, read_vectors, write_vectors
from ingram.kernels.distmult_ranks import distmult_ranks
from ingram.kernels.triple_scores import triple_scores
from ingram.labels import Vocabulary


@dataclass(frozen=True, eq=False)
class Basis:
    """What an update of embeddings starts from.

    states: (S, 2m, d') relations and inverses as entities read them, before W-bar; facts: (n,)
    long, one number an entity that changes with the facts about it.
    """

    states: Tensor
    facts: Tensor


@dataclass(frozen=True, eq=False)
class Embeddings(GraphScorer):
    """Vectors of one graph's entities and relations, scored by DistMult (Eq. 5).

    entities: (n, width); relations: (m, width), already mapped by W-bar. With S random draws the
    width is S times the model's: the sum of S scores is one DistMult of the concatenation.
    ``made`` says how: model, seed, draws, features, loops. ``basis``: see :class:`Basis`.
    ``inverses``: (m, width), if heads are asked for with vectors of their own.
    """

    entities: Tensor
    relations: Tensor
    graph: KnowledgeGraph
    made: dict[str, Any] = field(default_factory=dict)
    basis: Basis | None = None
    inverses: Tensor | None = None

    def __post_init__(self) -> None:
        tables = {"entity": self.entities, "relation": self.relations, "inverse": self.inverses}
        for name, vectors in tables.items():
            if vectors is not None and not all_finite(vectors):
                raise DivergedError(
                    f"{name} vectors hold NaN or infinity; a NaN would rank every answer first"
                )

    @property
    def width(self) -> int:
        return self.entities.shape[1]

    @property
    def stated_loops(self) -> bool:
        return self.made.get("loops") == "stated"

    def save(self, path: str | Path) -> None:
        """Write vectors and labels; the suffix chooses the format: see :mod:`ingram.io.vectors`."""
        of_entities: dict[str, npt.NDArray[Any]] = {}
        of_relations: dict[str, npt.NDArray[Any]] = {}
        if self.inverses is not None:
            of_relations[INVERSE] = _array(self.inverses)
        if self.basis is not None:
            kinds = self.basis.states.unflatten(1, (2, -1)).permute(2, 1, 0, 3)  # (m, 2, S, d')
            of_relations["states"] = _array(kinds.flatten(1))
            of_entities["facts"] = self.basis.facts.numpy()
        tables = (
            VectorTable(self.graph.entities.labels, _array(self.entities), of_entities),
            VectorTable(self.graph.relations.labels, _array(self.relations), of_relations),
        )
        write_vectors(path, tables, {"made": self.made})

    @classmethod
    def load(cls, path: str | Path, graph: KnowledgeGraph | None = None) -> Embeddings:
        """Read back what :meth:`save` wrote.

        ``graph`` gives the facts that answers are marked known by, and that tell which relations
        join an entity to itself; its labels must be those of the table. Without it no answer is
        known, and an entity may answer about itself.
        """
        (entities, relations), about = read_vectors(path)
        made = about.get("made")
        if not isinstance(made, dict):
            raise EmbeddingsError(f"{path}: want a note on how it was made, got {made!r}")
        vocabularies = [
            Vocabulary(table.labels.rename("label"), what)
            for table, what in ((entities, "entity"), (relations, "relation"))
        ]
        if graph is None:
            graph = KnowledgeGraph(np.empty((0, 3), np.int64), vocabularies[0], vocabularies[1])
        for own, other in zip(vocabularies, (graph.entities, graph.relations), strict=True):
            if not own.labels.equals(other.labels):
                raise EmbeddingsError(
                    f"{path}: its {own.what} labels are not those of the graph; embed this graph "
                    "anew, or with --update"
                )
        # torch's own memory: a product's last bit may hang on where a file's bytes happened to lie.
        vectors = [torch.tensor(table.vectors) for table in (entities, relations)]
        basis, inverses = _basis(entities, relations, made), _inverses(path, relations)
        try:
            return cls(vectors[0], vectors[1], graph, made, basis, inverses)
        except DivergedError as error:
            raise DivergedError(f"{path}: {error}") from error

    def score(self, triples: Ids) -> Tensor:
        """(T,) scores of triples (T, 3)."""
        ids = torch.from_numpy(np.array(triples))
        scores = triple_scores(self.entities, self.relations, ids)
        return self.lower_loop_triples(scores, ids.numpy())

    def candidate_scores(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, n): every entity as the answer."""
        scores = self._asking(anchors, relations, side) @ self.entities.T
        return self.lower_loops(scores, anchors, relations)

    def relation_scores(self, heads: Tensor, tails: Tensor) -> Tensor:
        """(Q, m): every relation as the answer."""
        scores = (self.entities[heads] * self.entities[tails]) @ self.relations.T
        scores[(heads == tails).cpu().unsqueeze(1) & self.loopless] = LOWEST
        return scores

    def rank_counts(
        self,
        anchors: Tensor,
        relations: Tensor,
        side: str,
        answers: Tensor,
        pointers: Tensor,
        excluded: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """What ranking needs to know, without a table of scores (see :func:`distmult_ranks`)."""
        count = self.graph.num_entities
        out = self.loopless[relations]
        rows = out.nonzero().squeeze(1)
        pointers, excluded = with_own(pointers, excluded, rows, anchors[rows], count)
        queries = self._asking(anchors, relations, side)
        places = (t.to(queries.device) for t in (answers, pointers, excluded))
        higher, equal, checks = distmult_ranks(queries, self.entities, *places)
        refuse_diverged(checks)
        # A loop that is no answer, and yet asked for, stands below all others.
        last = out & (anchors == answers)
        others = count - pointers.diff()
        return higher.cpu().where(~last, others), equal.cpu().where(~last, 0)

    def _asking(self, anchors: Tensor, relations: Tensor, side: str) -> Tensor:
        """(Q, width): a question's answers are ranked by their products with it.

        DistMult treats both sides alike, but where the inverses have vectors of their own.
        """
        kinds = self.relations if side == "tail" or self.inverses is None else self.inverses
        return self.entities[anchors] * kinds[relations]


def _array(tensor: Tensor) -> npt.NDArray[np.float32]:
    values: npt.NDArray[np.float32] = tensor.float().cpu().contiguous().numpy()
    return values


def _inverses(path: str | Path, relations: VectorTable) -> Tensor | None:
    """None if heads are asked for with the relations' own vectors."""
    found = relations.more.get(INVERSE)
    if found is None:
        return None
    if found.shape != relations.vectors.shape or found.dtype != np.float32:
        raise EmbeddingsError(
            f"{path}: want inverse vectors like those of the relations, {relations.vectors.shape}, "
            f"got {found.dtype} {found.shape}"
        )
    return torch.tensor(found)


def _basis(entities: VectorTable, relations: VectorTable, made: dict[str, Any]) -> Basis | None:
    """None if the file does not hold it, or no draws are named to tell its parts by."""
    facts, states = entities.more.get("facts"), relations.more.get("states")
    draws = made.get("draws")
    if facts is None or states is None or not isinstance(draws, int) or draws < 1:
        return None
    whole = states.ndim == 2 and states.shape[1] and states.shape[1] % (2 * draws) == 0
    if not whole or states.dtype != np.float32 or facts.dtype != np.int64 or facts.ndim != 1:
        return None
    kinds = torch.from_numpy(states).unflatten(1, (2, draws, -1)).permute(2, 1, 0, 3)
    return Basis(kinds.flatten(1, 2), torch.from_numpy(facts))
