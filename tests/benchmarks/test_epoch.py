"""What the benchmark of an epoch counts."""

import torch
from benchmarks.epoch import PlainProducts, written_products

from ingram.training.presets import PAPER


def test_products_as_written_are_counted_by_hand():
    pairs = written_products(1_000, 100, PAPER.model)  # widths 32 and 32, 128 and 256, two layers
    assert all(left[1] == right[0] for left, right in pairs)
    count = sum(left[0] * left[1] * right[1] for left, right in pairs)
    entities = 2 * (1_000 * 256 * 1_024 + 100 * 128 * 512) + 1_000 * 256 * 32
    relations = 2 * 100 * 128 * 512 + 100 * 128 * 32 + 100 * 32 * 32
    features = 1_000 * 32 * 256 + 100 * 32 * 128
    assert count == 3 * (entities + relations) + 2 * features


def test_the_products_of_a_computation_are_found_with_the_layout_of_their_matrices():
    wide, vector = torch.randn(4, 6, requires_grad=True), torch.randn(6)

    def compute():
        rows = torch.randn(5, 4)
        total = rows @ wide + torch.zeros(5, 1)
        total.sum().backward()
        batch = torch.bmm(rows.expand(3, -1, -1), wide.detach().expand(3, -1, -1))
        torch.zeros(5, 6).addmm_(rows, wide.detach()).relu()
        return batch, torch.mv(wide.detach(), vector)

    found = PlainProducts(compute)
    kinds = [product.__name__ for product, _, _ in found.products]
    assert kinds == ["mm", "mm", "bmm", "mm", "mv"]
    left, right = found.products[1][1:]
    assert (left.shape, right.shape) == ((4, 5), (5, 6))  # of the gradient: rows.T @ ones
    assert left.stride() == (1, 4)
    assert found.products[2][1].stride() == (0, 4, 1)
    assert found.products[3][1].data_ptr() != found.products[0][1].data_ptr()
    assert found.run() > 0
    assert found.run(times=3) > 0
