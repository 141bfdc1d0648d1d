"""What a graph or a dataset looks like: table 5, and more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ingram.datasets.sizes import Sizes
from ingram.datasets.subgraphs import components
from ingram.graph import Dataset, Ids, KnowledgeGraph, distinct, triple_keys

QUANTILES = {"min": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "99 %": 0.99, "max": 1.0}
KINDS = ("one-to-one", "one-to-many", "many-to-one", "many-to-many")
MANY = 1.5
"""Answers a query on average from which on a side counts as *many*, as is usual in the field."""


@dataclass(frozen=True, eq=False)
class GraphStatistics:
    """Of one graph. Entities and relations that no triple mentions are not counted.

    degrees: (V,) triples at each entity, a loop counted twice. quantiles: of the ``out``, ``in``
    and ``all`` degrees. density: triples among the V^2 R possible ones.
    relations: one row each, with ``triples``, ``heads``, ``tails``, ``tails_per_head``,
    ``heads_per_tail``, ``kind`` and ``symmetric``, the share of triples whose reverse is stated.
    weight: the sum of the triples' weights; None where there are none.
    """

    sizes: Sizes
    loops: int
    density: float
    degrees: Ids
    quantiles: dict[str, dict[str, float]]
    components: int
    giant_entities: float
    giant_triples: float
    relations: pl.DataFrame
    weight: float | None = None

    @property
    def mean_degree(self) -> float:
        return float(self.degrees.mean()) if len(self.degrees) else 0.0

    @property
    def kinds(self) -> dict[str, dict[str, int]]:
        """How many relations, and triples of them, are one-to-one and so on."""
        rows = {kind: self.relations.filter(pl.col("kind") == kind) for kind in KINDS}
        return {
            kind: {"relations": len(table), "triples": int(table["triples"].sum())}
            for kind, table in rows.items()
        }

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "entities": self.sizes.entities,
            "relations": self.sizes.relations,
            "triples": self.sizes.triples,
            "weight": self.weight,
            "loops": self.loops,
            "density": self.density,
            "mean_degree": self.mean_degree,
            "degrees": self.quantiles,
            "components": self.components,
            "giant_component": {"entities": self.giant_entities, "triples": self.giant_triples},
            "relation_kinds": self.kinds,
            "relation_table": self.relations.to_dicts(),
        }


@dataclass(frozen=True, eq=False)
class DatasetStatistics:
    """Of a dataset. ``graphs``: by name, the first ones as table 5 counts them.

    An inductive dataset has ``train``, ``inference`` (facts, validation and test together) and
    ``facts``; another has ``graph`` (all of it) and ``facts``. parts: triples of each split.
    new: of ``relations`` and of the triples of each split, how many are new to training, and which
    share that is. shared_entities: of the inference graph, in the training graph too.
    """

    name: str
    inductive: bool
    graphs: dict[str, GraphStatistics]
    parts: dict[str, int]
    new: dict[str, dict[str, float]]
    shared_entities: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "inductive": self.inductive,
            "parts": self.parts,
            "new": self.new,
            "shared_entities": self.shared_entities,
            "graphs": {name: graph.as_dict() for name, graph in self.graphs.items()},
        }


Statistics = GraphStatistics | DatasetStatistics


def graphs_of(statistics: Statistics) -> dict[str, GraphStatistics]:
    """The graphs by name; a single one is called ``graph``."""
    if isinstance(statistics, GraphStatistics):
        return {"graph": statistics}
    return statistics.graphs


def graph_statistics(graph: KnowledgeGraph) -> GraphStatistics:
    """Statistics of a graph's facts."""
    triples, count = graph.triples, graph.num_entities
    out = np.bincount(triples[:, 0], minlength=count)
    into = np.bincount(triples[:, 2], minlength=count)
    there = out + into > 0
    sizes = Sizes.of(triples)
    component = components(triples, count)
    members = np.bincount(component[there]) if len(triples) else np.zeros(1, np.int64)
    giant = members.argmax()
    inside = component[triples[:, 0]] == giant
    return GraphStatistics(
        sizes,
        loops=int((triples[:, 0] == triples[:, 2]).sum()),
        density=_share(len(triples), sizes.entities**2 * sizes.relations),
        degrees=(out + into)[there],
        quantiles={
            name: _quantiles(degrees[there])
            for name, degrees in (("out", out), ("in", into), ("all", out + into))
        },
        components=int((members > 0).sum()),
        giant_entities=_share(int(members[giant]), sizes.entities),
        giant_triples=_share(int(inside.sum()), len(triples)),
        relations=_relation_table(graph),
        weight=None if graph.weights is None else float(graph.weights.sum()),
    )


def _quantiles(degrees: Ids) -> dict[str, float]:
    if not len(degrees):
        return dict.fromkeys(QUANTILES, 0.0)
    values = np.quantile(degrees, list(QUANTILES.values()))
    return dict(zip(QUANTILES, values.tolist(), strict=True))


def _relation_table(graph: KnowledgeGraph) -> pl.DataFrame:
    triples, count = graph.triples, graph.num_entities
    heads, kinds, tails = triples.T
    total = np.bincount(kinds, minlength=graph.num_relations)
    different = [
        np.bincount(distinct(kinds * count + ends) // max(count, 1), minlength=len(total))
        for ends in (heads, tails)
    ]
    reverse = np.stack([tails, kinds, heads], axis=1)
    keys = [triple_keys(part, count, graph.num_relations) for part in (triples, reverse)]
    mirrored = np.bincount(kinds, weights=np.isin(keys[1], keys[0]), minlength=len(total))
    table = pl.DataFrame(
        {
            "relation": graph.relations.labels,
            "triples": total,
            "heads": different[0],
            "tails": different[1],
            "mirrored": mirrored,
        }
    ).filter(pl.col("triples") > 0)
    table = table.with_columns(
        tails_per_head=pl.col("triples") / pl.col("heads"),
        heads_per_tail=pl.col("triples") / pl.col("tails"),
        symmetric=pl.col("mirrored") / pl.col("triples"),
    )
    side = {
        name: pl.when(pl.col(column) >= MANY).then(pl.lit("many")).otherwise(pl.lit("one"))
        for name, column in (("head", "heads_per_tail"), ("tail", "tails_per_head"))
    }
    kind = pl.concat_str(side["head"], pl.lit("-to-"), side["tail"])
    table = table.with_columns(kind=kind).drop("mirrored")
    return table.sort("triples", "relation", descending=[True, False])


def dataset_statistics(dataset: Dataset) -> DatasetStatistics:
    """Statistics of a dataset's graphs and splits."""
    facts = dataset.inference
    whole = facts.with_triples(np.concatenate([facts.triples, dataset.valid, dataset.test]))
    graphs = {"inference" if dataset.inductive else "graph": graph_statistics(whole)}
    if dataset.inductive:
        graphs = {"train": graph_statistics(dataset.train), **graphs}
    graphs["facts"] = graph_statistics(facts)

    new = ~dataset.known_relations
    parts = {"facts": facts.triples, "valid": dataset.valid, "test": dataset.test}
    there = np.unique(whole.triples[:, 1])
    shared = facts.entities.labels.is_in(dataset.train.entities.labels.implode())
    return DatasetStatistics(
        dataset.name,
        dataset.inductive,
        graphs,
        parts={name: len(triples) for name, triples in parts.items()},
        new={
            "relations": _counted(new[there]),
            "triples": _counted(new[whole.triples[:, 1]]),
            **{name: _counted(new[triples[:, 1]]) for name, triples in parts.items()},
        },
        shared_entities=int(shared.sum()),
    )


def _counted(marks: Any) -> dict[str, float]:
    return {"count": int(marks.sum()), "share": _share(int(marks.sum()), len(marks))}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
