"""How far embeddings moved between two versions of a graph: vectors, answers, and whose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from ingram.answers.loops import LOWEST
from ingram.embeddings import Embeddings
from ingram.errors import EmbeddingsError
from ingram.graph import Ids, KnowledgeGraph
from ingram.inference.updating import Matched

BUDGET = 2**26
"""Bytes that the scores of the questions asked together may take."""
SAME = ("model", "seed", "draws", "features")
"""What must be alike for vectors to be comparable at all."""


@dataclass(frozen=True, eq=False)
class Drift:
    """What both name, and how it moved.

    entities: label, moved (1 - cosine; null where vectors cannot be compared), kept (part of the
    best answers that are the same; null where nothing was asked), furthest first. relations:
    label, moved. kept, first: over all ``questions``, the part of the k best answers, and of the
    first ones, that are the same. ``incomparable`` says why vectors were not compared.
    """

    entities: pl.DataFrame
    relations: pl.DataFrame
    questions: int
    kept: float
    first: float
    new: tuple[int, int]
    gone: tuple[int, int]
    incomparable: str | None


def drift(
    old: Embeddings,
    new: Embeddings,
    *,
    k: int = 10,
    questions: int = 1_000,
    graph: KnowledgeGraph | None = None,
    seed: int = 0,
) -> Drift:
    """Compare two embeddings label by label.

    Questions (entity, relation, ?) are drawn from the facts of ``graph``; without it, from all
    pairs of an entity and a relation that both have. Answers are among the entities both have.
    """
    known = Matched.of(old.graph, new.graph)
    if 0 in (len(known.entities[0]), len(known.relations[0])):
        raise EmbeddingsError("the two embeddings have no entities or no relations in common")
    why = _incomparable(old, new)
    asked = _questions(new, known, graph, questions, np.random.default_rng(seed))
    same, first = _answers(old, new, known, asked, k)
    labels = new.graph.entities.labels.gather(known.entities[0])
    entities = pl.DataFrame(
        {
            "label": labels,
            "moved": None if why else _moved(old.entities, new.entities, known.entities),
            "kept": _by_anchor(asked[:, 0], same, len(labels)),
        },
        schema={"label": pl.String, "moved": pl.Float64, "kept": pl.Float64},
    )
    relations = pl.DataFrame(
        {
            "label": new.graph.relations.labels.gather(known.relations[0]),
            "moved": None if why else _moved(*_relation_tables(old, new), known.relations),
        },
        schema={"label": pl.String, "moved": pl.Float64},
    )
    by = ["moved", "kept"] if why is None else ["kept", "label"]
    return Drift(
        entities.sort(by, descending=[why is None, False], nulls_last=True, maintain_order=True),
        relations.sort("moved", descending=True, nulls_last=True, maintain_order=True),
        len(asked),
        float(same.mean()) if len(same) else 1.0,
        float(first.mean()) if len(first) else 1.0,
        _rest(new.graph, known),
        _rest(old.graph, known),
        why,
    )


def _rest(graph: KnowledgeGraph, known: Matched) -> tuple[int, int]:
    """Entities and relations that only one of the two has."""
    entities, relations = known.entities[0], known.relations[0]
    return graph.num_entities - len(entities), graph.num_relations - len(relations)


def _incomparable(old: Embeddings, new: Embeddings) -> str | None:
    for name in SAME:
        if old.made.get(name) != new.made.get(name):
            return f"{name} was {old.made.get(name)} and is {new.made.get(name)}"
    if new.made.get("features") == "rows":
        return "their features belong to rows and not to labels"
    return None if old.width == new.width else f"width was {old.width} and is {new.width}"


def _relation_tables(old: Embeddings, new: Embeddings) -> tuple[Tensor, Tensor]:
    """What relations ask with, of both: for tails, and for heads if that differs."""
    if old.inverses is None or new.inverses is None:
        return old.relations, new.relations
    return torch.cat([old.relations, old.inverses], 1), torch.cat([new.relations, new.inverses], 1)


def _moved(old: Tensor, new: Tensor, places: tuple[Ids, Ids]) -> Any:
    here, there = places
    return (1 - cosine_similarity(new[here].double(), old[there].double())).cpu().numpy()


def _questions(
    new: Embeddings,
    known: Matched,
    graph: KnowledgeGraph | None,
    most: int,
    rng: np.random.Generator,
) -> Ids:
    """(Q, 2): places of entities and relations among those that both have."""
    n, m = len(known.entities[0]), len(known.relations[0])
    if graph is None:
        total = n * m
        picked = np.arange(total) if total <= most else np.unique(rng.integers(0, total, most))
        return np.stack([picked // m, picked % m], axis=1)
    place = np.full(new.graph.num_entities, -1), np.full(new.graph.num_relations, -1)
    place[0][known.entities[0]], place[1][known.relations[0]] = np.arange(n), np.arange(m)
    ids = [
        own.ids(theirs.labels).fill_null(-1).to_numpy()[graph.triples[:, column]]
        for own, theirs, column in (
            (new.graph.entities, graph.entities, 0),
            (new.graph.relations, graph.relations, 1),
        )
    ]
    pairs = np.stack([np.where(i < 0, -1, p[i]) for i, p in zip(ids, place, strict=True)], axis=1)
    pairs = np.unique(pairs[(pairs >= 0).all(axis=1)], axis=0)
    if len(pairs) > most:
        pairs = pairs[np.sort(rng.choice(len(pairs), most, replace=False))]
    return pairs


def _answers(
    old: Embeddings, new: Embeddings, known: Matched, asked: Ids, k: int
) -> tuple[Any, Any]:
    """(Q,): the part of the k best answers that are the same; whether the first one is.

    Where only stated loops count, an entity is no answer about itself, whichever the relation:
    files of vectors hold no facts.
    """
    tables = [
        (one.entities[known.entities[side]], one.relations[known.relations[side]])
        for side, one in ((0, new), (1, old))
    ]
    n = len(known.entities[0])
    k, rows = min(k, n), max(1, BUDGET // (4 * n))
    same, first = [np.empty(0)], [np.empty(0)]
    for start in range(0, len(asked), rows):
        anchors, kinds = torch.from_numpy(asked[start : start + rows]).T
        scores = [(e[anchors] * r[kinds]) @ e.T for e, r in tables]
        if new.stated_loops:
            for table in scores:
                table[torch.arange(len(anchors)), anchors] = LOWEST
        ours, theirs = (table.topk(k).indices.cpu() for table in scores)
        both = (ours.unsqueeze(2) == theirs.unsqueeze(1)).any(2).double().mean(1)
        same.append(both.numpy())
        first.append((ours[:, 0] == theirs[:, 0]).double().numpy())
    return np.concatenate(same), np.concatenate(first)


def _by_anchor(anchors: Ids, same: Any, count: int) -> pl.Series:
    """(count,): the mean of each anchor's questions; null where it has none."""
    asked = np.bincount(anchors, minlength=count)
    means = np.bincount(anchors, same, minlength=count) / np.maximum(asked, 1)
    return pl.Series(np.where(asked > 0, means, np.nan), nan_to_null=True)
