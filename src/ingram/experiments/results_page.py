"""A Markdown page whose tables come from JSON beside it; the words between them are its own.

    <!-- figures: results/paper.json main -->
    ... written anew: the experiment ``main`` of that file; without a name, all that is in it; with
    ``main:all-datasets`` only its table of that title ...
    <!-- end of figures -->

A file is what ``ingram reproduce --write`` wrote, or tables as they are: ``{"format":
"ingram-table-1", "columns": [...], "rows": [[...], ...]}``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from ingram.errors import RunError
from ingram.experiments.presenting import sections, title
from ingram.experiments.results import FORMAT, read_results
from ingram.experiments.runs import read_json
from ingram.io.atomic import write_text

TABLE = "ingram-table-1"
END = "<!-- end of figures -->"
BLOCK = re.compile(rf"(<!-- figures: (\S+?)(?: (\S+))? -->\n).*?{END}", re.DOTALL)
LEFT = ("method", "better", "worse", "dataset", "budget", "cut from", "graph", "run", "")


def fill_page(path: Path) -> bool:
    """Write the tables of a page anew; returns whether that changed it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: want a page of Markdown, got {error}") from error
    if not BLOCK.search(text):
        raise RunError(f"{path}: want a line <!-- figures: FILE.json --> and {END}, found none")
    new = filled(text, path.parent)
    if new != text:
        write_text(path, new)
    return new != text


def filled(text: str, folder: Path) -> str:
    """The page with the tables that the JSON in the folder says."""

    def block(found: re.Match[str]) -> str:
        start, file, name = found.groups()
        return f"{start}\n{_figures(folder / file, name)}\n{END}"

    return BLOCK.sub(block, text)


def _figures(path: Path, name: str | None) -> str:
    document = read_json(path)
    if document.get("format") == TABLE:
        rows = [[_plain(value) for value in row] for row in document["rows"]]
        return _lines([document["columns"], *rows], document["columns"])
    if document.get("format") != FORMAT:
        raise RunError(f"{path}: want figures of {FORMAT} or {TABLE}, got another format")
    entries = read_results(path)["experiments"]
    if name is None:
        return "\n".join(_entry(n, e) for n, e in entries.items())
    name, _, table = name.partition(":")
    if name not in entries:
        raise RunError(f"{path}: want results of {name}, found {', '.join(entries) or 'none'}")
    if not table:
        return _entry(name, entries[name])
    tables = {s.title.lower().replace(" ", "-"): s.table for s in sections(name, entries[name])}
    if table not in tables:
        raise RunError(f"{path}: want table {table} of {name}, found {', '.join(tables)}")
    return markdown_table(tables[table])


def _entry(name: str, entry: dict[str, Any]) -> str:
    heading, text = title(name)
    about = entry["environment"]
    made = (
        f"ingram {about['ingram']}, Python {about['python']}, torch {about['torch']}, "
        f"{about['system']}, {about['threads']}."
    )
    parts = [f"**{heading}.** {text} {made}\n", f"    {entry['command']}\n"]
    for section in sections(name, entry):
        parts += [f"#### {section.title}\n", *([section.text + "\n"] if section.text else [])]
        parts.append(markdown_table(section.table))
    return "\n".join(parts)


def markdown_table(table: pl.DataFrame) -> str:
    """A table as Markdown has it, text to the left and figures to the right."""
    rows = [[_cell(value) for value in row] for row in table.iter_rows()]
    return _lines([table.columns, *rows], table.columns)


def _lines(lines: list[list[str]], columns: list[str]) -> str:
    rule = [":--" if name in LEFT else "--:" for name in columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rule, *lines[1:]]) + "\n"


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _plain(value: Any) -> str:
    """A figure as the page writes it: .309, 92.6, 1,586; several with / between."""
    if isinstance(value, list):
        return "/".join(map(_plain, value))
    if isinstance(value, float):
        return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:,.1f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else _cell(value)
