"""Ranges that sizes should lie in."""

from __future__ import annotations

import pytest

from ingram.datasets.sizes import SizeRange, Sizes, around, worst
from ingram.errors import ConfigError


def test_size_ranges_are_read_and_judged():
    wanted = SizeRange.parse("train.triples=5,000..20000")
    assert wanted == SizeRange("train", "triples", 5_000, 20_000)
    assert SizeRange.parse("inference.entities=10..").high is None
    assert SizeRange.parse("inference.entities=..10").low == 0
    assert str(wanted) == "train.triples=5,000..20,000"
    sizes = {"train": Sizes(10, 2, 40_000), "inference": Sizes(5, 2, 10)}
    assert wanted.factor(sizes) == 2
    assert worst([wanted, SizeRange.parse("inference.triples=30..")], sizes).count == "triples"
    assert worst([wanted, SizeRange.parse("inference.triples=30..")], sizes).part == "inference"
    assert worst(around("train", Sizes(19, 1, 20_001), 2), sizes) is None
    assert worst(around("train", Sizes(21, 1, 20_001), 2), sizes).count == "entities"


@pytest.mark.parametrize(
    "text", ["triples=1..2", "train.size=1..2", "train.triples=12", "train.triples=a..b", ""]
)
def test_a_size_range_that_cannot_be_read_says_what_is_wanted(text):
    with pytest.raises(ConfigError, match=r"want a size such as train\.triples=5000\.\.20000"):
        SizeRange.parse(text)
    with pytest.raises(ConfigError, match="goes up"):
        SizeRange.parse("train.triples=3..2")
