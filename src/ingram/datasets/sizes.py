"""Sizes of graphs, as table 5 states them, and ranges that sizes should lie in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ingram.errors import ConfigError
from ingram.graph import Ids

PARTS = ("train", "inference")
COUNTS = ("entities", "relations", "triples")


@dataclass(frozen=True)
class Sizes:
    """What table 5 states of a graph: |V|, |R|, |E|."""

    entities: int
    relations: int
    triples: int

    @classmethod
    def of(cls, triples: Ids) -> Sizes:
        """Of (T, 3) triples: only entities and relations that occur count."""
        ends = np.unique(triples[:, [0, 2]])
        return cls(len(ends), len(np.unique(triples[:, 1])), len(triples))


@dataclass(frozen=True)
class SizeRange:
    """A size that should lie in ``low..high``: ``part`` of a dataset, ``count`` of that part."""

    part: str
    count: str
    low: int = 0
    high: int | None = None

    @classmethod
    def parse(cls, text: str) -> SizeRange:
        """From ``train.triples=5000..20000``; either end may be left open."""
        name, _, limits = text.partition("=")
        part, _, count = name.strip().partition(".")
        low, dots, high = limits.replace(",", "").partition("..")
        numbers_read = all(end.strip() == "" or end.strip().isdecimal() for end in (low, high))
        if part not in PARTS or count not in COUNTS or not dots or not numbers_read:
            raise ConfigError(
                "want a size such as train.triples=5000..20000 or inference.entities=1000.. "
                f"(of {' or '.join(PARTS)}: {', '.join(COUNTS)}), got {text!r}"
            )
        wanted = cls(part, count, int(low or 0), int(high) if high.strip() else None)
        if wanted.high is not None and wanted.high < wanted.low:
            raise ConfigError(f"want a range that goes up, got {text!r}")
        return wanted

    def __str__(self) -> str:
        high = "" if self.high is None else f"{self.high:,}"
        return f"{self.part}.{self.count}={self.low:,}..{high}"

    def size(self, sizes: Mapping[str, Sizes]) -> int:
        """The size that this range is about."""
        value: int = getattr(sizes[self.part], self.count)
        return value

    def factor(self, sizes: Mapping[str, Sizes]) -> float:
        """How many times too small or too large the size is; 1 where it suits."""
        size = self.size(sizes)
        if size < self.low:
            return self.low / size if size else math.inf
        if self.high is not None and size > self.high:
            return size / self.high if self.high else math.inf
        return 1.0


def worst(wanted: Iterable[SizeRange], sizes: Mapping[str, Sizes]) -> SizeRange | None:
    """The range that the sizes miss by the largest factor, or none if all of them suit."""
    missed = [w for w in wanted if w.factor(sizes) > 1]
    return max(missed, key=lambda w: w.factor(sizes), default=None)


def around(part: str, sizes: Sizes, factor: float) -> tuple[SizeRange, ...]:
    """Ranges that allow each of the sizes to differ by a factor."""
    return tuple(
        SizeRange(
            part,
            count,
            math.ceil(getattr(sizes, count) / factor),
            math.floor(getattr(sizes, count) * factor),
        )
        for count in COUNTS
    )
