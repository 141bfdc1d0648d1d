"""The compiled optimiser against torch's own."""

import math

import pytest
import torch

from ingram.kernels import adam, parallel
from ingram.training.optimizer import ClippedAdamW, clipping

SHAPES = [(3, 5), (1,), (7,), (adam.CHUNK + 3,), (2, adam.CHUNK), (0,)]
TOLERANCE = {torch.float64: 1e-11, torch.float32: 2e-5}
SETTINGS = {"lr": 0.02, "weight_decay": 0.3, "betas": (0.8, 0.95), "eps": 1e-6}


def parameters(dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_() for shape in SHAPES
    ]


def put_gradients(tensors, seed, *, without=()):
    generator = torch.Generator().manual_seed(seed)
    for i, tensor in enumerate(tensors):
        gradient = torch.randn(*tensor.shape, generator=generator, dtype=tensor.dtype)
        tensor.grad = None if i in without else gradient


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("limit", [0.5, 1e9])
def test_steps_moments_and_norms_are_those_of_torch(dtype, limit):
    ours, theirs = parameters(dtype), parameters(dtype)
    one, other = ClippedAdamW(ours, **SETTINGS), torch.optim.AdamW(theirs, **SETTINGS)
    for step in range(5):
        without = (1,) if step == 2 else ()  # its moments and count then stand still
        put_gradients(ours, step, without=without)
        put_gradients(theirs, step, without=without)
        norm = one.gradient_norm()
        wanted = torch.nn.utils.clip_grad_norm_(theirs, limit).item()
        assert norm == pytest.approx(wanted, rel=TOLERANCE[dtype])
        one.step(scale=clipping(norm, limit))
        other.step()
        near = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
        for a, b in zip(ours, theirs, strict=True):
            torch.testing.assert_close(a, b, **near)
            for key, value in other.state[b].items():
                torch.testing.assert_close(one.state[a][key], value, check_dtype=False, **near)


def test_the_first_step_by_hand():
    """The moments, corrected, are the gradient and its square: a step goes by the rate."""
    weight = torch.tensor([1.0, -2.0, 0.0], dtype=torch.float64, requires_grad=True)
    weight.grad = torch.tensor([3.0, 0.0, -4.0], dtype=torch.float64)
    optimizer = ClippedAdamW([weight], lr=0.1, weight_decay=0.0, eps=0.0)
    assert optimizer.gradient_norm() == 5
    weight.grad[1] = 1e-300  # neither a norm nor a root of zero
    optimizer.step(scale=0.2)
    torch.testing.assert_close(weight.detach()[[0, 2]], torch.tensor([0.9, 0.1]).double())
    torch.testing.assert_close(
        optimizer.state[weight]["exp_avg"], torch.tensor([0.06, 0, -0.08]).double()
    )


def test_gradients_of_any_layout_are_taken():
    ours, theirs = ([torch.ones(4, 6, requires_grad=True)] for _ in range(2))
    for tensor in (ours[0], theirs[0]):
        tensor.grad = torch.arange(24.0).view(6, 4).T
    one, other = ClippedAdamW(ours, **SETTINGS), torch.optim.AdamW(theirs, **SETTINGS)
    one.step()
    other.step()
    torch.testing.assert_close(ours[0], theirs[0])


def test_without_gradients_nothing_happens():
    tensors = parameters()
    before = [t.detach().clone() for t in tensors]
    optimizer = ClippedAdamW(tensors, **SETTINGS)
    assert optimizer.gradient_norm() == 0
    optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))
    assert not optimizer.state


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_diverged_gradient_shows_in_the_norm(bad):
    tensors = parameters(torch.float32)
    put_gradients(tensors, 0)
    tensors[3].grad[-1] = bad
    assert not math.isfinite(ClippedAdamW(tensors).gradient_norm())


def test_a_step_takes_the_gradients_that_the_norm_was_of_and_no_later_ones():
    tensors = parameters()
    optimizer = ClippedAdamW(tensors, **SETTINGS)
    for seed in (0, 1):
        put_gradients(tensors, seed)
        optimizer.gradient_norm()
        optimizer.step()
        first = optimizer.state[tensors[0]]["exp_avg"].clone()
    put_gradients(tensors, 2)
    optimizer.step()  # no norm was asked for: it finds them itself
    moved = 0.8 * first + 0.2 * tensors[0].grad
    torch.testing.assert_close(optimizer.state[tensors[0]]["exp_avg"], moved)


def test_the_bits_are_the_same_on_any_number_of_threads(threads, monkeypatch):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    found = []
    for count in (1, 2, 5):
        threads(count)
        tensors = parameters(torch.float32)
        optimizer = ClippedAdamW(tensors, **SETTINGS)
        put_gradients(tensors, 0)
        optimizer.step(scale=clipping(optimizer.gradient_norm(), 0.5))
        found.append([t.detach() for t in tensors])
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_a_closure_is_refused():
    with pytest.raises(TypeError, match="closure"):
        ClippedAdamW(parameters()).step(lambda: 0.0)


def test_what_is_clipped():
    assert clipping(2.0, 1.0) == pytest.approx(0.5, rel=1e-5)
    assert clipping(0.1, 1.0) == 1
    assert clipping(math.inf, 1.0) == 0
