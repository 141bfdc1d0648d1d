"""One number of threads for everything, and compilation paid once."""

import ctypes
import os
import threading
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pytest
import torch

from ingram.kernels import parallel
from ingram.kernels.teams import fork
from tests.processes import run_python

if os.name != "nt":
    pthread_self, sched_yield = ctypes.CDLL(None).pthread_self, ctypes.CDLL(None).sched_yield
    pthread_self.restype, pthread_self.argtypes = ctypes.c_int64, []
    sched_yield.restype, sched_yield.argtypes = ctypes.c_int, []


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["torch's threads", "a pool"])
def either_way(request, monkeypatch):
    """Where torch's threads cannot be had, a pool is all there is."""
    if request.param == "a pool":
        monkeypatch.setattr(parallel, "_team", lambda process: None)
        monkeypatch.setattr(parallel, "_address", lambda process: 0)


def test_loops_run_on_the_threads_of_torch_where_these_are_gnu_openmp():
    maps = Path("/proc/self/maps")
    if not maps.exists() or "torch/lib/libgomp" not in maps.read_text():
        pytest.skip("torch has another OpenMP here")
    assert parallel._team(os.getpid()) is not None
    assert parallel._team(-1) is None  # another process
    assert parallel._address(os.getpid()) > 0
    assert parallel._address(-1) == 0


@pytest.mark.usefixtures("three_threads", "either_way")
def test_every_thread_that_is_free_takes_a_call():
    names, all_three = set(), threading.Barrier(3, timeout=60)

    def call():
        names.add(threading.get_ident())
        all_three.wait()

    parallel.together(*[call] * 3)
    assert len(names) == 3


@pytest.mark.usefixtures("three_threads", "either_way")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_calls_answer_in_their_order(count):
    assert parallel.together(*(partial(int, i) for i in range(count))) == list(range(count))


@pytest.mark.usefixtures("three_threads", "either_way")
def test_calls_within_calls_are_made_too():
    inner = [partial(parallel.together, *[partial(int, i)] * 3) for i in range(3)]
    assert parallel.together(*inner) == [[i] * 3 for i in range(3)]


@pytest.mark.usefixtures("three_threads", "either_way")
def test_an_error_on_another_thread_is_raised_here():
    all_three = threading.Barrier(3, timeout=60)

    def call(number):
        all_three.wait()
        if number == 1:
            raise RuntimeError("on a worker")

    with pytest.raises(RuntimeError, match="on a worker"):
        parallel.together(*(partial(call, i) for i in range(3)))


@pytest.mark.usefixtures("three_threads", "either_way")
def test_ctrl_c_is_raised_before_another_error():
    all_three = threading.Barrier(3, timeout=60)

    def call(error):
        all_three.wait()
        raise error

    errors = (RuntimeError(), KeyboardInterrupt(), RuntimeError())
    with pytest.raises(KeyboardInterrupt):
        parallel.together(*(partial(call, error) for error in errors))


def test_ctrl_c_before_a_thread_has_begun_is_not_lost(three_threads, monkeypatch):
    """It leaves what C has called, and C cannot hand it on."""

    def team(share, *_):
        other = threading.Thread(target=share, args=(None,))  # only another thread gets to it
        other.start()
        other.join()

    monkeypatch.setattr(parallel, "_team", lambda process: team)
    with pytest.raises(KeyboardInterrupt):
        parallel.together(int, int)


@numba.njit(nogil=True)
def _write(start, stop, out, more, nothing):
    """Where the range of each unit starts, and how often it was visited."""
    for i in range(start, stop):
        out[0, i] = start
        out[1, i] += more[0] if nothing is None else 100


@numba.njit(nogil=True)
def write(where, *arguments):
    return fork(where, _write, arguments)


@numba.njit(nogil=True)
def _fail(start, stop, first):
    if start >= first:
        raise ValueError("as an allocation that fails does")


@numba.njit(nogil=True)
def fail(where, *arguments):
    return fork(where, _fail, arguments)


@numba.njit(nogil=True)
def _dwell(start, stop, seen):
    """A range stays until all have begun, or for long; so no thread takes two."""
    seen[start] = pthread_self()
    for _ in range(10_000_000):
        if seen.all():
            break
        sched_yield()


@numba.njit(nogil=True)
def dwell(where, *arguments):
    return fork(where, _dwell, arguments)


@pytest.mark.usefixtures("three_threads", "either_way")
@pytest.mark.parametrize("units", [0, 1, 2, 3, 7, 100])
def test_ranges_make_up_all_units_once(units):
    out = np.zeros((2, units))
    parallel.run(write, units, out, (1,), None, work=10**9)
    assert (out[1] == 1).all()
    parts = max(1, min(3, units))
    starts = {units * i // parts for i in range(parts)} if units else set()
    assert set(out[0].tolist()) == starts


@pytest.mark.usefixtures("three_threads", "either_way")
def test_little_work_takes_one_thread():
    out = np.zeros((2, 9))
    parallel.run(write, 9, out, (1,), None, work=10)
    assert out.tolist() == [[0] * 9, [1] * 9]


@pytest.mark.skipif(os.name == "nt", reason="no POSIX threads here")
@pytest.mark.usefixtures("three_threads", "either_way")
def test_each_range_has_a_thread_of_its_own():
    seen = np.zeros(3, np.int64)
    parallel.run(dwell, 3, seen, work=10**9)
    assert len(set(seen.tolist())) == 3


@pytest.mark.usefixtures("three_threads", "either_way")
@pytest.mark.parametrize("first", [0, 2])
def test_a_range_that_fails_on_any_thread_is_heard_of(first):
    with pytest.raises(MemoryError, match="not enough memory"):
        parallel.run(fail, 3, first, work=10**9)
    parallel.run(fail, 3, 3, work=10**9)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no processor affinity here")
def test_a_process_confined_to_one_core_uses_one_thread():
    code = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
        "import ingram, torch; print(torch.get_num_threads())"
    )
    environment = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "")
    code = "import os\nfor k in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS'): os.environ.pop(k)\n" + code
    assert run_python(code, **environment) == "1"


def test_idle_threads_of_torch_spin_briefly_unless_the_user_says_otherwise():
    code = "import ingram, os; print(os.environ['GOMP_SPINCOUNT'])"
    assert run_python(code, GOMP_SPINCOUNT="77") == "77"


def test_a_second_process_compiles_nothing():
    code = """
import torch
from ingram.kernels import edge_gradients, edge_loops, edge_messages, message_loops
from ingram.kernels.adjacency import Adjacency
from ingram.kernels.edge_attention import edge_attention
edges = Adjacency(torch.tensor([0, 1, 2]), *(torch.zeros(2, dtype=torch.int32),) * 2)
nodes = torch.randn(1, 2, 2, 4, 4, requires_grad=True)
kinds = torch.randn(1, 2, 1, 2, 4)
edge_attention(nodes, kinds, torch.randn(2, 4), None, edges, mean_loop=True).sum().backward()
states = torch.randn(1, 2, 4, requires_grad=True)
rows = torch.zeros(1, dtype=torch.long)
weights, scale = torch.randn(1, 1, 4), torch.ones(2)
edge_messages.edge_messages(states, weights, rows, scale, edges).sum().backward()
loops = (
    edge_loops.forward, edge_gradients.backward, message_loops.forward, message_loops.backward
)
for loop in loops:
    print(sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values()))
"""
    run_python(code)
    assert run_python(code).split() == ["1", "0"] * 4
