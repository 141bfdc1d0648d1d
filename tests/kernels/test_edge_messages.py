"""The fused messages against the plain form and against sums written out."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.kernels import parallel
from ingram.kernels.adjacency import Adjacency, group_by_destination
from ingram.kernels.edge_messages import edge_messages
from tests.agreement import TOLERANCE, assert_agree, forward_and_gradients
from tests.strategies import MessageCase, message_cases

BACKENDS = ["fused", "plain"]
maxima_or_not = pytest.mark.parametrize("maxima", [False, True], ids=["sums", "maxima"])


def messages(case: MessageCase, backend: str):
    tensors = (case.states, case.weights, case.rows, case.scale)
    return edge_messages(*tensors, case.edges, maxima=case.maxima, backend=backend)


def both_ways(case: MessageCase, backend: str):
    """Output and the gradients of states and weights."""

    def form(states, weights):
        return messages(replace(case, states=states, weights=weights), backend)

    return forward_and_gradients(form, (case.states, case.weights))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@given(data=st.data())
def test_fused_and_plain_agree(dtype, data):
    case = data.draw(message_cases(dtype))
    fused, plain = (both_ways(case, backend) for backend in BACKENDS)
    assert_agree(fused, plain, TOLERANCE[dtype])


@pytest.mark.parametrize("backend", BACKENDS)
@given(case=message_cases(torch.float64))
def test_a_node_gets_the_sum_and_the_maximum_over_the_edges_into_it(backend, case):
    """Edge by edge, from the formula."""
    edges, sums, maxima = case.edges, *torch.zeros(2, *case.states.shape, dtype=torch.float64)
    for q, row in enumerate(case.rows):
        for v in range(edges.num_nodes):
            terms = [
                case.states[q, edges.sources[e]] * case.weights[row, edges.kinds[e]]
                for e in range(edges.pointers[v], edges.pointers[v + 1])
            ]
            if terms:
                sums[q, v] = case.scale[v] * sum(terms)
                maxima[q, v] = torch.stack(terms).amax(0)
    wanted = torch.cat([sums, maxima], dim=-1) if case.maxima else sums
    torch.testing.assert_close(messages(case, backend), wanted, rtol=1e-9, atol=1e-9)


def table(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def random_case(
    dtype=torch.float64,
    *,
    queries=4,
    tables=2,
    nodes=5,
    types=3,
    width=3,
    edges=14,
    maxima=False,
):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, (nodes, nodes, types), (edges, 3))
    return MessageCase(
        table(1, queries, nodes, width, dtype=dtype),
        table(2, tables, types, width, dtype=dtype),
        torch.arange(queries) % tables,
        table(3, nodes, dtype=dtype),
        group_by_destination(*ends.T, nodes),
        maxima,
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_queries_on_two_nodes_are_worked_by_hand(backend):
    """Node 0 has a loop and two edges from node 1, one twice over; node 1 has none."""
    edges = Adjacency(
        torch.tensor([0, 3, 3]),
        torch.tensor([0, 1, 1], dtype=torch.int32),
        torch.tensor([0, 1, 1], dtype=torch.int32),
    )
    states = torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]])
    weights = torch.tensor([[[5.0], [7.0]], [[11.0], [13.0]]])
    case = MessageCase(states, weights, torch.tensor([1, 0]), torch.tensor([0.5, 9.0]), edges)
    # Query 0 reads the second table: (1 * 11 + 2 * 13 * 2) / 2; query 1 the first.
    out = messages(case, backend)
    assert out.squeeze(-1).tolist() == [[(11 + 52) / 2, 0], [(15 + 56) / 2, 0]]
    beside = messages(replace(case, maxima=True), backend)
    assert beside[..., 1].tolist() == [[26, 0], [28, 0]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_gradient_of_a_maximum_goes_to_the_first_edge_that_reaches_it(backend):
    """Node 0 hears -6 and twice 6, of which the first comes from node 1."""
    edges = group_by_destination(
        np.zeros(3, int), np.array([0, 1, 2]), np.array([0, 1, 2]), num_nodes=3
    )
    states = torch.tensor([[[-2.0], [3.0], [2.0]]], requires_grad=True)
    weights = torch.tensor([[[3.0], [2.0], [3.0]]], requires_grad=True)
    case = MessageCase(states, weights, torch.tensor([0]), torch.zeros(3), edges, maxima=True)
    out = messages(case, backend)
    assert out[0, :, 1].tolist() == [6, 0, 0]
    d_states, d_weights = torch.autograd.grad(out.sum(), (states, weights))
    assert d_states.flatten().tolist() == [0, 2, 0]
    assert d_weights.flatten().tolist() == [0, 3, 0]


@maxima_or_not
def test_fused_gradients_are_the_slopes_of_its_output(maxima):
    case = random_case(maxima=maxima)

    def fused(states, weights):
        return messages(replace(case, states=states, weights=weights), "fused")

    inputs = (case.states.requires_grad_(), case.weights.requires_grad_())
    assert torch.autograd.gradcheck(fused, inputs)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("part", ["states", "weights", "scale"])
def test_a_diverged_input_shows_in_the_output_and_the_gradients(part, bad):
    case = random_case()
    getattr(case, part).view(-1)[4] = bad
    fused, plain = (both_ways(case, backend) for backend in BACKENDS)
    assert not all(array.isfinite().all() for array in fused)
    for one, other in zip(fused, plain, strict=True):
        if part != "states" and math.isinf(bad):
            # One kind's sources are summed first: infinity then has one sign, where the plain form
            # adds it with either and gets NaN.
            sound = other.isfinite()
            assert torch.equal(one.isfinite(), sound)
            one, other = one[sound], other[sound]
        torch.testing.assert_close(one, other, equal_nan=True)


@pytest.mark.parametrize("part", ["states", "weights"])
def test_a_diverged_input_shows_beside_maxima(part):
    """The sums have it, whatever the maxima make of it."""
    case = random_case(maxima=True)
    getattr(case, part).view(-1)[4] = torch.nan
    sums = messages(replace(case, maxima=False), "fused")
    assert not sums.isfinite().all()
    torch.testing.assert_close(messages(case, "fused")[..., :3], sums, equal_nan=True)


@maxima_or_not
def test_the_ops_pass_opcheck(maxima):
    case = random_case(maxima=maxima)
    graph = (case.edges.pointers, case.edges.sources, case.edges.kinds)
    rest = (case.rows, case.scale, *graph)
    tensors = [t.clone().requires_grad_() for t in (case.states, case.weights)]
    flags = (maxima, maxima)
    torch.library.opcheck(torch.ops.ingram.edge_messages.default, (*tensors, *rest, *flags))
    out, kept = torch.ops.ingram.edge_messages(case.states, case.weights, *rest, *flags)
    arguments = (torch.ones_like(out), kept, case.states, case.weights, *rest)
    torch.library.opcheck(torch.ops.ingram.edge_messages_backward.default, arguments)


@maxima_or_not
def test_the_op_compiles_whole_with_its_gradient(maxima):
    case = random_case(maxima=maxima)

    def loss(states, weights):
        return messages(replace(case, states=states, weights=weights), "auto").square().sum()

    inputs = [t.clone().requires_grad_() for t in (case.states, case.weights)]
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    found = torch.autograd.grad(compiled(*inputs), inputs)
    assert_agree(found, torch.autograd.grad(loss(*inputs), inputs), 1e-12)


@maxima_or_not
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_the_same_inputs_give_the_same_bits_on_any_number_of_threads(
    dtype, maxima, threads, monkeypatch
):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    case = random_case(dtype, queries=7, tables=3, nodes=30, width=11, edges=300, maxima=maxima)
    threads(1)
    once = both_ways(case, "fused")
    for count in (1, 2, 5):
        threads(count)
        for one, other in zip(both_ways(case, "fused"), once, strict=True):
            assert torch.equal(one, other)


@maxima_or_not
def test_a_query_has_the_same_bits_alone_and_among_others(maxima):
    case = random_case(torch.float32, queries=5, nodes=30, width=11, edges=300, maxima=maxima)
    together = messages(case, "fused")
    for q in range(5):
        alone = replace(case, states=case.states[q : q + 1], rows=case.rows[q : q + 1])
        assert torch.equal(messages(alone, "fused")[0], together[q])


def test_strided_inputs_are_taken_as_they_are():
    """A transposed table and a slice of a wider one."""
    case = random_case()
    strided = replace(
        case,
        states=case.states.mT.contiguous().mT,
        weights=torch.cat([case.weights, case.weights], dim=-1)[..., :3],
    )
    assert not strided.states.is_contiguous()
    assert_agree(*(both_ways(c, "fused") for c in (strided, case)), 1e-12)


def test_the_plain_form_runs_on_a_device_without_data():
    """Nothing in it names a device or waits for a value."""
    case, meta = random_case(), torch.device("meta")
    tensors = (t.to(meta) for t in (case.states, case.weights, case.rows, case.scale))
    out = edge_messages(*tensors, case.edges.to(meta), maxima=True)
    assert out.device == meta
    assert out.shape == (4, 5, 6)
