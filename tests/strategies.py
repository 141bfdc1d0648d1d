"""Random graphs and edges for the property tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import torch
from hypothesis import strategies as st
from torch import Tensor

from ingram.graph import KnowledgeGraph
from ingram.kernels.adjacency import Adjacency, group_by_destination
from ingram.labels import Vocabulary

seeds = st.integers(0, 2**32 - 1)


def vocabulary(prefix: str, count: int, what: str) -> Vocabulary:
    return Vocabulary(pl.Series([f"{prefix}{i}" for i in range(count)], dtype=pl.String), what)


def graph_of(triples, num_entities: int, num_relations: int) -> KnowledgeGraph:
    """A graph of ids; ids without a triple are isolated entities and empty relation types."""
    return KnowledgeGraph(
        np.array(triples, np.int64).reshape(-1, 3),
        vocabulary("e", num_entities, "entity"),
        vocabulary("r", num_relations, "relation"),
    )


def random_graph(seed: int, num_entities: int, num_relations: int, count: int) -> KnowledgeGraph:
    """About ``count`` distinct triples, self-loops and parallel edges among them."""
    rng = np.random.default_rng(seed)
    limits = (num_entities, num_relations, num_entities)
    triples = np.unique(rng.integers(0, limits, (count, 3)), axis=0)
    return graph_of(rng.permutation(triples), num_entities, num_relations)


@st.composite
def graphs(
    draw,
    *,
    max_entities: int = 8,
    max_relations: int = 4,
    min_triples: int = 0,
    max_triples: int = 24,
) -> KnowledgeGraph:
    """Connected or not; isolated entities, self-loops, parallel edges, empty relation types."""
    n, m = draw(st.integers(1, max_entities)), draw(st.integers(1, max_relations))
    ends = st.integers(0, n - 1)
    triple = st.tuples(ends, st.integers(0, m - 1), ends)
    least, most = min(min_triples, n * n * m), min(max_triples, n * n * m)
    return graph_of(draw(st.lists(triple, min_size=least, max_size=most, unique=True)), n, m)


@dataclass(frozen=True)
class AttentionCase:
    """Arguments of ``edge_attention``, in its order."""

    tensors: tuple[Tensor | None, ...]
    edges: Adjacency
    mean_loop: bool


@st.composite
def attention_cases(draw, dtype: torch.dtype, *, kinds: bool, bias: bool) -> AttentionCase:
    """S draws, N nodes, K kinds, H heads of width D; edges that may repeat, loop, or be none."""
    nodes, types = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    heads, draws = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    width = draw(st.sampled_from([1, 3, 8, 11]))  # one lane or eight, one step or several
    node = st.integers(0, nodes - 1)
    edge = st.tuples(node, node, st.integers(0, types - 1))
    edges = np.array(draw(st.lists(edge, max_size=20)), np.int64).reshape(-1, 3)
    generator = torch.Generator().manual_seed(draw(seeds))
    # In float32 a difference of large terms is all rounding, in either form.
    scale = draw(st.sampled_from([0.1, 1.0, 5.0] if dtype == torch.float64 else [0.1, 1.0]))

    def table(*shape: int) -> Tensor:
        normal = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (scale * normal).to(dtype)

    return AttentionCase(
        (
            table(heads, draws, nodes, 4, width),
            table(heads, draws, types, 2, width) if kinds else None,
            table(heads, width),
            table(types, heads) if bias else None,
        ),
        group_by_destination(*edges.T, nodes),
        mean_loop=kinds and draw(st.booleans()),
    )


@dataclass(frozen=True)
class MessageCase:
    """Arguments of ``edge_messages``, in its order: states, weights, rows, scale, edges."""

    states: Tensor
    weights: Tensor
    rows: Tensor
    scale: Tensor
    edges: Adjacency
    maxima: bool = False


@st.composite
def message_cases(draw, dtype: torch.dtype) -> MessageCase:
    """Q queries that read R tables of K kinds; nodes and kinds without edges, or none at all.

    Whole numbers make messages that are equal, and so have several edges reach a maximum.
    """
    nodes, types = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    tables, width = draw(st.integers(1, 3)), draw(st.integers(1, 9))
    node = st.integers(0, nodes - 1)
    edge = st.tuples(node, node, st.integers(0, types - 1))
    edges = np.array(draw(st.lists(edge, max_size=20)), np.int64).reshape(-1, 3)
    rows = draw(st.lists(st.integers(0, tables - 1), min_size=0, max_size=4))
    generator = torch.Generator().manual_seed(draw(seeds))
    whole = draw(st.booleans())

    def table(*shape: int) -> Tensor:
        normal = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (normal.round() if whole else normal).to(dtype)

    return MessageCase(
        table(len(rows), nodes, width),
        table(tables, types, width),
        torch.tensor(rows, dtype=torch.long),
        table(nodes),
        group_by_destination(*edges.T, nodes),
        maxima=draw(st.booleans()),
    )
