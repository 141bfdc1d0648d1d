"""What the benchmark of an epoch counts."""

from benchmarks.epoch import written_products

from ingram.training.presets import PAPER


def test_products_as_written_are_counted_by_hand():
    pairs = written_products(1_000, 100, PAPER.model)  # widths 32 and 32, 128 and 256, two layers
    assert all(left[1] == right[0] for left, right in pairs)
    count = sum(left[0] * left[1] * right[1] for left, right in pairs)
    entities = 2 * (1_000 * 256 * 1_024 + 100 * 128 * 512) + 1_000 * 256 * 32
    relations = 2 * 100 * 128 * 512 + 100 * 128 * 32 + 100 * 32 * 32
    features = 1_000 * 32 * 256 + 100 * 32 * 128
    assert count == 3 * (entities + relations) + 2 * features
