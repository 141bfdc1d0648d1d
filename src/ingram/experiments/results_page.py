"""Results as a page of Markdown, for the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from ingram.experiments import published
from ingram.experiments.plans import MAIN
from ingram.experiments.presenting import sections, title
from ingram.io.atomic import write_text

INTRODUCTION = """# Results

Made by `ingram reproduce` from the runs that gave them; [results.json](results.json) holds the same
figures in full. Do not edit: `ingram reproduce ... --write docs/results.json` writes both.

Filtered ranking over all entities of the inference graph, head and tail, with the facts as the only
message graph. Means over the seeds, with standard deviations. Choices are made on validation.

- *chosen draw*: the published protocol, in which the random features that were best on validation
  are tested; *fresh draws*: the same weights without that luck.
- *vs paper*: the MRR less the published one of the same model. Rows called *published* are the
  paper's.
- *short*: a run below its preset's budget.
- `popularity` and `rules` learn nothing: they count, on the facts, how often an entity stands in a
  role, and what rules of one and two steps say ([experiments.md](experiments.md)).

Speed and memory: [speed.md](speed.md).
"""


def markdown(document: dict[str, Any]) -> str:
    """The page of a document of results."""
    parts = [INTRODUCTION]
    for name, entry in document["experiments"].items():
        heading, text = title(name)
        parts += [f"## {heading}\n", f"{text}\n", f"    {entry['command']}\n", _made(entry) + "\n"]
        for section in sections(name, entry):
            parts += [f"### {section.title}\n", *([section.text + "\n"] if section.text else [])]
            parts.append(markdown_table(section.table))
    parts += ["## Published MRR of all methods\n", f"{published.citation()}\n"]
    parts.append(markdown_table(_all_published()))
    parts.append(f"Best since: {published.about_best_since()}\n")
    return "\n".join(parts)


def markdown_table(table: pl.DataFrame) -> str:
    """A table as Markdown has it, text to the left and figures to the right."""
    left = ("method", "better", "worse", "dataset", "budget", "cut from", "graph", "run", "")
    lines = [table.columns, [":--" if name in left else "--:" for name in table.columns]]
    lines += [[_cell(value) for value in row] for row in table.iter_rows()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _made(entry: dict[str, Any]) -> str:
    about = entry["environment"]
    return (
        f"ingram {about['ingram']}, Python {about['python']}, torch {about['torch']}, "
        f"{about['system']}, {about['threads']}."
    )


def _all_published() -> pl.DataFrame:
    """Methods against datasets."""
    datasets = [*MAIN, "NL-0", "NELL-995-v1"]
    names = dict.fromkeys(name for dataset in datasets for name in published.methods(dataset))
    lines = []
    for name in names:
        figures = {d: published.methods(d).get(name, {}).get("mrr") for d in datasets}
        lines.append({"method": name, **{d: _mrr(value) for d, value in figures.items()}})
    since = {d: published.best_since(d).get("mrr") for d in datasets}
    lines.append({"method": "best since", **{d: _mrr(value) for d, value in since.items()}})
    return pl.DataFrame(lines)


def _mrr(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def write_markdown(path: Path, document: dict[str, Any]) -> None:
    """The page beside its JSON."""
    write_text(path, markdown(document))
