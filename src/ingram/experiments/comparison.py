"""A page that sets runs side by side: figures, luck, curves, relations, settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ingram.errors import RunError
from ingram.evaluation import metrics
from ingram.experiments import published
from ingram.experiments.figures import bin_curves, method_curves
from ingram.experiments.methods import method_named
from ingram.experiments.pages import Section, escape, html_table, page, picture
from ingram.experiments.plans import spelled
from ingram.experiments.presenting import figures_table, sections, title
from ingram.experiments.report import EXTREMES
from ingram.experiments.rows import PARTS, Measured, compared, in_turn
from ingram.experiments.saved import ALL, OWN, read_ranks

SEED = re.compile(r"seed-(\d+)")
Found = Mapping[str, Sequence[Measured]]
"""By dataset, what was measured on it."""


def find_measured(paths: Sequence[Path]) -> dict[str, list[Measured]]:
    """Every test kept at or below the paths, by dataset; runs that differ by seed go together."""
    folders: dict[tuple[str, str, int], dict[int, Path]] = {}
    for root in paths:
        if not root.is_dir():
            raise RunError(f"{root}: want a run directory or a folder of runs, found none")
        for number, protocol in enumerate(ALL):
            for file in sorted(root.rglob(protocol.ranks(root).name)):
                if not protocol.done(file.parent):
                    continue
                seed = SEED.fullmatch(file.parent.name)
                owner = file.parent.parent if seed else file.parent
                key = (read_ranks(file)[1], owner.name, number)
                folders.setdefault(key, {})[int(seed[1]) if seed else 0] = file.parent
    found: dict[str, list[Measured]] = {}
    for (dataset, method, number), runs in sorted(folders.items()):
        ordered = dict(sorted(runs.items()))
        found.setdefault(dataset, []).append(
            Measured(dataset, method_named(method), ALL[number], ordered)
        )
    return found


def compare(found: Found) -> dict[str, Any]:
    """An entry as experiments have them: rows by MRR, and each against the next."""
    entry: dict[str, Any] = {"rows": [], "comparisons": [], "notes": []}
    for runs in found.values():
        rows = [row for one in runs if (row := one.row()) is not None]
        rows.sort(key=lambda row: -row.figures["mrr"])
        entry["rows"] += [row.as_dict() for row in rows]
        entry["comparisons"] += [compared(a, b) for a, b in in_turn(runs)]
    return entry


def comparison_page(
    heading: str, entries: Mapping[str, dict[str, Any]], found: Mapping[str, Found]
) -> str:
    """All tables of all entries, and the details behind what was measured for each."""
    parts = [f"<h1>{escape(heading)}</h1>"]
    for name, entry in entries.items():
        about, text = title(name)
        parts += [f"<h2>{escape(about)}</h2>", f"<p>{escape(text)}</p>"]
        for section in sections(name, entry, everything=True):
            parts += _subsection(section)
        if entry.get("curves"):
            parts += ["<h3>Figure 4</h3>", picture(bin_curves(_lines(entry["curves"])))]
        for dataset, runs in found.get(name, {}).items():
            parts += _details(dataset, [run for run in runs if run.protocol == OWN])
    made = {entry["command"]: entry["environment"] for entry in entries.values()}
    for command, environment in made.items():
        lines = "\n".join(f"{name} {value}" for name, value in environment.items())
        parts += ["<h2>Command</h2>", f"<pre>{escape(command)}</pre>"]
        parts += ["<h2>Environment</h2>", f"<pre>{escape(lines)}</pre>"]
    parts.append(f"<p>Published figures: {escape(published.citation())}</p>")
    return page(heading, "\n".join(parts))


def _details(dataset: str, runs: list[Measured]) -> list[str]:
    if not runs:
        return []
    parts = [f"<h3>{escape(dataset)} in detail</h3>"]
    records = {run.method.name: _records(run) for run in runs}
    if any(records.values()):
        parts.append(picture(method_curves({m: r for m, r in records.items() if r})))
    for part in PARTS:
        rows = [row for run in runs if (row := run.row(part)) is not None]
        if rows:
            parts += [f"<h4>{part} relations</h4>", html_table(figures_table(rows))]
    parts += ["<h4>MRR of single relations</h4>", html_table(relation_table(runs))]
    settings = settings_table(runs)
    if len(settings):
        parts += ["<h4>Settings that differ</h4>", html_table(settings)]
    return parts


def _records(run: Measured) -> list[list[dict[str, Any]]]:
    kept = [folder.metrics() for folder in run.runs.values()]
    return [records for records in kept if records]


def relation_table(runs: Sequence[Measured]) -> pl.DataFrame:
    """A column a method; the relations where the best method is best and where it is worst."""
    tables = []
    for run in runs:
        table = metrics(pl.concat(run.ranks()), by=["relation"])
        tables.append(table.select("relation", pl.col("mrr").alias(run.method.name)))
    counts = runs[0].ranks()[0].group_by("relation").agg(pl.len().alias("queries"))
    joined = counts
    for table in tables:
        joined = joined.join(table, on="relation", how="left")
    best = max((run.method.name for run in runs), key=lambda method: joined[method].mean() or 0.0)
    joined = joined.sort(best, "relation", descending=[True, False])
    if len(joined) > 2 * EXTREMES:
        joined = pl.concat([joined.head(EXTREMES), joined.tail(EXTREMES)])
    return joined


def settings_table(runs: Sequence[Measured]) -> pl.DataFrame:
    """One line a setting that is not the same in all of the runs that have settings."""
    configs = {}
    for run in runs:
        first = next(iter(run.runs.values()))
        if (first.path / "config.yaml").exists():
            data = first.config().model_dump()
            configs[run.method.name] = {
                f"{s}.{k}": v for s, kv in data.items() for k, v in kv.items()
            }
    names = dict.fromkeys(name for config in configs.values() for name in config)
    lines = [
        {"setting": name, **{m: str(c.get(name, "")) for m, c in configs.items()}}
        for name in names
        if len({str(config.get(name, "")) for config in configs.values()}) > 1
    ]
    return pl.DataFrame(lines)


def _subsection(section: Section) -> list[str]:
    parts = [f"<h3>{escape(section.title)}</h3>"]
    if section.text:
        parts.append(f"<p>{escape(section.text)}</p>")
    return [*parts, html_table(section.table)]


def _lines(curves: list[dict[str, Any]]) -> dict[str, Any]:
    """Every head of every layer and run as a line."""
    return {
        f"{curve['dataset']}, {spelled(curve['method'])}": np.concatenate(
            [np.array(run).reshape(-1, np.shape(run)[-1]) for run in curve["runs"]]
        )
        for curve in curves
    }
