"""Write docs/cli.md, the reference of the command line, from the commands themselves.

python scripts/cli_reference.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

from typer import Context
from typer.core import TyperGroup
from typer.main import get_command

from ingram.cli import app
from ingram.io.atomic import write_text

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
TOP = """\
# The command line

Every command with everything it takes; `ingram COMMAND --help` says the same. An error is one line
on standard error and status 2. This page is made from the code: `make docs` writes it anew.
"""
SHARED = """\
## Reading a graph

Every command marked with *reads a graph* takes these too; [formats.md](formats.md) has examples.
Of a dataset folder they hold for each file.
"""


def reference() -> str:
    """The page."""
    root = Context(get_command(app), info_name="ingram")
    shared: dict[str, str] = {}
    commands = [part for context in contexts(root) for part in section(context, shared)]
    return "\n".join([TOP, *commands, SHARED, table("option", shared), ""])


def contexts(above: Context) -> Iterator[Context]:
    """The commands below one, in order; a group's own come after its name."""
    group = above.command
    if not isinstance(group, TyperGroup):
        return
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        assert command is not None
        context = Context(command, info_name=name, parent=above)
        yield context
        yield from contexts(context)


def section(context: Context, shared: dict[str, str]) -> Iterator[str]:
    """One command. Options of the panel that many share are put into ``shared`` instead."""
    yield f"## {context.command_path}\n"
    yield f"{plain(cleandoc(context.command.help or ''))}\n"
    if isinstance(context.command, TyperGroup):
        return
    found: dict[str, dict[str, str]] = {"argument": {}, "option": {}}
    reads = False
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or "--help" in parameter.opts:
            continue
        name, text = (plain(part) for part in record)
        if "Reading the graph" in (getattr(parameter, "rich_help_panel", None) or ""):
            shared[name], reads = text, True
        else:
            found[parameter.param_type_name][name] = text
    found["argument"] = {
        bare(name): text.removesuffix("[required]") for name, text in found["argument"].items()
    }
    yield f"```\n{' '.join([context.command_path, *found['argument']])} [OPTIONS]\n```\n"
    for what, rows in found.items():
        if rows:
            yield f"{table(what, rows)}\n"
    if reads:
        yield "*Reads a graph*: [more options](#reading-a-graph).\n"


def table(what: str, rows: dict[str, str]) -> str:
    """Markdown of names and what they do."""
    lines = [f"| {what} | |", "|---|---|"]
    for name, text in rows.items():
        lines.append(f"| `{cell(name)}` | {cell(text)} |")
    return "\n".join(lines)


def bare(name: str) -> str:
    """An argument's name as the usage shows it, without its type."""
    word = re.sub(r" <.*>$", "", name)
    return word if word != word.lower() else word.upper()


def cell(text: str) -> str:
    """Fit to stand in a table."""
    return " ".join(text.split()).replace("|", r"\|")


def plain(text: Any) -> str:
    """Without the screen's markup; what it set in bold is a word to type."""
    return re.sub(r"\[bold\](.*?)\[/(?:bold)?\]", r"`\1`", str(text)).replace(r"\[", "[")


if __name__ == "__main__":
    write_text(PAGE, reference())
