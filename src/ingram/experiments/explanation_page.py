"""An explanation drawn: its paths from head to tail, and where the model looks."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from ingram.experiments.figures import ACCENT, FAINT, LINE, shown, svg
from ingram.experiments.pages import escape, html_table, page
from ingram.inference.explanation import Explanation, Name, Path, tables


def explanation_picture(explanation: Explanation, name: Name = str) -> Figure:
    """The prediction, below it a row for each path, the thicker the stronger; then attention."""
    paths, looks = explanation.paths, explanation.neighbours
    heights = [0.9 * (1 + len(paths)), 0.3 * len(looks) + 0.4][: 2 if looks else 1]
    width = max([2, *(len(path.steps) for path in paths)])
    figure = Figure(figsize=(3 + 2.4 * width, sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    _draw_paths(axes[0], explanation, name)
    if looks:
        _draw_bars(axes[1], explanation, name)
    return figure


def _draw_paths(axes: Axes, explanation: Explanation, name: Name) -> None:
    axes.set_axis_off()
    e = explanation
    first, last = _box(axes, 0, 0, name(e.head), ACCENT), _box(axes, 1, 0, name(e.tail), ACCENT)
    _arrow(axes, first, last, f"{name(e.relation)}?", ACCENT, 1.5, "--")
    top = max((_strength(path) for path in e.paths), default=0.0) or 1.0
    for row, path in enumerate(e.paths, 1):
        width = 0.8 + 3 * max(_strength(path), 0) / top
        here = _box(axes, 0, -row, name(e.head), LINE)
        for i, step in enumerate(path.steps, 1):
            there = _box(axes, i / len(path.steps), -row, name(step.target), LINE)
            ends = (here, there) if step.forward else (there, here)
            _arrow(axes, *ends, name(step.relation), LINE, width, "-")
            here = there
    axes.set_xlim(-0.15, 1.15)
    axes.set_ylim(-len(e.paths) - 0.5, 0.6)


def _strength(path: Path) -> float:
    if path.weight is not None:
        return path.weight
    return path.evidence.share if path.evidence is not None else 1.0


def _box(axes: Axes, x: float, y: float, text: str, colour: str) -> Text:
    return axes.text(
        x, y, shown(text, 26), ha="center", va="center", fontsize=9, parse_math=False, zorder=3,
        bbox={"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour},
    )  # fmt: skip


def _arrow(
    axes: Axes, start: Text, stop: Text, text: str, colour: str, width: float, line: str
) -> None:
    """Between two boxes of a row, from edge to edge; the text stands above."""
    (x, y), (other, _) = start.get_position(), stop.get_position()
    shrink = [8 + 2.8 * len(box.get_text()) for box in (start, stop)]  # points, at this font size
    axes.annotate(
        "", xy=(other, y), xytext=(x, y), zorder=1,
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": width, "linestyle": line,
                    "shrinkA": shrink[0], "shrinkB": shrink[1]},
    )  # fmt: skip
    axes.text(
        (x + other) / 2, y + 0.24, shown(text), ha="center", va="center", fontsize=8,
        color=colour, parse_math=False, zorder=2,
    )  # fmt: skip


def _draw_bars(axes: Axes, explanation: Explanation, name: Name) -> None:
    axes.set_axis_off()
    axes.set_title("where the last entity layer looks", loc="left", fontsize=10)
    looks = explanation.neighbours
    for row, one in enumerate(looks):
        axes.barh(-row, one.attention, color=LINE if one.entity == explanation.head else FAINT)
        axes.text(
            one.attention + 0.01, -row, shown(one.words(name), 80), va="center", fontsize=8,
            parse_math=False,
        )  # fmt: skip
    axes.set_xlim(0, 2 * max(one.attention for one in looks) + 0.2)


def explanation_page(explanation: Explanation, name: Name = str) -> str:
    """A self-contained page: the picture and the tables."""
    e = explanation
    title = f"Why ({name(e.head)}, {name(e.relation)}, {name(e.tail)})?"
    stated = " It is stated in the graph." if e.known else ""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(verdict(e, name))}{stated}</p>",
        f'<div class="scroll">{svg(explanation_picture(e, name))}</div>',
    ]
    for heading, table in tables(e, name).items():
        parts += [f"<h2>{escape(heading.capitalize())}</h2>", html_table(table)]
    return page(title, "\n".join(parts))


def verdict(explanation: Explanation, name: Name = str) -> str:
    """Model, score and rank in a sentence."""
    e = explanation
    return (
        f"{e.model} scores {name(e.tail)} with {e.score:.3f}: number {e.rank:,} of the answers to "
        f"({name(e.head)}, {name(e.relation)}, ?) that are no facts."
    )
