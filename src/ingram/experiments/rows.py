"""Lines of tables: what was published and what was measured, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ingram.evaluation import metrics
from ingram.evaluation.significance import paired_bootstrap
from ingram.experiments import published
from ingram.experiments.budgets import budget
from ingram.experiments.methods import JOINT, Cell, Method
from ingram.experiments.runs import spent
from ingram.experiments.saved import ALL, Protocol, protocol_name, read_ranks, read_test
from ingram.training.checkpoints import RunDirectory

FIGURES = ("mr", "mrr", "hits@10", "hits@1")
PARTS = {"known": True, "new": False}
PUBLISHED = "published"


@dataclass(frozen=True)
class Row:
    """A method's figures on a dataset, or on a part of its queries.

    figures: means over the seeds; spread: their standard deviations, where there are several;
    difference: from the published figures of the same model; seconds: of training, on average;
    budget: empty for a full run, else in what it fell short.
    """

    dataset: str
    method: str
    protocol: str = ""
    part: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    spread: dict[str, float] = field(default_factory=dict)
    difference: dict[str, float] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    seconds: float | None = None
    budget: str = ""

    @property
    def name(self) -> str:
        return f"{self.method}, {self.protocol}" if self.protocol else self.method

    def as_dict(self) -> dict[str, Any]:
        return {
            key: value for key, value in asdict(self).items() if value not in ("", {}, (), None)
        }


def published_rows(dataset: str) -> list[Row]:
    """Tables 1 and 3, and what came after."""
    rows = [Row(dataset, name, PUBLISHED, "", f) for name, f in published.methods(dataset).items()]
    if since := published.best_since(dataset):
        rows.append(Row(dataset, "best since, each figure", PUBLISHED, "", since))
    return rows


def published_parts(dataset: str) -> list[Row]:
    """Table 2."""
    return [
        Row(dataset, name, PUBLISHED, part, figures)
        for name, parts in published.known_and_new(dataset).items()
        for part, figures in parts.items()
    ]


def published_ablation(dataset: str, variants: Sequence[str]) -> list[Row]:
    """Table 4."""
    named = {published.OURS: "full", **{f"{published.OURS}{JOINT}{v}": v for v in variants}}
    rows = {name: published.ablation(variant, dataset) for name, variant in named.items()}
    return [Row(dataset, name, PUBLISHED, "", f) for name, f in rows.items() if f]


@dataclass(frozen=True, eq=False)
class Measured:
    """The runs of one method on one dataset, tested by one protocol.

    folders: seed to where its test is kept; trained_in: to where it was trained, if that differs.
    """

    dataset: str
    method: Method
    protocol: Protocol
    folders: dict[int, Path]
    trained_in: dict[int, Path] = field(default_factory=dict)

    @property
    def runs(self) -> dict[int, RunDirectory]:
        return {seed: RunDirectory(f) for seed, f in {**self.folders, **self.trained_in}.items()}

    @property
    def tests(self) -> list[dict[str, Any]]:
        return [test for f in self.folders.values() if (test := read_test(f, self.protocol))]

    def ranks(self, part: str = "") -> list[pl.DataFrame]:
        """One table for each seed, of all queries or of a part of them."""
        tables = [read_ranks(self.protocol.ranks(f))[0] for f in self.folders.values()]
        return [table.filter(known=PARTS[part]) for table in tables] if part else tables

    def row(self, part: str = "") -> Row | None:
        """The figures as the tests have them; of a part, from the ranks. None if it is empty."""
        if not part:
            return self._row(self.tests)
        tables = self.ranks(part)
        if not len(tables[0]):
            return None
        ties = [test["ties"] for test in self.tests]
        found = [
            metrics(table, ties=tie, hits=(1, 10)).row(0, named=True)
            for table, tie in zip(tables, ties, strict=True)
        ]
        return self._row(found, part)

    def _row(self, found: list[dict[str, Any]], part: str = "") -> Row:
        values = {name: np.array([f[name] for f in found], float) for name in FIGURES}
        several = len(found) > 1
        figures = {name: float(v.mean()) for name, v in values.items()}
        paper = self._published(part)
        times = [t for run in self.runs.values() if (t := spent(run)) is not None]
        short = [budget(run, self.method, seed) for seed, run in self.runs.items()]
        return Row(
            self.dataset,
            self.method.name,
            protocol_name(self.tests[0]),
            part,
            figures,
            {name: float(v.std(ddof=1)) for name, v in values.items()} if several else {},
            {name: figures[name] - paper[name] for name in FIGURES if name in paper},
            tuple(self.folders) if self.method.trained else (),
            float(np.mean(times)) if times else None,
            "; ".join(dict.fromkeys(filter(None, short))),
        )

    def _published(self, part: str) -> published.Figures:
        """The paper's own figures of the same model."""
        if self.method.variant:
            return published.ablation(self.method.variant, self.dataset)
        if part:
            return published.known_and_new(self.dataset).get(published.OURS, {}).get(part, {})
        return published.methods(self.dataset).get(published.OURS, {})


def measured(
    root: Path, dataset: str, methods: Sequence[Method], seeds: Sequence[int]
) -> list[Measured]:
    """All that was tested, method by method and protocol by protocol."""
    found = []
    for method in methods:
        cells = [Cell(dataset, method, seed) for seed in (seeds if method.trained else (0,))]
        for protocol in ALL:
            done = [cell for cell in cells if protocol.done(cell.path(root))]
            if done:
                folders = {cell.seed: cell.path(root) for cell in done}
                trained_in = {cell.seed: cell.weights(root) for cell in done if cell.source}
                found.append(Measured(dataset, method, protocol, folders, trained_in))
    return found


def compared(a: Measured, b: Measured, part: str = "") -> dict[str, Any]:
    """Two methods on the same queries, the better one first."""
    (ours, theirs) = sorted((a, b), key=lambda entry: -_mrr(entry, part))
    better, worse = ours.row(part), theirs.row(part)
    assert better is not None
    assert worse is not None
    return {
        "dataset": a.dataset,
        **({"part": part} if part else {}),
        "better": better.name,
        "worse": worse.name,
        **asdict(paired_bootstrap(ours.ranks(part), theirs.ranks(part))),
    }


def in_turn(found: Sequence[Measured], part: str = "") -> list[tuple[Measured, Measured]]:
    """Each method with the next below it."""
    there = [entry for entry in found if entry.row(part) is not None]
    return list(pairwise(sorted(there, key=lambda entry: -_mrr(entry, part))))


def with_variants(found: Sequence[Measured]) -> list[tuple[Measured, Measured]]:
    """Each whole model with its variants, tested alike."""
    return [
        (whole, other)
        for whole in found
        for other in found
        if other.method.variant
        and other.method.name.startswith(f"{whole.method.name}{JOINT}")
        and other.protocol == whole.protocol
    ]


def _mrr(entry: Measured, part: str) -> float:
    row = entry.row(part)
    return 0.0 if row is None else row.figures["mrr"]
