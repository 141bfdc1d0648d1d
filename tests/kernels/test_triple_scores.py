import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.kernels import parallel
from ingram.kernels.triple_scores import triple_scores
from tests.strategies import seeds

TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}


def random_case(seed, dtype, entities=6, relations=3, count=20, width=5):
    generator = torch.Generator().manual_seed(seed)

    def ids(high):
        return torch.randint(high, (count,), generator=generator)

    return (
        torch.randn(entities, width, generator=generator, dtype=dtype),
        torch.randn(relations, width, generator=generator, dtype=dtype),
        torch.stack([ids(entities), ids(relations), ids(entities)], dim=1),
    )


def forward_and_gradients(entities, relations, triples, backend):
    inputs = [entities.clone().requires_grad_(), relations.clone().requires_grad_()]
    scores = triple_scores(*inputs, triples, backend=backend)
    # Some gradients are zero, as those of pairs beyond the margin are.
    direction = torch.linspace(-1, 1, len(scores), dtype=scores.dtype).clamp(min=-0.5) + 0.5
    return [scores.detach(), *torch.autograd.grad((scores * direction).sum(), inputs)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@given(
    seed=seeds, sizes=st.tuples(*[st.integers(1, 6)] * 2, st.integers(0, 30), st.integers(1, 20))
)
def test_fused_and_plain_agree(dtype, seed, sizes):
    case = random_case(seed, dtype, *sizes)
    fused, plain = (forward_and_gradients(*case, backend) for backend in ("fused", "plain"))
    for one, other in zip(fused, plain, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_a_diverged_score_shows_in_the_gradient():
    entities, relations, triples = random_case(0, torch.float64)
    for tensor in (entities, relations):
        tensor.requires_grad_()
    loss = triple_scores(entities, relations, triples).sum() * torch.nan
    gradients = torch.autograd.grad(loss, [entities, relations])
    assert all(g.isnan().any() for g in gradients)


def test_gradients_are_the_slopes_of_the_scores():
    entities, relations, triples = random_case(0, torch.float64)

    def fused(e, r):
        return triple_scores(e, r, triples, backend="fused")

    inputs = (entities.requires_grad_(), relations.requires_grad_())
    assert torch.autograd.gradcheck(fused, inputs)


def test_the_ops_pass_opcheck():
    entities, relations, triples = random_case(0, torch.float64)
    arguments = (entities.requires_grad_(), relations.requires_grad_(), triples)
    torch.library.opcheck(torch.ops.ingram.triple_scores.default, arguments)
    grad = torch.linspace(-1, 1, len(triples), dtype=torch.float64)
    plain = (grad, entities.detach(), relations.detach(), triples)
    torch.library.opcheck(torch.ops.ingram.triple_scores_backward.default, plain)


def test_the_op_compiles_whole_with_its_gradient():
    entities, relations, triples = random_case(0, torch.float64)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def loss(e, r):
        return triple_scores(e, r, triples).square().sum()

    inputs = [entities.clone().requires_grad_(), relations.clone().requires_grad_()]
    found = torch.autograd.grad(loss(*inputs), inputs)
    wanted = torch.autograd.grad(
        triple_scores(*inputs, triples, backend="plain").square().sum(), inputs
    )
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("width", [5, 32, 37])
def test_the_same_inputs_give_the_same_bits_on_any_number_of_threads(
    dtype, width, threads, monkeypatch
):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    case = random_case(0, dtype, entities=40, relations=7, count=500, width=width)
    threads(1)
    once = forward_and_gradients(*case, "fused")
    for count in (1, 2, 5):
        threads(count)
        for one, other in zip(forward_and_gradients(*case, "fused"), once, strict=True):
            assert torch.equal(one, other)


def test_scores_on_a_device_without_data_stay_there():
    case = [t.to("meta") for t in random_case(0, torch.float32)]
    scores = triple_scores(*case)
    assert scores.device.type == "meta"
    assert scores.shape == (20,)
