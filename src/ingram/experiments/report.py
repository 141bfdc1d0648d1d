"""``report.html``: one self-contained page on a run."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as escape_markup
from importlib.metadata import version
from typing import Any

import polars as pl

from ingram.answers.calibration import Calibration
from ingram.experiments.figures import relation_picture, reliability_diagram, svg, training_curves
from ingram.graph import Dataset
from ingram.inference.applying import calibration_path
from ingram.io.atomic import write_text
from ingram.labels import visible
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import dump_config

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; background: #fff; }
pre { background: #8881; padding: 1rem; overflow-x: auto; } .note { color: #b3541e; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
"""


BEGIN, END = "<!-- calibration -->", "<!-- /calibration -->"


@dataclass(frozen=True, eq=False)
class Section:
    """A titled table of a report, with a line on what it shows."""

    title: str
    table: pl.DataFrame
    text: str = ""


def write_report(
    run: RunDirectory, datasets: Sequence[Dataset], sections: Sequence[Section] = ()
) -> None:
    """Write ``report.html`` into the run directory: curves, tables, relation graphs, settings."""
    records = run.metrics()
    names = ", ".join(dataset.name for dataset in datasets)
    parts = [f"<h1>{escape(names)}</h1>"]
    for dataset in datasets:
        parts += ([f"<h2>{escape(dataset.name)}</h2>"] if len(datasets) > 1 else []) + _about(
            dataset
        )
    parts.append("<h2>Training</h2>")
    if records:
        parts.append(f'<div class="scroll">{svg(training_curves(records))}</div>')
        parts.append(_best(records))
    else:
        parts.append("<p>No validation was reached.</p>")
    parts.append(_calibration(run))
    for section in sections:
        parts += [f"<h2>{escape(section.title)}</h2>", f"<p>{escape(section.text)}</p>"]
        parts.append(html_table(section.table))
    for dataset in datasets:
        picture = relation_picture(dataset.inference, dataset.known_relations.tolist())
        which = f" of {escape(dataset.name)}" if len(datasets) > 1 else ""
        parts += [
            f"<h2>Relation graph{which}</h2>",
            "<p>Relations of the inference graph that share entities are joined; the thicker, the "
            "closer. Red: relations that the training graph does not have.</p>",
            f'<div class="scroll">{svg(picture)}</div>',
        ]
    parts += [
        "<h2>Settings</h2>",
        f"<pre>{escape(dump_config(run.config()))}</pre>",
        "<h2>Environment</h2>",
        f"<pre>{escape(_environment())}</pre>",
    ]
    write_text(run.path / "report.html", page(f"{names}: ingram report", "\n".join(parts)))


def renew_calibration(run: RunDirectory) -> bool:
    """Put the run's calibration into the report that stands there; False if there is none."""
    path = run.path / "report.html"
    if not path.is_file():
        return False
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return False
    write_text(path, before + _calibration(run) + after)
    return True


def _calibration(run: RunDirectory) -> str:
    """What a score means, between marks by which it can be renewed."""
    path = calibration_path(run.path)
    if not path.is_file():
        return BEGIN + END
    found = Calibration.load(path)
    table = pl.DataFrame(
        {
            "": list(found.reliability),
            "calibration error": [r.ece for r in found.reliability.values()],
            "Brier score": [r.brier for r in found.reliability.values()],
            "used": [name == found.method for name in found.reliability],
        }
    )
    parts = [
        "<h2>What a score means</h2>",
        "<p>The ten best answers to each of "
        f"{found.questions:,} validation questions of {escape(found.dataset)}, by probabilities "
        "fitted to other questions: what was said against what was right. On the line they agree. "
        "</p>",
        f'<div class="scroll">{svg(reliability_diagram(found))}</div>',
        html_table(table),
        f"<p>Triples that score {found.threshold:.3g} or more are called true. Of as many true as "
        f"false triples, {found.accuracy:.1%} are called right.</p>",
    ]
    return BEGIN + "\n".join(parts) + END


def escape(text: str) -> str:
    """Text as a page shows it: no markup, nothing that turns its direction."""
    lines = text.split("\n")
    return "\n".join(escape_markup(visible(line)) for line in lines)


def page(title: str, body: str) -> str:
    """A whole HTML page that needs nothing but itself."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def html_table(table: pl.DataFrame) -> str:
    """A table with its labels escaped."""
    head = "".join(f"<th>{escape(c)}</th>" for c in table.columns)
    rows = (
        "<tr>" + "".join(f"<td>{escape(_cell(v))}</td>" for v in row) + "</tr>"
        for row in table.iter_rows()
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _about(dataset: Dataset) -> list[str]:
    graphs = {"training graph": dataset.train, "inference facts": dataset.inference}
    table = pl.DataFrame(
        {
            "": list(graphs),
            "entities": [g.num_entities for g in graphs.values()],
            "relations": [g.num_relations for g in graphs.values()],
            "triples": [g.num_triples for g in graphs.values()],
        }
    )
    parts = [html_table(table)]
    if dataset.inductive:
        new = int((~dataset.known_relations).sum())
        parts.append(
            f"<p>{new:,} of the {dataset.inference.num_relations:,} inference relations do not "
            f"occur in training; {len(dataset.valid):,} triples are held out for validation and "
            f"{len(dataset.test):,} for test.</p>"
        )
    else:
        parts.append(
            '<p class="note">Triples were held out on the training graph itself: this is not an '
            "inductive test.</p>"
        )
    return parts


def _best(records: list[dict[str, Any]]) -> str:
    best = max(records, key=lambda r: r["mrr"])
    text = (
        f"Best validation at epoch {best['epoch']:,}: MRR {best['mrr']:.3f}, "
        f"Hits@10 {best.get('hits@10', 0):.3f}. Last epoch {records[-1]['epoch']:,} after "
        f"{records[-1].get('seconds') or 0:,.0f} s."
    )
    collapses = [f"epoch {r['epoch']:,}: {r['collapse']}" for r in records if "collapse" in r]
    if collapses:
        text += " Collapses (dotted lines): " + "; ".join(collapses) + "."
    return f"<p>{escape(text)}</p>"


def _environment() -> str:
    names = ("ingram", "torch", "numpy", "numba", "polars", "scipy")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    system = f"{platform.system()} {platform.machine()}"
    return f"Python {platform.python_version()} on {system}\n{packages}"
