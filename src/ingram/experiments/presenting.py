"""Results as tables of text, the same for the screen, a page and a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from ingram.experiments import published
from ingram.experiments.pages import Section
from ingram.experiments.plans import EXPERIMENTS, spelled
from ingram.experiments.rows import FIGURES, PUBLISHED, Row

NAMES = {"mr": "MR", "mrr": "MRR", "hits@10": "Hits@10", "hits@1": "Hits@1"}
OTHERS = {
    "sizes": (
        "Tables 5 and 6: the datasets",
        "Entities, relations and triples as published and as counted from the files, and what the "
        "datasets were generated with.",
    ),
    "runs": ("Runs compared", "Test split, filtered ranking, each run by its own protocol."),
}
PAIR = ("mrr", "hits@10")
PART_NAMES = {"": "", "known": ", known relations", "new": ", new relations"}


def sections(name: str, entry: dict[str, Any], *, everything: bool = False) -> list[Section]:
    """An experiment's tables. everything: all published methods, not only the best of them."""
    if name == "sizes":
        return [_sizes(entry["sizes"]), _generator(entry["generator"])]
    rows = [Row(**row) for row in entry["rows"]]
    found = [*_overview(rows), *_by_dataset(rows, entry["comparisons"], everything)]
    if entry.get("curves"):
        found.append(_curve_table(entry["curves"]))
    if entry["notes"]:
        table = pl.DataFrame({"run": entry["notes"]})
        found.append(Section("Runs without figures", table))
    return found


def title(name: str) -> tuple[str, str]:
    """An experiment's heading, and a line on it."""
    if name in OTHERS:
        return OTHERS[name]
    return EXPERIMENTS[name].title, EXPERIMENTS[name].text


def _overview(rows: list[Row]) -> Iterator[Section]:
    """One line a method, one column a dataset, where there are several."""
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    if len(datasets) < 2 or any(row.part for row in rows):
        return
    lines: dict[str, dict[str, Row]] = {}
    for row in rows:
        others = row.protocol == PUBLISHED and row.method in published.methods(row.dataset)
        if not others or row.method == published.OURS:
            lines.setdefault(row.name, {})[row.dataset] = row
    table = []
    for name, found in lines.items():
        pairs = {d: tuple(found[d].figures[f] for f in PAIR) for d in datasets if d in found}
        line = {"method": spelled(name)}
        line |= {d: _pair(pairs[d]) if d in pairs else "" for d in datasets}
        line["mean"] = (
            _pair(np.mean([*pairs.values()], axis=0)) if len(pairs) == len(datasets) else ""
        )
        table.append(line)
    text = "MRR/Hits@10, and their mean where every dataset has them."
    yield Section("All datasets", pl.DataFrame(table), text)


def _pair(values: Sequence[float]) -> str:
    return "/".join(f"{value:.3f}".removeprefix("0") for value in values)


def _by_dataset(
    rows: list[Row], pairs: list[dict[str, Any]], everything: bool
) -> Iterator[Section]:
    for dataset, part in dict.fromkeys((row.dataset, row.part) for row in rows):
        here = [row for row in rows if (row.dataset, row.part) == (dataset, part)]
        heading = f"{dataset}{PART_NAMES[part]}"
        yield Section(heading, figures_table(here if everything else _best(here)))
        compared = [
            pair for pair in pairs if (pair["dataset"], pair.get("part", "")) == (dataset, part)
        ]
        if compared:
            yield Section(
                f"{heading}: more than luck?",
                comparison_table(compared),
                "Paired bootstrap over the test triples, each with both of its queries, realistic "
                "ties; p: how often the better is not better when they are drawn anew.",
            )


def _best(rows: list[Row]) -> list[Row]:
    """Without the published methods that are neither the paper's own nor the best of the rest."""
    others = [
        row
        for row in rows
        if row.protocol == PUBLISHED and row.method in published.methods(row.dataset)
        if row.method != published.OURS
    ]
    best = max(others, key=lambda row: row.figures["mrr"], default=None)
    return [row for row in rows if row not in others or row is best]


def figures_table(rows: list[Row]) -> pl.DataFrame:
    """One line a row; columns that say nothing are left out. ``vs paper`` is of the MRR."""
    shown = [name for name in FIGURES if any(name in row.figures for row in rows)]
    lines = []
    for row in rows:
        line = {"method": spelled(row.name)}
        line |= {NAMES[name]: _spread(row, name) for name in shown}
        line["vs paper"] = _signed(row.difference.get("mrr"))
        line["seeds"] = ",".join(map(str, row.seeds))
        line["time"] = duration(row.seconds)
        line["budget"] = row.budget
        lines.append(line)
    table = pl.DataFrame(lines)
    empty = [name for name in table.columns if not (table[name] != "").any()]
    return table.drop(empty)


def _spread(row: Row, name: str) -> str:
    if name not in row.figures:
        return "-"
    digits = 1 if name == "mr" else 3
    text = f"{row.figures[name]:,.{digits}f}"
    if name not in row.spread:
        return text
    spread = f"{row.spread[name]:,.{digits}f}"
    return f"{text} ±{spread.removeprefix('0')}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def duration(seconds: float | None) -> str:
    """A time as people say it."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def comparison_table(pairs: list[dict[str, Any]]) -> pl.DataFrame:
    """Who is above whom, by how much, and whether it is luck."""
    return pl.DataFrame(
        [
            {
                "better": spelled(pair["better"]),
                "worse": spelled(pair["worse"]),
                "MRR difference": f"{pair['difference']:+.3f}",
                "95 %": f"{pair['low']:+.3f} to {pair['high']:+.3f}",
                "p": "< 0.001" if pair["p"] < 0.001 else f"{pair['p']:.3f}",
            }
            for pair in pairs
        ]
    )


def _curve_table(curves: list[dict[str, Any]]) -> Section:
    """Figure 4 in numbers: the mean over runs, layers and heads."""
    widest = max(len(curve["runs"][0][0][0]) for curve in curves)
    lines = []
    for curve in curves:
        values = np.array(curve["runs"])
        mean = values.reshape(-1, values.shape[-1]).mean(axis=0)
        line = {"": f"{curve['dataset']}, {spelled(curve['method'])}"}
        padded = [f"{value:.2f}" for value in mean] + [""] * (widest - len(mean))
        line |= {f"bin {i}": text for i, text in enumerate(padded, 1)}
        line["Spearman"] = f"{curve['spearman']:+.2f}"
        lines.append(line)
    return Section(
        "Learned weight of each bin",
        pl.DataFrame(lines),
        "Mean over seeds, layers and heads. The paper expects it to fall from left to right: "
        "Spearman's correlation with the bin, a mean over heads, is then near -1.",
    )


def _sizes(entries: list[dict[str, Any]]) -> Section:
    lines = []
    for entry in entries:
        line = {"dataset": entry["dataset"], "graph": entry["graph"]}
        for count, value in entry["counted"].items():
            line[count] = f"{value:,}"
            paper = entry["published"]
            line[f"{count}, published"] = f"{paper[count]:,}" if paper else "-"
        lines.append(line)
    return Section("Table 5", pl.DataFrame(lines) if lines else pl.DataFrame({"dataset": []}))


def _generator(entries: list[dict[str, Any]]) -> Section:
    names = {"dataset": "dataset", "source": "cut from", "n_train": "n_tr", "n_inference": "n_inf"}
    names |= {"p_rel": "p_rel", "p_tri": "p_tri"}
    table = pl.DataFrame(entries).select(pl.col(key).alias(name) for key, name in names.items())
    text = pl.col("p_rel", "p_tri").map_elements(lambda x: f"{x:.2f}", return_dtype=pl.String)
    return Section(
        "Table 6",
        table.with_columns(text),
        "What Algorithm 2 was given; `ingram data generate --preset NAME` gives it the same.",
    )
