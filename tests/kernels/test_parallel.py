"""One number of threads for everything, and compilation paid once."""

import os
import threading
from pathlib import Path

import pytest
import torch

from ingram.kernels import parallel
from tests.processes import run_python


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


def test_loops_run_on_the_threads_of_torch_where_these_are_gnu_openmp():
    maps = Path("/proc/self/maps")
    if not maps.exists() or "torch/lib/libgomp" not in maps.read_text():
        pytest.skip("torch has another OpenMP here")
    assert parallel._team(os.getpid()) is not None
    assert parallel._team(-1) is None  # another process


@pytest.mark.usefixtures("three_threads", "either_way")
def test_every_thread_that_is_free_takes_a_range():
    names, both = set(), threading.Barrier(3, timeout=60)

    def loop(start, stop):
        names.add(threading.get_ident())
        both.wait()

    parallel.run(loop, 3, work=10**9)
    assert len(names) == 3


@pytest.mark.usefixtures("three_threads", "either_way")
def test_ranges_make_up_all_units_once():
    for units in (1, 2, 3, 7, 100):
        seen = []
        parallel.run(lambda a, b, seen=seen: seen.extend(range(a, b)), units, work=10**9)
        assert sorted(seen) == list(range(units))


@pytest.mark.usefixtures("three_threads", "either_way")
def test_threads_follow_torch_and_little_work_takes_one():
    calls = []
    parallel.run(lambda a, b: calls.append((a, b)), 9, work=10**9)
    assert sorted(calls) == [(0, 3), (3, 6), (6, 9)]
    calls.clear()
    parallel.run(lambda a, b: calls.append((a, b)), 9, work=10)
    assert calls == [(0, 9)]


@pytest.mark.usefixtures("three_threads", "either_way")
def test_an_error_on_another_thread_is_raised_here():
    def loop(start: int, stop: int) -> None:
        if start > 0:
            raise RuntimeError("on a worker")

    with pytest.raises(RuntimeError, match="on a worker"):
        parallel.run(loop, 9, work=10**9)


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
from ingram.kernels import edge_gradients, edge_loops, edge_messages
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
    edge_loops.forward, edge_gradients.backward, edge_messages._forward, edge_messages._backward
)
for loop in loops:
    print(sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values()))
"""
    run_python(code)
    assert run_python(code).split() == ["1", "0"] * 4
