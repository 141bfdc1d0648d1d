"""The layer as one operation against the same steps taken one by one."""

import numpy as np
import pytest
import torch

from ingram.kernels.adjacency import group_by_destination
from ingram.kernels.attention_layer import attention_layer
from ingram.kernels.edge_attention import edge_attention
from ingram.kernels.head_products import fold, head_blocks, head_products

HEADS, SIZE, KINDS, NODES, DRAWS = 2, 4, 3, 6, 2
WIDTH = HEADS * SIZE


def step_by_step(graph, x, z, attention, bias, inner, inner_bias, *maps):
    weight, shift, kind_weight = head_blocks(HEADS, *maps)
    if inner is not None:
        weight, shift = fold(weight, shift, inner, inner_bias)
    nodes = head_products(x, weight, shift).unflatten(-1, (4, SIZE))
    kinds = None if z is None else head_products(z, kind_weight, None).unflatten(-1, (2, SIZE))
    edges, mean_loop = graph
    return edge_attention(
        nodes, kinds, attention[0], bias, edges, mean_loop=mean_loop, backend="plain"
    )


def arguments(*, kinds, bias, inner):
    generator = torch.Generator().manual_seed(0)

    def table(*shape):
        values = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return values.requires_grad_()

    kind_width = 5 if kinds else 0
    return [
        table(DRAWS, NODES, 3 if inner else WIDTH),
        table(DRAWS, KINDS, 5) if kinds else None,
        table(1, HEADS, SIZE),
        table(KINDS, HEADS) if bias else None,
        table(WIDTH, 3) if inner else None,
        table(WIDTH) if inner else None,
        table(WIDTH, 2 * WIDTH + kind_width),
        table(WIDTH, WIDTH),
        table(WIDTH, WIDTH + kind_width),
        *(table(WIDTH) for _ in range(3)),
    ]


def edges():
    ends = np.random.default_rng(0).integers(0, (NODES - 1, NODES, KINDS), (14, 3))
    return group_by_destination(*ends.T, NODES)  # the last node has no edge


@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize(("kinds", "bias", "mean_loop"), [(1, 0, 1), (1, 0, 0), (0, 1, 0)])
def test_output_and_gradients_are_those_of_the_single_steps(inner, kinds, bias, mean_loop):
    given = arguments(kinds=kinds, bias=bias, inner=inner)
    present = [t for t in given if t is not None]
    graph = edges()
    found = attention_layer(graph, bool(mean_loop), *given)
    wanted = step_by_step((graph, bool(mean_loop)), *given)
    torch.testing.assert_close(found, wanted)
    direction = torch.linspace(-1, 1, wanted.numel(), dtype=wanted.dtype).view_as(wanted)
    for one, other in zip(
        torch.autograd.grad((found * direction).sum(), present),
        torch.autograd.grad((wanted * direction).sum(), present),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_features_that_want_no_gradient_get_none():
    given = arguments(kinds=True, bias=False, inner=True)
    given[0].requires_grad_(False)
    graph = edges()
    attention_layer(graph, True, *given).sum().backward()
    assert given[0].grad is None
    assert given[6].grad is not None
