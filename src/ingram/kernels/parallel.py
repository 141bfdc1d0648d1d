"""How loops are compiled, and run on as many threads as torch uses.

The loops are compiled without the interpreter lock and called on ranges of rows. On Linux they run
on the very threads of torch's matrix products: those spin for a while after a product and would
keep any others off the cores. Elsewhere a pool of plain threads serves. Either way one number,
``torch.get_num_threads()``, governs products and loops alike. No two ranges write to the same
place, so the number of threads does not change the bits.

A loop has two functions: one for a range, and one that forks it, see
:func:`ingram.kernels.teams.fork`, for :func:`run` to call.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import numba
import torch
from torch import Tensor

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
"""What the compiler may assume of sums and products: all but that NaN and infinity never occur. A
diverged model must show."""

compiled = numba.njit(nogil=True, error_model="numpy", cache=True)
compiled_fast = numba.njit(nogil=True, fastmath=FASTMATH, error_model="numpy", cache=True)
inlined_fast = numba.njit(
    nogil=True, fastmath=FASTMATH, error_model="numpy", cache=True, forceinline=True
)
"""For what such a loop calls. A function of its own would be compiled alone by the process that
compiles the loop, and along with the loop for those that read it from the disk: other bits."""
SMALLEST_SHARE = 500
"""Work (edges, triples, scores / 100) below which another thread costs more than it brings."""


def arrays(*tensors: Tensor | None) -> list[Any]:
    """Tensors as the loops take them: contiguous, without a gradient; None stays None."""
    return [
        None if t is None else (t.detach() if t.requires_grad else t).contiguous().numpy()
        for t in tensors
    ]


def bare() -> bool:
    """Whether a loop may be called as it is: no gradient is recorded, nothing is being compiled.

    Otherwise torch must know the operation; the first call of one loads its compiler, which takes
    seconds.
    """
    return not (torch.is_grad_enabled() or torch.compiler.is_compiling())


_SHARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_FIRST_PROCESS = os.getpid()


@cache
def _team(process: int) -> Callable[..., None] | None:
    """GNU OpenMP's call that runs a function on all of its threads, if torch's products use it.

    A process that was forked off has none of the threads.
    """
    if process != _FIRST_PROCESS or not hasattr(os, "RTLD_NOLOAD"):
        return None
    for path in Path(torch.__file__).parent.glob("lib/libgomp*"):
        try:
            library = ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:  # it lies there, and torch did not load it
            continue
        return getattr(library, "GOMP_parallel", None)
    return None


@cache
def _address(process: int) -> int:
    """Of that call, or 0: compiled code makes it without the interpreter."""
    team = _team(process)
    return 0 if team is None else ctypes.cast(cast("Any", team), ctypes.c_void_p).value or 0


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1), thread_name_prefix="ingram")


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What the calls return, each made by the next thread that is free, in their order."""
    results, threads = [None] * len(calls), torch.get_num_threads()
    turns, errors, ended = itertools.count(), list[BaseException](), set[int]()

    def share(_: Any = None) -> None:
        try:
            while (i := next(turns)) < len(calls):
                results[i] = calls[i]()
        except BaseException as error:  # C calls this: nothing may leave it
            errors.append(error)
        ended.add(threading.get_ident())

    if min(threads, len(calls)) <= 1:
        share()
    elif (team := _team(os.getpid())) is not None:
        team(_SHARE(share), None, threads, 0)  # all threads: a team of another size is made anew
    else:
        pool = _pool(os.getpid())
        waiting = [pool.submit(share) for _ in range(1, min(threads, len(calls)))]
        share()
        for task in waiting:
            if not task.cancel():  # of one that never began, all calls are made already
                task.result()
    if threading.get_ident() not in ended:  # Ctrl-C, just as it was called
        raise KeyboardInterrupt
    if errors:
        raise next((e for e in errors if isinstance(e, KeyboardInterrupt)), errors[0])
    return results


def run(loop: Callable[..., bool], units: int, *arguments: Any, work: int) -> None:
    """Call a loop of :mod:`ingram.kernels.teams` on ranges that make up ``units``, one a thread.

    Little ``work`` (edges, triples, scores / 100) takes fewer threads.
    """
    threads, team = torch.get_num_threads(), _address(os.getpid())
    parts = max(1, min(threads, units, work // SMALLEST_SHARE))
    if parts == 1 or team:
        whole = loop((team if parts > 1 else 0, threads, parts, 0, units), *arguments)
    else:
        ends = itertools.pairwise(units * i // parts for i in range(parts + 1))
        whole = all(together(*(partial(loop, (0, 1, 1, *pair), *arguments) for pair in ends)))
    if not whole:
        raise MemoryError("not enough memory for a loop over the graph")
