"""The compiled optimiser against torch's own."""

import math

import pytest
import torch

from ingram.kernels import adam, parallel
from ingram.training.optimizer import ClippedAdamW

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
        wanted = torch.nn.utils.clip_grad_norm_(theirs, limit).item()
        assert one.clipped_step(limit) == pytest.approx(wanted, rel=TOLERANCE[dtype])
        other.step()
        near = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
        for a, b in zip(ours, theirs, strict=True):
            torch.testing.assert_close(a, b, **near)
            for key, value in other.state[b].items():
                torch.testing.assert_close(one.state[a][key], value, check_dtype=False, **near)


def test_the_first_step_by_hand():
    """The moments, corrected, are the gradient and its square: a step goes by the rate."""
    weight = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)
    weight.grad = torch.tensor([3.0, -4.0], dtype=torch.float64)
    optimizer = ClippedAdamW([weight], lr=0.1, eps=0.0)
    assert optimizer.clipped_step(1.0) == 5
    torch.testing.assert_close(weight.detach(), torch.tensor([0.9, 0.1]).double())
    moment = optimizer.state[weight]["exp_avg"]
    torch.testing.assert_close(moment, torch.tensor([0.06, -0.08]).double(), rtol=1e-5, atol=0)


def test_gradients_of_any_layout_are_taken():
    ours, theirs = ([torch.ones(4, 6, requires_grad=True)] for _ in range(2))
    for tensor in (ours[0], theirs[0]):
        tensor.grad = torch.arange(24.0).view(6, 4).T
    one, other = ClippedAdamW(ours, **SETTINGS), torch.optim.AdamW(theirs, **SETTINGS)
    one.clipped_step(1e9)
    other.step()
    torch.testing.assert_close(ours[0], theirs[0])


def test_without_gradients_nothing_happens():
    tensors = parameters()
    before = [t.detach().clone() for t in tensors]
    optimizer = ClippedAdamW(tensors, **SETTINGS)
    assert optimizer.clipped_step(1.0) == 0
    assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))
    assert not optimizer.state


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_with_a_diverged_gradient_no_step_is_made(bad):
    tensors = parameters(torch.float32)
    before = [t.detach().clone() for t in tensors]
    put_gradients(tensors, 0)
    tensors[3].grad[-1] = bad
    assert not math.isfinite(ClippedAdamW(tensors).clipped_step(1.0))
    assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))


def test_torch_knows_that_the_weights_are_others_now():
    weight = torch.ones(3, requires_grad=True)
    loss = weight.square().sum()
    loss.backward(retain_graph=True)
    ClippedAdamW([weight]).clipped_step(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_the_bits_are_the_same_on_any_number_of_threads(threads, monkeypatch):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    found = []
    for count in (1, 2, 5):
        threads(count)
        tensors = parameters(torch.float32)
        put_gradients(tensors, 0)
        ClippedAdamW(tensors, **SETTINGS).clipped_step(0.5)
        found.append([t.detach() for t in tensors])
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


@pytest.mark.parametrize(
    "tensors",
    [
        [torch.ones(3), torch.ones(3, dtype=torch.float64)],
        [torch.ones(4, 6).T],
        [torch.ones(3, device="meta")],
    ],
    ids=["two types", "not contiguous", "not on a CPU"],
)
def test_what_an_address_would_be_misread_of_is_refused(tensors):
    tensors = [t.requires_grad_() for t in tensors]
    for tensor in tensors:
        tensor.grad = torch.ones_like(tensor)
    with pytest.raises(ValueError, match="want contiguous tensors"):
        ClippedAdamW(tensors).clipped_step(1.0)


def test_a_count_of_another_type_is_refused():
    """As torch's own keeps for weights in float64."""
    tensors = parameters(torch.float64)
    optimizer = ClippedAdamW(tensors)
    put_gradients(tensors, 0)
    optimizer.clipped_step(1.0)
    optimizer.state[tensors[0]]["step"] = torch.tensor(1.0)
    with pytest.raises(ValueError, match="want contiguous tensors"):
        optimizer.clipped_step(1.0)


def test_a_second_group_is_refused():
    with pytest.raises(ValueError, match="one group"):
        ClippedAdamW([{"params": [torch.ones(1)]}, {"params": [torch.ones(2)]}])
