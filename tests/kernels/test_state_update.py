"""The fused update of states against the plain form, numbers worked by hand, and slopes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.kernels import parallel
from ingram.kernels.state_update import BLOCK, state_update

EPSILON = 1e-5
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}


def arguments(rows, width, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(rows, width)] * 2 + [(width, width)] * 2 + [(width,)] * 3
    return [torch.randn(*shape, generator=generator, dtype=dtype) for shape in shapes]


def forward_and_gradients(given_, backend):
    inputs = [t.detach().clone().requires_grad_() for t in given_]
    out = state_update(*inputs, EPSILON, backend=backend)
    direction = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    return [out.detach(), *torch.autograd.grad((out * direction).sum(), inputs)]


def assert_agree(found, wanted, tolerance):
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        scale = max([1.0, *other.abs().flatten().tolist()])
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@given(rows=st.integers(0, 9), width=st.sampled_from([2, 4, 8, 32]), seed=st.integers(0, 99))
def test_fused_and_plain_agree(dtype, rows, width, seed):
    case = arguments(rows, width, dtype, seed)
    found, wanted = (forward_and_gradients(case, backend) for backend in ("fused", "plain"))
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
    once = forward_and_gradients(case, "fused")
    for count in (2, 5):
        threads(count)
        found = forward_and_gradients(case, "fused")
        assert torch.equal(found[0], once[0])
        assert_agree(found, once, TOLERANCE[dtype] / 10)  # torch's products sum as they are shared


def test_without_gradients_the_bits_are_the_same():
    case = arguments(7, 8, torch.float32)
    with torch.no_grad():
        bare = state_update(*case, EPSILON)
    assert torch.equal(bare, forward_and_gradients(case, "fused")[0])


def test_strided_inputs_are_taken_as_they_are():
    case = arguments(5, 4)
    strided = [t.mT.contiguous().mT if t.dim() == 2 else t for t in case]
    assert not strided[0].is_contiguous()
    assert_agree(*(forward_and_gradients(c, "fused") for c in (strided, case)), 1e-12)
