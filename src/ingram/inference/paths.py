"""Paths between two entities: the best by a weight on edges, found by beam search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from ingram.graph import Ids
from ingram.kernels.adjacency import Adjacency

BEAM = 256
"""Unfinished paths that are followed at each step."""
EXPANSION = 2**22
"""Edges looked at in one step, at most; the weakest unfinished paths go first."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Walk:
    """nodes: from the first entity to the last, none twice; edges: places in the adjacency;
    weight: the mean gain of its edges.
    """

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    weight: float


def best_paths(
    edges: Adjacency, gains: Floats, first: int, last: int, longest: int, count: int
) -> list[Walk]:
    """The ``count`` strongest paths of at most ``longest`` edges, strongest first.

    gains: (E,), one an edge. A path is as strong as its edges are on average: by their sum a long
    one would win for its length alone, and its weakest edge says little of the others. Edges are
    followed backwards from ``last``, as they lie in the adjacency.
    """
    pointers, sources = edges.pointers.numpy(), edges.sources.numpy()
    away = steps_from(edges, first, longest)
    nodes, taken = np.array([[last]]), np.empty((1, 0), np.int64)
    sums = np.zeros(1)
    found: list[Walk] = []
    for left in range(longest - 1, -1, -1):
        row, edge = _expanded(pointers, nodes[:, -1])
        source = sources[edge]
        open_ = (away[source] <= left) & (nodes[row] != source[:, None]).all(axis=1)
        row, edge, source = row[open_], edge[open_], source[open_]
        total = sums[row] + gains[edge]
        order = np.argsort(-total, kind="stable")
        done = order[source[order] == first][:count]
        for i in done.tolist():
            visited = (*nodes[row[i]].tolist(), first)[::-1]
            walked = (*taken[row[i]].tolist(), int(edge[i]))[::-1]
            found.append(Walk(visited, walked, total[i] / len(walked)))
        kept = order[source[order] != first][:BEAM]
        nodes = np.concatenate([nodes[row[kept]], source[kept, None]], axis=1)
        taken = np.concatenate([taken[row[kept]], edge[kept, None]], axis=1)
        sums = total[kept]
    return sorted(found, key=lambda walk: (-walk.weight, len(walk.edges)))[:count]


def without(edges: Adjacency, walk: Walk, num_relations: int) -> Adjacency:
    """The edges less those of a path, and less the same facts read the other way.

    num_relations: m, where kinds are in [0, 2m) and k + m is k backwards.
    """
    gone = list(walk.edges)
    for edge, source, target in zip(walk.edges, walk.nodes[:-1], walk.nodes[1:], strict=True):
        into = slice(*edges.pointers[source : source + 2].tolist())
        back = (edges.kinds[edge] + num_relations) % (2 * num_relations)
        twins = (edges.sources[into] == target) & (edges.kinds[into] == back)
        gone += (torch.nonzero(twins)[:, 0] + into.start).tolist()
    kept = torch.ones(edges.num_edges, dtype=torch.bool, device=edges.sources.device)
    kept[gone] = False
    before = torch.cat([edges.pointers.new_zeros(1), kept.cumsum(0)])
    return Adjacency(before[edges.pointers], edges.sources[kept], edges.kinds[kept])


def steps_from(edges: Adjacency, first: int, most: int) -> Ids:
    """(n,): how many edges away each entity is; ``most + 1`` for further. Edges go both ways."""
    away = np.full(edges.num_nodes, most + 1)
    away[first] = 0
    pointers, sources = edges.pointers.numpy(), edges.sources.numpy()
    front = np.array([first])
    for step in range(1, most + 1):
        _, edge = _expanded(pointers, front, limit=None)
        front = np.unique(sources[edge])
        front = front[away[front] > most]
        away[front] = step
    return away


def _expanded(pointers: Ids, ends: Ids, limit: int | None = EXPANSION) -> tuple[Ids, Ids]:
    """Rows of ``ends`` and the edges into each, flat."""
    degrees = pointers[ends + 1] - pointers[ends]
    if limit is not None and degrees.sum() > limit:
        keep = max(1, int(np.searchsorted(np.cumsum(degrees), limit, side="right")))
        ends, degrees = ends[:keep], degrees[:keep]
    row = np.repeat(np.arange(len(ends)), degrees)
    starts = np.cumsum(degrees) - degrees
    edge = np.arange(len(row)) - np.repeat(starts - pointers[ends], degrees)
    return row, edge
