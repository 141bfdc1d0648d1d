"""An explanation drawn: its paths from head to tail, and where the model looks."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ingram.experiments.figures import ACCENT, FAINT, LINE, shown, svg
from ingram.experiments.pages import escape, html_table, page
from ingram.inference.explanation import Explanation, Name, Path, tables

Places = dict[str, tuple[float, float]]


def explanation_picture(explanation: Explanation, name: Name = str) -> Figure:
    """Paths as lines from head to tail, the thicker the stronger; attention as bars below."""
    paths, looks = explanation.paths, explanation.neighbours
    heights = [1.2 + 0.75 * max(len(paths), 1), 0.3 * len(looks) + 0.4][: 2 if looks else 1]
    figure = Figure(figsize=(9, sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    _draw_paths(axes[0], explanation, name)
    if looks:
        _draw_bars(axes[1], explanation, name)
    return figure


def _draw_paths(axes: Axes, explanation: Explanation, name: Name) -> None:
    axes.set_axis_off()
    places = _places(explanation)
    top = max((_strength(path) for path in explanation.paths), default=0.0) or 1.0
    drawn = set()
    for path in explanation.paths:
        strength = _strength(path) / top
        for step in path.steps:
            if (step.fact, step.forward) in drawn:
                continue
            drawn.add((step.fact, step.forward))
            head, _, tail = step.fact
            _arrow(axes, places[head], places[tail], name(step.relation), strength)
    first, last = places[explanation.head], places[explanation.tail]
    _arrow(axes, first, last, f"{name(explanation.relation)}?", 0.3, predicted=True)
    for label, (x, y) in places.items():
        end = label in (explanation.head, explanation.tail)
        axes.text(
            x, y, shown(name(label)), ha="center", va="center", fontsize=9, parse_math=False,
            zorder=3,
            bbox={"boxstyle": "round,pad=0.35", "facecolor": "white",
                  "edgecolor": ACCENT if end else LINE},
        )  # fmt: skip
    low, high = min(y for _, y in places.values()), max(y for _, y in places.values())
    axes.set_xlim(-0.15, 1.15)
    axes.set_ylim(low - 1.1, high + 0.5)


def _places(explanation: Explanation) -> Places:
    """Head left, tail right, what lies between by the first path that names it; paths downward."""
    count = len(explanation.paths)
    middle = -(count - 1) / 2
    places: Places = {explanation.head: (0.0, middle)}
    places.setdefault(explanation.tail, (1.0, middle))
    for row, path in enumerate(explanation.paths):
        for i, step in enumerate(path.steps[:-1], 1):
            places.setdefault(step.target, (i / len(path.steps), -float(row)))
    return places


def _strength(path: Path) -> float:
    if path.weight is not None:
        return path.weight
    return path.evidence.share if path.evidence is not None else 1.0


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    stop: tuple[float, float],
    label: str,
    strength: float,
    *,
    predicted: bool = False,
) -> None:
    style = f"arc3,rad={0.35 if predicted else 0.0}"
    axes.annotate(
        "", xy=stop, xytext=start, zorder=1,
        arrowprops={
            "arrowstyle": "-|>", "color": ACCENT if predicted else LINE, "connectionstyle": style,
            "linewidth": 0.6 + 3 * max(strength, 0.0), "shrinkA": 22, "shrinkB": 22,
            "linestyle": "--" if predicted else "-",
        },
    )  # fmt: skip
    x, y = (start[0] + stop[0]) / 2, (start[1] + stop[1]) / 2
    below = 0.85 + abs(start[1]) if predicted else 0.0
    axes.text(
        x, y - below, shown(label), ha="center", va="center", fontsize=8, parse_math=False,
        color=ACCENT if predicted else LINE, zorder=2,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
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
