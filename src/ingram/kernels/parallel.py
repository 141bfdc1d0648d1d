"""Running a compiled loop on as many threads as torch uses.

The loops are compiled without the interpreter lock and called on ranges of rows from a pool of
plain threads, so one number, ``torch.get_num_threads()``, governs matrix products and loops alike.
Ranges depend on the work and the number of threads only, so the same number gives the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import torch

from ingram.graph import Ids

SMALLEST_SHARE = 2_000
"""Work units (edges, triples, scores / 100) below which another thread costs more than it brings."""


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1), thread_name_prefix="ingram")


def even_ranges(work: int, rows: int) -> list[tuple[int, int]]:
    """Ranges of equally many rows, one a thread; fewer when there is little work."""
    parts = max(1, min(torch.get_num_threads(), rows, work // SMALLEST_SHARE))
    bounds = [rows * i // parts for i in range(parts + 1)]
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def edge_ranges(pointers: Ids, copies: int) -> list[tuple[int, int]]:
    """Ranges of nodes, numbered through ``copies`` of a graph, with equally many edges each."""
    nodes = len(pointers) - 1
    edges = int(pointers[-1] - pointers[0]) + nodes
    parts = max(1, min(torch.get_num_threads(), copies * nodes, copies * edges // SMALLEST_SHARE))
    if parts == 1:
        return [(0, copies * nodes)]
    work = pointers - pointers[0] + np.arange(nodes + 1)
    wanted = [copies * edges * i // parts for i in range(1, parts)]
    inner = [w // edges * nodes + int(np.searchsorted(work, w % edges)) for w in wanted]
    bounds = [0, *inner, copies * nodes]
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def run(loop: Callable[[int, int, int], None], ranges: list[tuple[int, int]]) -> None:
    """Call ``loop(part, start, stop)`` for every range, the first on this thread."""
    pool = _pool(os.getpid())
    waiting = [pool.submit(loop, i, *r) for i, r in enumerate(ranges) if i > 0]
    loop(0, *ranges[0])
    for task in waiting:
        task.result()
