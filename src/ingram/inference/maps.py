"""Pictures of a graph as tables: what to draw, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from ingram.answers import GraphScorer
from ingram.embeddings import Embeddings
from ingram.graph import Ids, KnowledgeGraph
from ingram.inference.layouts import principal_axes, spectral, springs
from ingram.relation_graph import folded_affinities

EDGES_EACH = 4
"""Lines drawn from a relation, to its nearest."""


@dataclass(frozen=True, eq=False)
class EntityMap:
    """points: label, x, y, degree and role; ``how`` the places were found, in words.

    An entity's role is the end of a relation at which it stands most often, such as
    ``capital_of (head)``: the nearest thing to a type that bare triples say.
    """

    points: pl.DataFrame
    how: str


def entity_map(scorer: GraphScorer, most: int = 1_500) -> EntityMap:
    """The ``most`` frequent entities in the plane: by their vectors, if the model gives vectors."""
    graph = scorer.graph
    degrees = graph.degrees()
    drawn = np.sort(np.argsort(-degrees, kind="stable")[:most])
    if isinstance(scorer, Embeddings):
        how = "the two main directions of the entities' vectors"
        places = principal_axes(scorer.entities[drawn].cpu().numpy())
    else:
        how = "neighbours in the graph stand close together (this model gives no vectors)"
        drawn, near = _largest_part(graph.triples, drawn, graph.num_entities)
        places = spectral(near)
    points = pl.DataFrame(
        {
            "label": graph.entities.labels.gather(drawn),
            "x": places[:, 0],
            "y": places[:, 1],
            "degree": degrees[drawn],
            "role": _roles(graph).gather(drawn),
        }
    )
    return EntityMap(points, how)


def _largest_part(triples: Ids, nodes: Ids, count: int) -> tuple[Ids, csr_array]:
    """Of the nodes, those of the largest connected part among them, and who stands beside whom."""
    place = np.full(count, -1)
    place[nodes] = np.arange(len(nodes))
    ends = place[triples[:, [0, 2]]]
    ends = ends[(ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])]
    both = np.concatenate([ends, ends[:, ::-1]])
    shape = (len(nodes), len(nodes))
    near = csr_array(coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape))
    near.data[:] = 1
    part = connected_components(near, directed=False)[1]
    kept = np.flatnonzero(part == np.bincount(part).argmax()) if len(part) else np.arange(0)
    return nodes[kept], csr_array(near[kept][:, kept])


def _roles(graph: KnowledgeGraph) -> pl.Series:
    """(n,) the commonest end of a relation at each entity; an empty text where there is none."""
    ends = pl.concat(
        pl.DataFrame(
            {"entity": graph.triples[:, column], "relation": graph.triples[:, 1]}
        ).with_columns(end=pl.lit(end))
        for column, end in ((0, "head"), (2, "tail"))
    )
    counts = ends.group_by("entity", "relation", "end").len()
    best = counts.sort("len", "relation", "end", descending=[True, False, False])
    best = best.unique("entity", keep="first", maintain_order=True)
    names = graph.relations.labels.gather(best["relation"]) + " (" + best["end"] + ")"
    every = pl.DataFrame({"entity": np.arange(graph.num_entities)})
    table = every.join(
        best.with_columns(role=names), on="entity", how="left", maintain_order="left"
    )
    return table["role"].fill_null("")


@dataclass(frozen=True, eq=False)
class RelationMap:
    """relations: label, triples, x, y; edges: source, target (rows of relations), affinity."""

    relations: pl.DataFrame
    edges: pl.DataFrame


def relation_map(graph: KnowledgeGraph, most: int = 300) -> RelationMap:
    """The relation graph of section 4, inverses folded in; the ``most`` frequent relations."""
    counts = np.bincount(graph.triples[:, 1], minlength=graph.num_relations)
    drawn = np.sort(np.argsort(-counts, kind="stable")[:most])
    near = folded_affinities(graph)[drawn][:, drawn].toarray()
    np.fill_diagonal(near, 0)
    near = np.sqrt(near / max(near.max(initial=0), 1e-12))
    places = springs(near)
    strongest = np.argsort(-near, axis=1, kind="stable")[:, :EDGES_EACH]
    kept = np.zeros_like(near, dtype=bool)
    np.put_along_axis(kept, strongest, True, axis=1)
    i, j = np.nonzero(np.triu((kept | kept.T) & (near > 0)))
    return RelationMap(
        pl.DataFrame(
            {
                "label": graph.relations.labels.gather(drawn),
                "triples": counts[drawn],
                "x": places[:, 0],
                "y": places[:, 1],
            }
        ),
        pl.DataFrame({"source": i, "target": j, "affinity": near[i, j]}),
    )
