"""Figures for reports, as SVG text that can stand inside a page."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ingram.answers.calibration import Calibration
from ingram.graph import Ids, KnowledgeGraph
from ingram.relation_graph import folded_affinities

LINE, FAINT, ACCENT = "#2a6f97", "#a9b4bd", "#d1495b"


def svg(figure: Figure) -> str:
    """The figure as an ``<svg>`` element; its text is drawn as paths, so no label can be markup."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": ""}
    )
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def training_curves(records: Sequence[dict[str, Any]]) -> Figure:
    """Training loss and validation MRR by epoch; collapses are marked."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    epochs = [r["epoch"] for r in records]
    losses = [np.nan if r.get("loss") is None else r["loss"] for r in records]
    _curve(left, epochs, losses, "training loss")
    _curve(right, epochs, [r["mrr"] for r in records], "validation MRR")
    right.set_ylim(bottom=0)
    for record in records:
        if "collapse" in record:
            for axes in (left, right):
                axes.axvline(record["epoch"], color=ACCENT, linewidth=1, linestyle=":")
    return figure


def method_curves(methods: Mapping[str, Sequence[Sequence[dict[str, Any]]]]) -> Figure:
    """Validation MRR by the part of the epochs that is done: a colour a method, a line a run."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots()
    for place, (name, runs) in enumerate(methods.items()):
        for number, records in enumerate(runs):
            last = max(records[-1]["epoch"], 1)
            done = [r["epoch"] / last for r in records]
            label = shown(name).replace("$", r"\$") if number == 0 else None
            mrr = [r["mrr"] for r in records]
            mark = "o" if len(records) < 40 else None
            axes.plot(done, mrr, color=f"C{place}", linewidth=1.3, marker=mark, markersize=3,
                      label=label)  # fmt: skip
    axes.set_title("validation MRR", loc="left", fontsize=11)
    axes.set_xlabel("part of the epochs")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, alpha=0.3)
    if methods:
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _curve(axes: Axes, x: Sequence[float], y: Sequence[float], title: str) -> None:
    axes.plot(x, y, color=LINE, linewidth=1.8, marker="o" if len(x) < 40 else None, markersize=3)
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel("epoch")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, alpha=0.3)


def reliability_diagram(calibration: Calibration) -> Figure:
    """Said against right for both methods; a point's size follows the number of answers."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    pairs = zip(figure.subplots(1, 2), calibration.reliability.items(), strict=True)
    for axes, (name, found) in pairs:
        used = " (used)" if name == calibration.method else ""
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1)
        said, right = [b.said for b in found.bins], [b.right for b in found.bins]
        axes.plot(said, right, color=LINE, linewidth=1.2)
        axes.scatter(said, right, s=[8 + 12 * np.log1p(b.answers) for b in found.bins], color=LINE)
        axes.set_title(f"{name}{used}: error {found.ece:.3f}", loc="left", fontsize=11)
        axes.set(xlabel="said", ylabel="right", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axes.set_aspect("equal")
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def bin_curves(curves: Mapping[str, npt.ArrayLike]) -> Figure:
    """Figure 4: a panel for each name, (lines, bins) of learned weights and their mean."""
    columns = min(3, max(len(curves), 1))
    rows = max(1, -(-len(curves) // columns))
    figure = Figure(figsize=(3 * columns, 2.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (name, lines) in zip(grid, curves.items(), strict=False):
        values = np.asarray(lines, dtype=float)
        bins = np.arange(1, values.shape[1] + 1)
        axes.plot(bins, values.T, color=FAINT, linewidth=0.8)
        axes.plot(bins, values.mean(axis=0), color=LINE, linewidth=2.2, marker="o", markersize=3)
        axes.set_title(shown(name), loc="left", fontsize=10, parse_math=False)
        axes.set_xlabel("bin")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(curves) :]:
        axes.set_axis_off()
    return figure


def relation_picture(
    graph: KnowledgeGraph, known: Sequence[bool] | None = None, most: int = 30
) -> Figure:
    """The relation graph on a circle: thicker lines for stronger affinities, new relations in red.

    Inverse relations are folded into their relations; the ``most`` frequent relations are drawn.
    """
    figure = Figure(figsize=(7.5, 7.5))
    axes = figure.add_subplot(projection=None)
    axes.set_axis_off()
    axes.set_aspect("equal")
    counts = np.bincount(graph.triples[:, 1], minlength=graph.num_relations)
    drawn = np.sort(np.argsort(-counts, kind="stable")[:most])
    angles = 2 * np.pi * np.arange(len(drawn)) / max(len(drawn), 1)
    x, y = np.cos(angles), np.sin(angles)
    for i, j, strength in _strongest(graph, drawn):
        axes.plot(x[[i, j]], y[[i, j]], color=LINE, alpha=0.15 + 0.7 * strength,
                  linewidth=0.4 + 4 * strength, solid_capstyle="round", zorder=1)  # fmt: skip
    for position, (relation, angle) in enumerate(zip(drawn, angles, strict=True)):
        new = known is not None and not known[relation]
        size = 30 + 250 * counts[relation] / max(counts.max(), 1)
        axes.scatter(x[position], y[position], s=size, color=ACCENT if new else LINE, zorder=2)
        flip = np.cos(angle) < 0
        axes.text(
            1.08 * x[position], 1.08 * y[position], shown(graph.relations.take([relation])[0]),
            rotation=np.degrees(angle) + (180 if flip else 0), rotation_mode="anchor",
            ha="right" if flip else "left", va="center", fontsize=9, parse_math=False,
        )  # fmt: skip
    axes.set_xlim(-1.75, 1.75)
    axes.set_ylim(-1.75, 1.75)
    return figure


def _strongest(graph: KnowledgeGraph, drawn: Ids) -> list[tuple[int, int, float]]:
    """Edges between drawn relations with a strength in (0, 1], the 150 strongest."""
    total = np.triu(folded_affinities(graph)[drawn][:, drawn].toarray(), k=1)
    i, j = np.nonzero(total)
    order = np.argsort(-total[i, j], kind="stable")[:150]
    top = total.max() if len(order) else 1.0
    return [(int(i[o]), int(j[o]), float((total[i[o], j[o]] / top) ** 0.5)) for o in order]


def shown(label: str, most: int = 32) -> str:
    """A label fit to be drawn: no control characters, not too long."""
    visible = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in label)
    return visible if len(visible) <= most else visible[: most - 1] + "…"
