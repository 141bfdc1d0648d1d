"""Self-contained HTML pages: no script, nothing from elsewhere, fit for paper and for a phone."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape as escape_markup
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from ingram.experiments.figures import svg
from ingram.labels import visible

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; overflow-wrap: anywhere; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
td:first-child { overflow-wrap: anywhere; min-width: 9rem; }
.scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; background: #fff; }
pre { background: #8881; padding: 1rem; overflow-x: auto; } .note { color: #b3541e; }
@media (max-width: 40rem) {
  body { margin: 1rem auto; font-size: 15px; } table { font-size: 12px; }
  th, td { padding: .25rem .3rem; } td:first-child { min-width: 6rem; }
}
@media print {
  @page { margin: 1.5cm; }
  :root { color-scheme: light; } body { margin: 0; max-width: none; font-size: 10.5pt; }
  h2, h3 { break-after: avoid; } svg, tr { break-inside: avoid; }
  .scroll { overflow: visible; } table { font-size: 9pt; } th, td { padding: .15rem .4rem; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
"""


@dataclass(frozen=True, eq=False)
class Section:
    """A titled table of a report, with a line on what it shows."""

    title: str
    table: pl.DataFrame
    text: str = ""

    def html(self) -> list[str]:
        parts = [f"<h2>{escape(self.title)}</h2>"]
        if self.text:
            parts.append(f"<p>{escape(self.text)}</p>")
        return [*parts, html_table(self.table)]


def escape(text: str) -> str:
    """Text as a page shows it: no markup, nothing that turns its direction."""
    return "\n".join(escape_markup(visible(line)) for line in text.split("\n"))


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
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def picture(figure: Figure) -> str:
    """A figure in the page, never wider than the screen."""
    return f'<div class="scroll">{svg(figure)}</div>'
