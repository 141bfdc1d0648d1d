"""Graphs from and to other tools: NetworkX, PyTorch Geometric, PyKEEN.

None of them is needed to use this package: each is imported when one of its functions is called.
Labels and entity ids survive the way there and back. NetworkX keeps edges by node, so triples
and relation ids come back in that order; the other two keep those as well.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ingram.errors import MissingPackageError, TriplesError
from ingram.graph import KnowledgeGraph
from ingram.labels import Vocabulary

if TYPE_CHECKING:
    import networkx as nx

log = logging.getLogger(__name__)


def to_networkx(graph: KnowledgeGraph) -> nx.MultiDiGraph:
    """Labels as nodes, a triple as an edge whose key is the relation's label.

    A weighted graph's edges have the attribute ``weight``.
    """
    made = _module("networkx").MultiDiGraph()
    made.add_nodes_from(graph.entities.labels)
    rows = graph.decode(graph.triples).select("head", "tail", "relation").iter_rows()
    if graph.weights is None:
        made.add_edges_from(rows)
    else:
        weights = graph.weights.tolist()
        made.add_edges_from((*row, {"weight": w}) for row, w in zip(rows, weights, strict=True))
    return made


def from_networkx(
    graph: nx.MultiDiGraph, *, relation: str | None = None, weight: str = "weight"
) -> KnowledgeGraph:
    """The inverse: a directed graph whose edges name their relation.

    ``relation`` is the edge attribute that names it; without it, the edge's key does. Nodes are
    called by their text. An edge without the attribute ``weight`` counts once.
    """
    if not graph.is_directed() or not (relation or graph.is_multigraph()):
        raise TriplesError(
            "want a directed graph, and relation= to name the edge attribute unless it is a "
            f"MultiDiGraph with relations as keys, got a {type(graph).__name__}"
        )
    entities = _vocabulary(graph.nodes, "entity")
    heads, tails, relations, weights = [], [], [], []
    for head, tail, *key, data in graph.edges(data=True, **_keys(graph)):
        label = data.get(relation) if relation else key[0]
        if label is None or (relation is None and not isinstance(label, str)):
            raise TriplesError(
                f"edge {head!r} to {tail!r}: want the relation's label as "
                f"{f'attribute {relation!r}' if relation else 'key'}, got {label!r}"
            )
        heads.append(str(head))
        tails.append(str(tail))
        relations.append(str(label))
        weights.append(data.get(weight))
    table = pl.DataFrame(
        {"head": heads, "relation": relations, "tail": tails}, schema_overrides=_TEXT
    )
    kinds = Vocabulary(table["relation"].unique(maintain_order=True), "relation")
    made = KnowledgeGraph(np.empty((0, 3), np.int64), entities, kinds)
    weighted = any(w is not None for w in weights)
    each = [1.0 if w is None else w for w in weights] if weighted else None
    return made.with_triples(made.encode(table), each)


_TEXT = {"head": pl.String, "relation": pl.String, "tail": pl.String}


def _keys(graph: Any) -> dict[str, bool]:
    return {"keys": True} if graph.is_multigraph() else {}


def to_pyg(graph: KnowledgeGraph) -> Any:
    """A ``torch_geometric.data.Data``: edge_index (2, T), edge_type (T,), num_nodes.

    The labels are lists, ``entity_labels`` and ``relation_labels``; a weighted graph also gives
    edge_weight (T,).
    """
    import torch

    heads, relations, tails = torch.from_numpy(graph.triples.copy()).T
    more = {} if graph.weights is None else {"edge_weight": torch.from_numpy(graph.weights.copy())}
    return _module("torch_geometric.data", "torch_geometric").Data(
        edge_index=torch.stack([heads, tails]),
        edge_type=relations.contiguous(),
        num_nodes=graph.num_entities,
        entity_labels=graph.entities.labels.to_list(),
        relation_labels=graph.relations.labels.to_list(),
        **more,
    )


def from_pyg(
    data: Any, *, entities: Sequence[str] | None = None, relations: Sequence[str] | None = None
) -> KnowledgeGraph:
    """The inverse. Labels are the given ones, else those that ``data`` carries, else the ids."""
    missing = [name for name in ("edge_index", "edge_type") if getattr(data, name, None) is None]
    if missing:
        raise TriplesError(f"want Data with edge_index and edge_type, got none for {missing[0]}")
    heads, tails = data.edge_index.cpu().numpy()
    kinds = data.edge_type.cpu().numpy()
    count = int(kinds.max()) + 1 if len(kinds) else 0
    made = KnowledgeGraph(
        np.empty((0, 3), np.int64),
        _vocabulary(
            entities or getattr(data, "entity_labels", None) or range(data.num_nodes), "entity"
        ),
        _vocabulary(
            relations or getattr(data, "relation_labels", None) or range(count), "relation"
        ),
    )
    weights = getattr(data, "edge_weight", None)
    return made.with_triples(
        np.stack([heads, kinds, tails], axis=1), None if weights is None else weights.cpu().numpy()
    )


def to_pykeen(graph: KnowledgeGraph) -> Any:
    """A ``pykeen.triples.TriplesFactory`` with the same ids. It has no room for weights."""
    import torch

    if graph.weights is not None:
        log.warning("a TriplesFactory has no weights: those of this graph are left out")
    return _module("pykeen.triples", "pykeen").TriplesFactory(
        mapped_triples=torch.from_numpy(graph.triples.copy()),
        entity_to_id={label: i for i, label in enumerate(graph.entities.labels)},
        relation_to_id={label: i for i, label in enumerate(graph.relations.labels)},
    )


def from_pykeen(factory: Any) -> KnowledgeGraph:
    """The inverse, without the inverse triples that a factory may add when it trains.

    A factory without labels gives the ids as labels.
    """
    entities = getattr(factory, "entity_to_id", None) or range(factory.num_entities)
    relations = getattr(factory, "relation_to_id", None) or range(factory.real_num_relations)
    made = KnowledgeGraph(
        np.empty((0, 3), np.int64),
        _vocabulary(_by_id(entities), "entity"),
        _vocabulary(_by_id(relations), "relation"),
    )
    return made.with_triples(factory.mapped_triples.cpu().numpy())


def _by_id(labels: Any) -> Iterable[Any]:
    return sorted(labels, key=labels.__getitem__) if isinstance(labels, dict) else labels


def _vocabulary(labels: Iterable[Any], what: str) -> Vocabulary:
    texts = pl.Series([str(label) for label in labels], dtype=pl.String)
    if texts.n_unique() != len(texts):
        twice = texts.filter(texts.is_duplicated())[0]
        raise TriplesError(f"want one label for each {what}, got two that read {twice!r}")
    return Vocabulary(texts, what)


def _module(name: str, package: str | None = None) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = package or name
        raise MissingPackageError(
            f'this needs {package}, which is not installed: pip install "{package}"'
        ) from error
