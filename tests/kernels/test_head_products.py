import torch

from ingram.kernels.head_products import fold, head_blocks, head_products

HEADS, SIZE, WIDTH, KIND = 2, 3, 5, 4


def drawn(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def maps(kind=KIND):
    """P, the residual map and W, with their biases."""
    rows = HEADS * SIZE
    weights = [drawn(rows, 2 * WIDTH + kind), drawn(rows, WIDTH), drawn(rows, WIDTH + kind)]
    return *weights, drawn(rows), drawn(rows), drawn(rows)


def test_products_by_head_are_the_blocks_of_the_whole_maps():
    torch.manual_seed(0)
    attend, residual, value, attend_bias, residual_bias, value_bias = parameters = maps()
    x, z = drawn(2, 7, WIDTH), drawn(2, 6, KIND)
    weight, bias, kind_weight = head_blocks(HEADS, *parameters)
    nodes = head_products(x, weight, bias).unflatten(-1, (4, SIZE))
    kinds = head_products(z, kind_weight, None).unflatten(-1, (2, SIZE))
    wanted = [
        x @ attend[:, :WIDTH].T,
        x @ residual.T + residual_bias,
        x @ attend[:, WIDTH : 2 * WIDTH].T + attend_bias,
        x @ value[:, :WIDTH].T + value_bias,
    ]
    for part, whole in enumerate(wanted):
        by_head = whole.unflatten(-1, (HEADS, SIZE)).permute(2, 0, 1, 3)
        torch.testing.assert_close(nodes[..., part, :], by_head)
    for part, rows in enumerate((attend[:, 2 * WIDTH :], value[:, WIDTH:])):
        by_head = (z @ rows.T).unflatten(-1, (HEADS, SIZE)).permute(2, 0, 1, 3)
        torch.testing.assert_close(kinds[..., part, :], by_head)


def test_an_inner_map_is_folded_in_without_changing_the_result():
    torch.manual_seed(0)
    weight, bias, _ = head_blocks(HEADS, *maps(0))
    inner, inner_bias, x = drawn(WIDTH, 3), drawn(WIDTH), drawn(2, 7, 3)
    folded = head_products(x, *fold(weight, bias, inner, inner_bias))
    torch.testing.assert_close(folded, head_products(x @ inner.T + inner_bias, weight, bias))
