"""The fused update of states against the plain form, numbers worked by hand, and slopes."""

from functools import partial

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from ingram.kernels import parallel
from ingram.kernels.state_update import BLOCK, state_update
from tests.agreement import TOLERANCE, assert_agree, forward_and_gradients

EPSILON = 1e-5


def arguments(rows, width, dtype=torch.float64, seed=0, messages=1):
    """messages: how many there are for each row."""
    generator = torch.Generator().manual_seed(seed)
    both = [width, messages * width]
    shapes = [(rows, w) for w in both] + [(width, w) for w in both] + [(width,)] * 3
    return [torch.randn(*shape, generator=generator, dtype=dtype) for shape in shapes]


def both_ways(case, backend):
    """Output and gradients of a case."""
    return forward_and_gradients(partial(state_update, epsilon=EPSILON, backend=backend), case)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@given(
    rows=st.integers(0, 9),
    width=st.sampled_from([2, 4, 8, 32]),
    seed=st.integers(0, 99),
    messages=st.integers(1, 2),
    zero=st.tuples(*[st.sets(st.integers(0, 8))] * 2),
)
def test_fused_and_plain_agree(dtype, rows, width, seed, messages, zero):
    case = arguments(rows, width, dtype, seed, messages)
    for table, some in zip(case, zero, strict=False):  # rows of states, of messages, of both
        table[[row for row in some if row < rows]] = 0
    if dtype == torch.float32:  # where channels nearly agree, their deviation is all rounding
        states, sums, own, other, bias = case[:5]
        mixed = states @ own.T + sums @ other.T + bias
        deviation = (mixed - mixed.mean(1, keepdim=True)).square().mean(1).sqrt()
        assume((deviation > 0.05).all())
    found, wanted = (both_ways(case, backend) for backend in ("fused", "plain"))
    assert_agree(found, wanted, TOLERANCE[dtype])


@pytest.mark.parametrize("backend", ["fused", "plain"])
def test_a_row_of_two_channels_is_worked_by_hand(backend):
    """z = (1 + 3, 2 * 2 + 4 + 2) = (4, 10), normal (-1, 1), after gain, shift and ReLU (0, 3)."""
    states, messages = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])
    own, other = torch.diag(torch.tensor([1.0, 2.0])), torch.eye(2)
    bias, gain, shift = torch.tensor([[0.0, 2.0], [2.0, 2.0], [1.0, 1.0]])
    out = state_update(states, messages, own, other, bias, gain, shift, 0.0, backend=backend)
    torch.testing.assert_close(out, torch.tensor([[1.0, 5.0]]))


def test_fused_gradients_are_the_slopes_of_its_output():
    inputs = [t.requires_grad_() for t in arguments(5, 4)]
    assert torch.autograd.gradcheck(
        lambda *given_: state_update(*given_, EPSILON, backend="fused"), inputs
    )


def test_a_width_that_is_no_power_of_two_takes_the_plain_form():
    case = arguments(3, 6)
    assert torch.equal(state_update(*case, EPSILON), state_update(*case, EPSILON, backend="plain"))


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("part", range(7))
def test_a_diverged_input_shows_in_the_output(part, bad):
    case = arguments(4, 4)
    case[part].view(-1)[1] = bad
    found, wanted = (
        state_update(*case, EPSILON, backend=backend) for backend in ("fused", "plain")
    )
    assert found.isfinite().tolist() == wanted.isfinite().tolist()


def test_the_ops_pass_opcheck():
    case = arguments(5, 4)
    inputs = [t.clone().requires_grad_() for t in case]
    torch.library.opcheck(torch.ops.ingram.state_update.default, (*inputs, EPSILON, True))
    _, normal, scales = torch.ops.ingram.state_update(*case, EPSILON, True)
    backward = (torch.ones(5, 4, dtype=torch.float64), normal, scales, *case[5:])
    torch.library.opcheck(torch.ops.ingram.state_update_backward.default, backward)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_the_same_inputs_give_the_same_bits_on_any_number_of_threads(dtype, threads, monkeypatch):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    case = arguments(2 * BLOCK + 3, 8, dtype)
    threads(1)
    once = both_ways(case, "fused")
    for count in (2, 5):
        threads(count)
        found = both_ways(case, "fused")
        assert torch.equal(found[0], once[0])
        assert_agree(found, once, TOLERANCE[dtype] / 10)  # torch's products sum as they are shared


def test_without_gradients_the_bits_are_the_same():
    case = arguments(7, 8, torch.float32)
    with torch.no_grad():
        bare = state_update(*case, EPSILON)
    assert torch.equal(bare, both_ways(case, "fused")[0])


def test_strided_inputs_are_taken_as_they_are():
    case = arguments(5, 4)
    strided = [t.mT.contiguous().mT if t.dim() == 2 else t for t in case]
    assert not strided[0].is_contiguous()
    assert_agree(*(both_ways(c, "fused") for c in (strided, case)), 1e-12)
