"""Random first vectors. Training draws them row by row; in use they belong to labels.

A draw that belongs to the label does not change when the graph grows or its file is shuffled: the
same entity starts from the same vector in next week's graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
import torch
from torch import Tensor

from ingram.graph import KnowledgeGraph, with_inverses
from ingram.models.config import ModelConfig

Keys = npt.NDArray[np.uint64]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
"""SplitMix64's step."""
TOGETHER = 2**12
"""Vectors that are worked on at once: the steps between stay in the cache."""


@dataclass(frozen=True, eq=False)
class Features:
    """Random first vectors of S draws. relations: (S, 2m, d); entities: (S, n, d-hat).

    Of signs, -1 or 1, for sketches: entity_signs (S, n, W) and relation_signs (S, 2m, W).
    """

    relations: Tensor
    entities: Tensor
    entity_signs: Tensor
    relation_signs: Tensor

    @classmethod
    def draw(
        cls,
        num_entities: int,
        num_relations: int,
        config: ModelConfig,
        rng: np.random.Generator,
        draws: int = 1,
    ) -> Features:
        """Glorot-normal on each table, gain sqrt(2): the deviation is 2 / sqrt(count + width).

        A draw follows the one before it in the generator, so it does not depend on how many are
        made at once.
        """
        counts = (2 * num_relations, num_entities)
        widths = (config.relation_width, config.entity_width)
        tables = [
            np.empty((draws, count, width), np.float32)
            for count, width in zip(counts, widths, strict=True)
        ]
        signs = [np.empty((draws, c, config.sketch_width), np.float32) for c in reversed(counts)]
        for draw in range(draws):
            for table in tables:
                rng.standard_normal(dtype=np.float32, out=table[draw])
            for table in signs:
                if some := table[draw].size:  # rng.bytes(0) would still draw a word
                    bits = np.frombuffer(rng.bytes(-(-some // 8)), np.uint8)
                    table[draw] = _signs(bits, some).reshape(table.shape[1:])
        for table in tables:
            table *= np.float32(2 / (table.shape[1] + table.shape[2]) ** 0.5)
        return cls(*map(torch.from_numpy, (*tables, *signs)))

    def to(self, like: Tensor) -> Features:
        """On the device and with the dtype of ``like``."""
        tables = (self.relations, self.entities, self.entity_signs, self.relation_signs)
        return Features(*(table.to(like) for table in tables))


class FeatureSource(Protocol):
    """Where an embedding's features come from."""

    made: dict[str, Any]

    def take(self, start: int, count: int) -> Features:
        """Draws ``start : start + count``; asked for in order."""
        ...


class RowFeatures:
    """Draws by row, as in training: what a run's figures were chosen and are tested with."""

    def __init__(
        self, graph: KnowledgeGraph, config: ModelConfig, seed: int | Sequence[int]
    ) -> None:
        self.graph, self.config = graph, config
        self.rng = np.random.default_rng(seed)
        self.made = {"features": "rows"}

    def take(self, start: int, count: int) -> Features:
        n, m = self.graph.num_entities, self.graph.num_relations
        return Features.draw(n, m, self.config, self.rng, count)


class LabelFeatures:
    """Draws by label: a function of seed, draw and label alone, but for their deviation.

    That depends on the graph's size, as in training. ``sizes`` (entities, relations) fixes it to
    the size that a graph had before it grew.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        config: ModelConfig,
        seed: int | Sequence[int],
        sizes: Sequence[int] | None = None,
    ) -> None:
        n, m = sizes or (graph.num_entities, graph.num_relations)
        self.made = {"features": "labels", "sizes": [n, m]}
        self.seed = np.random.SeedSequence(seed)
        self.entities = label_keys(graph.entities.labels, "entity")
        self.relations = relation_keys(graph)
        self.widths = config.relation_width, config.entity_width
        self.sketch_width = config.sketch_width
        self.scales = [
            2 / (count + width) ** 0.5 for count, width in zip((2 * m, n), self.widths, strict=True)
        ]

    def take(self, start: int, count: int, entities: npt.NDArray[Any] | None = None) -> Features:
        """``entities``: ids of those whose vectors are wanted; all without."""
        words = self.seed.generate_state(start + count, np.uint64)[start:]
        keys = self.relations, self.entities if entities is None else self.entities[entities]
        tables = [
            np.stack([_normals(k, word, width, scale) for word in words])
            for k, width, scale in zip(keys, self.widths, self.scales, strict=True)
        ]
        signs = [
            np.stack([_label_signs(k, word, self.sketch_width) for word in words])
            for k in reversed(keys)
        ]
        return Features(*map(torch.from_numpy, (*tables, *signs)))


def relation_keys(graph: KnowledgeGraph) -> Keys:
    """(2m,): of each relation and of each inverse."""
    labels = graph.relations.labels
    return np.concatenate([label_keys(labels, "relation"), label_keys(labels, "inverse")])


def facts_about(graph: KnowledgeGraph) -> Tensor:
    """(n,) long: one number for all facts that name an entity, whatever their order.

    Two graphs in which it is the same say the same about the entity.
    """
    sources, kinds, entities = with_inverses(graph.triples, graph.num_relations).T
    keys = label_keys(graph.entities.labels, "entity")
    sums = np.zeros(graph.num_entities, np.uint64)
    np.add.at(sums, entities, mix(keys[sources] ^ mix(relation_keys(graph))[kinds]))
    return torch.from_numpy(sums.view(np.int64))


def label_keys(labels: pl.Series, kind: str) -> Keys:
    """(n,) 64-bit hashes, the same in every version and on every machine.

    ``kind`` tells apart an entity, a relation and an inverse that are called alike.
    """
    digests = [
        blake2b(label.encode(), digest_size=8, person=kind.encode()).digest()
        for label in labels.to_list()
    ]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def mix(x: Keys) -> Keys:
    """SplitMix64's finaliser: every bit of the argument moves half of the result's."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _normals(keys: Keys, word: np.uint64, width: int, scale: float) -> npt.NDArray[np.float32]:
    """(n, width): row i is the SplitMix64 stream from key i and the word on, by Box-Muller."""
    half = (width + 1) // 2
    steps = (np.arange(1, 2 * half + 1, dtype=np.uint64) * GAMMA)[None]
    out = np.empty((len(keys), width), np.float32)
    for begin in range(0, len(keys), TOGETHER):
        some = slice(begin, begin + TOGETHER)
        bits = mix(mix(keys[some] ^ word)[:, None] + steps)
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        radius = np.sqrt(-2 * np.log(uniform[:, :half]))
        angle = 2 * np.pi * uniform[:, half:]
        pairs = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        out[some] = scale * pairs[:, :width]
    return out


def _label_signs(keys: Keys, word: np.uint64, width: int) -> npt.NDArray[np.float32]:
    """(n, width): row i from the bits of the SplitMix64 stream of key i and the inverted word."""
    steps = (np.arange(1, -(-width // 64) + 1, dtype=np.uint64) * GAMMA)[None]
    bits = mix(mix(keys ^ ~word)[:, None] + steps).astype("<u8").view(np.uint8)
    return _signs(bits, width)


def _signs(bits: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.float32]:
    """The first ``count`` bits of each row of bytes, as -1 or 1."""
    unpacked = np.unpackbits(bits, axis=-1, count=count, bitorder="little")
    signs: npt.NDArray[np.float32] = unpacked.astype(np.float32)
    signs *= 2  # in place: on a large graph each copy is a gigabyte
    signs -= 1
    return signs
