"""Results of experiments as one JSON document, gathered from the runs that are there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ingram.datasets import presets
from ingram.datasets.registry import NAMES, benchmark
from ingram.datasets.sizes import COUNTS, Sizes
from ingram.errors import RunError
from ingram.experiments.bins import bin_weights, trend
from ingram.experiments.environment import environment
from ingram.experiments.methods import Method
from ingram.experiments.plans import EXPERIMENTS, Experiment, cells_of
from ingram.experiments.rows import (
    PARTS,
    Measured,
    Row,
    compared,
    in_turn,
    measured,
    published_ablation,
    published_parts,
    published_rows,
    with_variants,
)
from ingram.experiments.runs import outcome_of, read_json
from ingram.experiments.saved import OWN
from ingram.graph import Dataset
from ingram.io.atomic import write_text

FORMAT = "ingram-results-1"
Entry = dict[str, Any]


def collect(name: str, root: Path, methods: dict[str, list[Method]], seeds: Sequence[int]) -> Entry:
    """An experiment's rows, published and measured, and which differences are more than luck.

    methods: by dataset.
    """
    experiment = EXPERIMENTS[name]
    entry: Entry = {"rows": [], "comparisons": [], "notes": _notes(root, methods, seeds)}
    for dataset in methods:
        found = measured(root, dataset, methods[dataset], seeds)
        rows, pairs = _dataset_rows(experiment, dataset, found)
        entry["rows"] += [row.as_dict() for row in rows]
        entry["comparisons"] += [compared(a, b, part) for a, b, part in pairs]
        if name == "bins":
            entry.setdefault("curves", []).extend(_curves(found))
    return entry


def _dataset_rows(
    experiment: Experiment, dataset: str, found: list[Measured]
) -> tuple[list[Row], list[tuple[Measured, Measured, str]]]:
    """What stands in a dataset's tables, and which pairs are to be compared."""
    if experiment.variants:
        rows = published_ablation(dataset, experiment.variants)
        pairs = [(a, b, "") for a, b in with_variants(found)]
    elif experiment.parts:
        rows = published_parts(dataset)
        pairs = [(a, b, part) for part in PARTS for a, b in in_turn(found, part)]
    else:
        rows = published_rows(dataset)
        pairs = [(a, b, "") for a, b in in_turn(found)]
    parts = tuple(PARTS) if experiment.parts else ("",)
    ours = [entry.row(part) for part, entry in product(parts, found)]
    return rows + [row for row in ours if row is not None], pairs


def _notes(root: Path, methods: dict[str, list[Method]], seeds: Sequence[int]) -> list[str]:
    """Runs that left nothing to test."""
    return [
        f"{cell}: diverged before there were weights to keep"
        for cell in cells_of(methods, seeds)
        if cell.method.trained
        and outcome_of(cell.weights(root)).get("stopped") == "diverged"
        and not (cell.weights(root) / "model.safetensors").exists()
    ]


def _curves(found: Sequence[Measured]) -> list[Entry]:
    """Figure 4's lines: for each run (layers, heads, bins), rounded to what a figure shows."""
    entries = []
    for entry in found:
        if entry.protocol != OWN:
            continue
        if not entry.method.trained:
            continue
        learned = [bin_weights(run.path) for run in entry.runs.values()]
        runs = [curves for curves in learned if curves is not None]
        if runs:
            entries.append(
                {
                    "dataset": entry.dataset,
                    "method": entry.method.name,
                    "spearman": float(np.mean([trend(curves) for curves in runs])),
                    "runs": [np.round(curves, 4).tolist() for curves in runs],
                }
            )
    return entries


def collect_sizes(datasets: Sequence[str], read: Callable[[str, int], Dataset]) -> Entry:
    """Table 5, published and counted from the files, and table 6."""
    counted = []
    for name in datasets:
        dataset = read(name, 0)
        held = [dataset.inference.triples, dataset.valid, dataset.test]
        graphs = {"train": dataset.train.triples, "inference": np.concatenate(held)}
        known = benchmark(name) if name in NAMES and benchmark(name).published else None
        for graph, triples in graphs.items():
            paper = None if known is None else getattr(known, graph)
            counted.append(
                {
                    "dataset": name,
                    "graph": graph,
                    "counted": asdict(Sizes.of(triples)),
                    "published": paper and {count: getattr(paper, count) for count in COUNTS},
                }
            )
    generator = [
        {"dataset": name, "source": one.source, **asdict(one.config)}
        for name, one in presets.PRESETS.items()
    ]
    return {"sizes": counted, "generator": generator}


def stamped(entry: Entry, command: str) -> Entry:
    """The entry with how it was made."""
    return {"command": command, "environment": environment(), **entry}


def portable(entry: Entry) -> Entry:
    """The entry without where on this machine things lie: of a path, its last name."""
    words = [Path(w).name if w.startswith("/") else w for w in shlex.split(entry["command"])]
    return {**entry, "command": shlex.join(words)}


def read_results(path: Path) -> Entry:
    """A document of results; an empty one where there is no file."""
    if not path.exists():
        return {"format": FORMAT, "experiments": {}}
    document = read_json(path)
    if document.get("format") != FORMAT:
        raise RunError(f"{path}: want results of format {FORMAT}, got {document.get('format')!r}")
    return document


def write_results(path: Path, entries: dict[str, Entry]) -> Entry:
    """Replace these experiments in a document on disk and leave the others; returns it all."""
    document = read_results(path)
    merged = {**document["experiments"], **entries}
    order = [*EXPERIMENTS, "sizes"]
    document["experiments"] = {name: merged[name] for name in order if name in merged}
    write_text(path, json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    return document
