"""Relations among themselves: which are near in a graph, and which of another graph they are like.

A relation read backwards is a relation too. The affinity of two inverses is that of the two
relations, so a table need only say whether one of a pair is read backwards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import torch

from ingram.errors import ConfigError
from ingram.graph import Ids, KnowledgeGraph
from ingram.models import InGram
from ingram.models.features import LabelFeatures
from ingram.relation_graph import build_relation_graph, head_affinities

DRAWS = 64
"""Random feature sets over which a relation's vector is averaged to be compared across graphs."""
TOGETHER = 8

AFFINITIES = {
    "relation": pl.String,
    "other": pl.String,
    "inverse": pl.Boolean,
    "affinity": pl.Float64,
}
LIKENESS = {
    "relation": pl.String,
    "known": pl.String,
    "inverse": pl.Boolean,
    "similarity": pl.Float64,
    "rank": pl.Int64,
}

Floats = npt.NDArray[np.float64]


def affinity_table(graph: KnowledgeGraph) -> pl.DataFrame:
    """Each pair of relations that meet, once, strongest first.

    Columns: relation, other, inverse (the other read backwards) and affinity (section 4).
    """
    whole, m = build_relation_graph(graph, num_bins=1), graph.num_relations
    rows, cols = whole.rows, whole.cols
    backwards = cols >= m
    once = (rows < m) & (rows <= cols % m) & (rows != cols)
    labels = graph.relations.labels
    return pl.DataFrame(
        {
            "relation": labels.gather(rows[once]),
            "other": labels.gather(cols[once] % m),
            "inverse": backwards[once],
            "affinity": whole.weights[once],
        },
        schema=AFFINITIES,
    ).sort("affinity", descending=True, maintain_order=True)


def resembling(
    graph: KnowledgeGraph, train: KnowledgeGraph, model: InGram | None = None, k: int = 3
) -> pl.DataFrame:
    """For each relation that ``train`` does not have, the k of its relations that are most alike.

    With a model, by the cosine of relation vectors: the mean over many draws of features, which
    depends on where a relation stands in its graph and not on the draws, less the mean over
    ``train``. Without, by affinity profiles: how a relation's affinity is spread over the
    relations that both graphs have, heads and tails apart; the similarity of two such shares is
    the sum of the roots of their products (1 for equal ones).
    """
    new = np.flatnonzero(~graph.relations.labels.is_in(train.relations.labels.implode()).to_numpy())
    if model is None:
        ours, theirs = _profiles(graph, train)
    else:
        ours, theirs = (_mean_vectors(model, one) for one in (graph, train))
        centre = theirs.mean(axis=0)
        ours, theirs = ours - centre, theirs - centre
    m = train.num_relations
    similar = _unit(ours[new]) @ _unit(theirs).T
    order = np.argsort(-similar, axis=1, kind="stable")[:, :k]
    flat = order.ravel()
    return pl.DataFrame(
        {
            "relation": graph.relations.labels.gather(np.repeat(new, order.shape[1])),
            "known": train.relations.labels.gather(flat % m),
            "inverse": flat >= m,
            "similarity": np.take_along_axis(similar, order, axis=1).ravel(),
            "rank": np.tile(np.arange(1, order.shape[1] + 1), len(new)),
        },
        schema=LIKENESS,
    )


def _profiles(graph: KnowledgeGraph, train: KnowledgeGraph) -> tuple[Floats, Floats]:
    """(m, 4s) and (2m', 4s): roots of the shares of affinity with s shared relations."""
    shared = train.relations.ids(graph.relations.labels)
    here = np.flatnonzero(shared.is_not_null().to_numpy())
    there = shared.drop_nulls().to_numpy().astype(np.int64)
    if len(here) == 0:
        raise ConfigError(
            "the two graphs have no relation in common to compare by; give a run of the embedding "
            "model, to compare by its relation vectors"
        )
    return _profile(graph, here)[: graph.num_relations], _profile(train, there)


def _profile(graph: KnowledgeGraph, shared: Ids) -> Floats:
    """(2m, 4s): what shares heads with each relation, and what shares tails."""
    m = graph.num_relations
    columns = np.concatenate([shared, shared + m])
    near = head_affinities(graph.triples, graph.num_entities, m, graph.weights)
    heads = near[:, columns].toarray()
    whole = np.concatenate([heads, np.roll(heads, m, axis=0)], axis=1)
    roots: Floats = np.sqrt(whole)
    return roots


@torch.no_grad()
def _mean_vectors(model: InGram, graph: KnowledgeGraph) -> Floats:
    """(2m, d-hat): of relations and inverses."""
    edges = model.message_graph(graph).relations
    source = LabelFeatures(graph, model.config, 0)
    like = model.relation_score.weight
    total = like.new_zeros(2 * graph.num_relations, model.config.entity_width)
    for start in range(0, DRAWS, TOGETHER):
        features = source.take(start, TOGETHER, np.empty(0, np.int64)).to(like)
        z = model.relation_states(edges, features.relations)
        total += model.learned_vectors(z).sum(0)
    return (total / DRAWS).double().cpu().numpy()


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return unit
