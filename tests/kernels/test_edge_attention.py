"""The fused loops against the plain form, on graphs with every kind of edge."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.kernels import parallel
from ingram.kernels.adjacency import group_by_destination
from ingram.kernels.edge_attention import edge_attention
from tests.agreement import TOLERANCE, assert_agree, forward_and_gradients
from tests.strategies import AttentionCase, attention_cases

FORMS = [(True, False), (False, True), (True, True), (False, False)]


def both_ways(case: AttentionCase, backend: str):
    """Output and gradients of a case."""

    def form(*tensors):
        return edge_attention(*tensors, case.edges, mean_loop=case.mean_loop, backend=backend)

    return forward_and_gradients(form, case.tensors)


# Kinds and bias at once are no layer's form: float64 is enough for them.
CASES = [(t, *f) for t in TOLERANCE for f in FORMS if f != (True, True) or t == torch.float64]


@pytest.mark.parametrize(("dtype", "kinds", "bias"), CASES, ids=str)
@settings(max_examples=30)
@given(data=st.data())
def test_fused_and_plain_agree(dtype, kinds, bias, data):
    case = data.draw(attention_cases(dtype, kinds=kinds, bias=bias))
    fused, plain = (both_ways(case, backend) for backend in ("fused", "plain"))
    assert_agree(fused, plain, TOLERANCE[dtype])


def table(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def random_case(dtype=torch.float64, *, draws=2, nodes=5, types=3, heads=2, width=3, edges=14,
                kinds=True, bias=False, mean_loop=True) -> AttentionCase:  # fmt: skip
    rng = np.random.default_rng(0)
    ends = rng.integers(0, (nodes, nodes, types), (edges, 3))
    return AttentionCase(
        (
            table(1, heads, draws, nodes, 4, width, dtype=dtype),
            table(3, heads, draws, types, 2, width, dtype=dtype) if kinds else None,
            table(4, heads, width, dtype=dtype),
            table(5, types, heads, dtype=dtype) if bias else None,
        ),
        group_by_destination(*ends.T, nodes),
        mean_loop=kinds and mean_loop,
    )


@pytest.mark.parametrize("backend", ["fused", "plain"])
def test_a_single_node_with_two_loops_is_worked_by_hand(backend):
    """Logits 2 * 3 and 2 * 0.2 * (-5) = -2 (LeakyReLU) plus biases 0 and 8: both 6, so halves."""
    edges = group_by_destination(*np.array([[0, 0], [0, 0], [0, 1]]), 1)
    # Query 1, residual 1/2, key 1, value 10.
    nodes = torch.tensor([1.0, 0.5, 1.0, 10.0]).view(1, 1, 1, 4, 1)
    kinds = torch.tensor([[1.0, 4.0], [-7.0, -20.0]]).view(1, 1, 2, 2, 1)  # keys 1, -7
    attention, bias = torch.tensor([[2.0]]), torch.tensor([[0.0], [8.0]])
    out = edge_attention(nodes, kinds, attention, bias, edges, backend=backend)
    assert out.item() == pytest.approx(0.5 + (14 - 10) / 2)


@pytest.mark.parametrize("backend", ["fused", "plain"])
def test_a_node_without_edges_keeps_its_residual(backend):
    edges = group_by_destination(*np.empty((3, 0), np.int64), 2)
    nodes = table(0, 1, 1, 2, 4, 4)
    out = edge_attention(nodes, None, table(2, 1, 4), None, edges, backend=backend)
    torch.testing.assert_close(out, nodes[0, :, :, 1:2].relu())


@pytest.mark.parametrize("backend", ["fused", "plain"])
def test_logits_of_any_size_are_weighed_without_overflow(backend):
    case = random_case(torch.float32)
    huge = (*(t * 1e4 for t in case.tensors[:3]), None)
    case = AttentionCase(huge, case.edges, case.mean_loop)
    for array in both_ways(case, backend):
        assert array.isfinite().all()


@pytest.mark.parametrize(("kinds", "bias"), FORMS)
def test_fused_gradients_are_the_slopes_of_its_output(kinds, bias):
    case = random_case(kinds=kinds, bias=bias)
    present = [t.requires_grad_() for t in case.tensors if t is not None]

    def fused(*tensors):
        left = iter(tensors)
        inputs = [None if t is None else next(left) for t in case.tensors]
        return edge_attention(*inputs, case.edges, mean_loop=case.mean_loop, backend="fused")

    assert torch.autograd.gradcheck(fused, present)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("part", range(4), ids=["query", "residual", "key", "value"])
def test_a_diverged_input_shows_in_the_output(part, bad):
    """A ReLU must not turn a NaN into a zero, which would pass for a healthy one."""
    case = random_case()
    case.tensors[0][0, 1, 2, part, 1] = bad
    fused, plain = (
        edge_attention(*case.tensors, case.edges, mean_loop=True, backend=backend)
        for backend in ("fused", "plain")
    )
    torch.testing.assert_close(fused, plain, equal_nan=True)


@pytest.mark.parametrize("width", [24, 25, 64, 96])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_signs_of_any_width_are_kept(width, dtype):
    """More than a block of lanes, more than a number of signs, blocks that share a number."""
    case = random_case(dtype, width=width, nodes=9, edges=60)
    fused, plain = (both_ways(case, backend) for backend in ("fused", "plain"))
    assert_agree(fused, plain, TOLERANCE[dtype])


@pytest.mark.parametrize(("kinds", "bias"), FORMS)
def test_without_gradients_nothing_is_kept_and_the_output_has_the_same_bits(kinds, bias):
    case = random_case(torch.float32, width=40, kinds=kinds, bias=bias)
    inputs = [None if t is None else t.clone().requires_grad_() for t in case.tensors]
    wanted = edge_attention(*inputs, case.edges, mean_loop=case.mean_loop, backend="fused")
    assert wanted.requires_grad
    with torch.no_grad():
        found = edge_attention(*inputs, case.edges, mean_loop=case.mean_loop, backend="fused")
    assert torch.equal(found, wanted)


def test_a_graph_without_nodes_has_gradients_too():
    case = random_case(nodes=1, edges=0)
    empty = AttentionCase(
        (case.tensors[0][:, :, :0], *case.tensors[1:]),
        group_by_destination(*np.empty((3, 0), np.int64), 0),
        mean_loop=True,
    )
    for array in both_ways(empty, "fused")[1:]:
        assert not array.count_nonzero()


@pytest.mark.parametrize("residual", [-torch.inf, 1e3])
def test_gradients_stand_a_residual_of_any_size(residual):
    """One that the ReLU stops lets nothing through; a large one costs digits, no more."""
    case = random_case(torch.float32, width=8, nodes=9, edges=60)
    case.tensors[0][0, 1, 2, 1] = residual
    fused, plain = (both_ways(case, backend) for backend in ("fused", "plain"))
    assert_agree(fused, plain, TOLERANCE[torch.float32])


def test_a_mean_loop_without_kinds_is_refused():
    case = random_case(kinds=False)
    with pytest.raises(ValueError, match="wants kinds"):
        edge_attention(*case.tensors, case.edges, mean_loop=True)


@pytest.mark.parametrize(("kinds", "bias"), FORMS)
def test_the_ops_pass_opcheck(kinds, bias):
    case = random_case(kinds=kinds, bias=bias)
    tensors = [None if t is None else t.requires_grad_() for t in case.tensors]
    graph = (case.edges.pointers, case.edges.sources, case.edges.kinds, case.mean_loop)
    shift = table(9, 2, 4, 3)
    forward = torch.ops.ingram.edge_attention.default
    torch.library.opcheck(forward, (*tensors, shift, *graph, True))

    plain = [None if t is None else t.detach() for t in tensors]
    out, kept = torch.ops.ingram.edge_attention(*plain, shift, *graph, True)
    arguments = (torch.ones_like(out), out, kept, *plain, shift, *graph)
    torch.library.opcheck(torch.ops.ingram.edge_attention_backward.default, arguments)

    torch.library.opcheck(forward, (*plain, shift, *graph, False))
    out, _ = forward(*tensors, shift, *graph, False)
    with pytest.raises(ValueError, match="nothing was"):
        out.sum().backward()


def test_the_op_compiles_whole_with_its_gradient():
    case = random_case()

    def loss(*tensors):
        return edge_attention(*tensors, None, case.edges, mean_loop=True).square().sum()

    inputs = [t.clone().requires_grad_() for t in case.tensors[:3]]
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    found = torch.autograd.grad(compiled(*inputs), inputs)
    assert_agree(found, torch.autograd.grad(loss(*inputs), inputs), 1e-12)


@pytest.mark.parametrize(("dtype", "kinds", "bias"), CASES, ids=str)
def test_the_same_inputs_give_the_same_bits_on_any_number_of_threads(
    dtype, kinds, bias, threads, monkeypatch
):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    case = random_case(
        dtype, draws=3, nodes=30, heads=4, width=11, edges=300, kinds=kinds, bias=bias
    )
    threads(1)
    once = both_ways(case, "fused")
    for count in (1, 2, 5):
        threads(count)
        for one, other in zip(both_ways(case, "fused"), once, strict=True):
            assert torch.equal(one, other)


def test_strided_inputs_are_taken_as_they_are():
    """Slices of a wider product, as the layers pass them."""
    case = random_case()
    wide = [torch.cat([t, t], dim=-1)[..., : t.shape[-1]] for t in case.tensors[:3]]
    assert not wide[0].is_contiguous()
    strided = AttentionCase((*wide, None), case.edges, case.mean_loop)
    for one, other in zip(both_ways(strided, "fused"), both_ways(case, "fused"), strict=True):
        torch.testing.assert_close(one, other)


def test_the_plain_form_runs_on_a_device_without_data():
    """Nothing in it names a device or waits for a value."""
    case = random_case(bias=True)
    meta = torch.device("meta")
    out = edge_attention(*(t.to(meta) for t in case.tensors), case.edges.to(meta), mean_loop=True)
    assert out.device == meta
    assert out.shape == (2, 5, 2, 3)
