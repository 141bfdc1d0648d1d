"""Statistics as one HTML page: no other file, no script. Labels are escaped."""

from __future__ import annotations

import io
from collections.abc import Iterable
from html import escape

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from ingram.datasets.statistics import (
    KINDS,
    QUANTILES,
    DatasetStatistics,
    GraphStatistics,
    Statistics,
    graphs_of,
)
from ingram.labels import visible

MOST_RELATIONS = 100
COLOURS = ("#2563a8", "#c2571a", "#3f8f4f")
CSS = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;
color:#1b1f24;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;max-width:100%}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #d9dde2}
th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}
.bar{display:inline-block;height:.7em;background:#2563a8}
svg{max-width:100%;height:auto}.wide{overflow-x:auto}.quiet{color:#59636e}
"""


def statistics_page(title: str, statistics: Statistics) -> str:
    """A self-contained page with table 5's figures, distributions and every relation's type."""
    graphs = graphs_of(statistics)
    body = [
        f"<h1>{escape(visible(title))}</h1>",
        _table(["", *graphs], _flat(rows_of(graphs))),
        _novelty(statistics) if isinstance(statistics, DatasetStatistics) else "",
        "<h2>Degrees</h2>",
        _table(["", *QUANTILES, "mean"], _flat(degree_rows(graphs))),
        "<p>Share of entities with at least so many triples:</p>",
        _degree_figure(graphs),
        "<h2>Relation types</h2>",
        _kind_figure(graphs),
        *(_relations(name, graph) for name, graph in graphs.items()),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(visible(title))}</title><style>{CSS}</style></head>'
        f"<body>{''.join(body)}</body></html>\n"
    )


def rows_of(graphs: dict[str, GraphStatistics]) -> list[tuple[str, list[str]]]:
    """The figures that are shown of each graph: a name, and a text for each graph."""
    each = [g.weight for g in graphs.values()]
    weights = [("sum of weights", ["-" if w is None else f"{w:,.10g}" for w in each])]
    if all(w is None for w in each):
        weights = []
    rows = [
        ("entities", [f"{g.sizes.entities:,}" for g in graphs.values()]),
        ("relations", [f"{g.sizes.relations:,}" for g in graphs.values()]),
        ("triples", [f"{g.sizes.triples:,}" for g in graphs.values()]),
        *weights,
        ("components", [f"{g.components:,}" for g in graphs.values()]),
        ("entities in giant component", [f"{g.giant_entities:.1%}" for g in graphs.values()]),
        ("triples in giant component", [f"{g.giant_triples:.1%}" for g in graphs.values()]),
        ("share of possible triples", [f"{g.density:.1e}" for g in graphs.values()]),
        ("loops", [f"{g.loops:,}" for g in graphs.values()]),
    ]
    for kind in KINDS:
        counts = [(g.kinds[kind], max(g.sizes.triples, 1)) for g in graphs.values()]
        texts = [f"{c['relations']:,} ({c['triples'] / total:.1%})" for c, total in counts]
        rows.append((f"{kind} (of triples)", texts))
    return rows


def degree_rows(graphs: dict[str, GraphStatistics]) -> list[tuple[str, list[str]]]:
    """Quantiles of the degrees of each graph, in the order of ``QUANTILES``, and the mean."""
    names = {"all": "", "out": ", as head", "in": ", as tail"}
    rows = []
    for name, graph in graphs.items():
        for side, suffix in names.items():
            texts = [f"{value:,.0f}" for value in graph.quantiles[side].values()]
            mean = graph.mean_degree if side == "all" else graph.mean_degree / 2
            rows.append((f"{name}{suffix}", [*texts, f"{mean:,.1f}"]))
    return rows


def novelty_rows(statistics: DatasetStatistics) -> list[tuple[str, str]]:
    """What of the inference graph training has not seen, as texts."""
    new = {name: f"{c['count']:,} ({c['share']:.1%})" for name, c in statistics.new.items()}
    return [
        ("new relations", new["relations"]),
        ("triples with new relations", new["triples"]),
        *[(f"… among {name}", new[name]) for name in statistics.parts],
        ("entities shared with training", f"{statistics.shared_entities:,}"),
        *[(f"{name} triples", f"{count:,}") for name, count in statistics.parts.items()],
    ]


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of texts that are HTML already."""
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _flat(rows: Iterable[tuple[str, list[str]]]) -> Iterable[list[str]]:
    return ([name, *texts] for name, texts in rows)


def _novelty(statistics: DatasetStatistics) -> str:
    if not statistics.inductive:
        return (
            "<p><strong>Not inductive:</strong> validation and test lie on the training graph "
            "itself, so results say nothing about new entities or relations.</p>"
        )
    return "<h2>What is new</h2>" + _table(["", ""], novelty_rows(statistics))


def _relations(name: str, graph: GraphStatistics) -> str:
    most = max(graph.relations["triples"].to_list(), default=1)
    rows = [
        [
            escape(visible(row["relation"])),
            f"{row['triples']:,} {_bar(row['triples'] / most)}",
            f"{row['tails_per_head']:.2f}",
            f"{row['heads_per_tail']:.2f}",
            row["kind"],
            f"{row['symmetric']:.0%}",
        ]
        for row in graph.relations.head(MOST_RELATIONS).iter_rows(named=True)
    ]
    header = ["relation", "triples", "tails a head", "heads a tail", "type", "reverse stated"]
    left = len(graph.relations) - len(rows)
    more = f'<p class="quiet">and {left:,} rarer ones</p>' if left > 0 else ""
    return f"<h2>Relations of {name}</h2>{_table(header, rows)}{more}"


def _bar(share: float) -> str:
    return f'<span class="bar" style="width:{60 * share:.0f}px"></span>'


def _degree_figure(graphs: dict[str, GraphStatistics]) -> str:
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.add_subplot()
    for (name, graph), colour in zip(graphs.items(), COLOURS, strict=False):
        values, counts = np.unique(graph.degrees, return_counts=True)
        if len(values):
            at_least = counts[::-1].cumsum()[::-1] / counts.sum()
            axes.loglog(values, at_least, drawstyle="steps-post", label=name, color=colour)
    axes.set_xlabel("triples at an entity")
    axes.set_ylabel("share of entities")
    if axes.lines:
        axes.legend(frameon=False)
    return _svg(figure)


def _kind_figure(graphs: dict[str, GraphStatistics]) -> str:
    figure = Figure(figsize=(7, 0.8 + 0.9 * len(graphs)), layout="constrained")
    axes = figure.add_subplot()
    shades = ("#cfe0f3", "#8fb8e0", "#4f8cc9", "#1f4f86")
    for row, graph in enumerate(graphs.values()):
        left = 0.0
        for kind, shade in zip(KINDS, shades, strict=True):
            share = graph.kinds[kind]["triples"] / max(graph.sizes.triples, 1)
            axes.barh(row, share, left=left, color=shade, label=kind if row == 0 else None)
            left += share
    axes.set_yticks(range(len(graphs)), list(graphs))
    axes.invert_yaxis()
    axes.set_xlabel("share of triples")
    figure.legend(loc="outside upper center", ncols=len(KINDS), frameon=False)
    return _svg(figure)


def _svg(figure: Figure) -> str:
    """The figure as an SVG element; the same figure gives the same text."""
    text = io.StringIO()
    with rc_context({"svg.hashsalt": "ingram"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue().partition("<svg")[1] + text.getvalue().partition("<svg")[2]
