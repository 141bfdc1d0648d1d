"""The command line: parse, call, print. One file a verb."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from ingram.cli.screen import error_console
from ingram.errors import IngramError
from ingram.labels import visible

VERBS = {
    "train": "Train on one dataset, or on several together, and write a run directory.",
    "pretrain": (
        "Train one set of weights on many graphs, to be applied to any other without training."
    ),
    "evaluate": "Rank the triples of a split against all entities of the inference graph.",
    "embed": "Write vectors of a graph's entities and relations, seen before or not.",
    "predict": (
        "Rank the answers to (HEAD, RELATION, ?), (?, RELATION, TAIL) or (HEAD, ?, TAIL) "
        "in a graph."
    ),
    "complete": "Find the most plausible missing triples of a whole graph.",
    "score": "Score given triples, and say which are true.",
    "calibrate": "Learn on validation triples what a run's scores mean, and keep it with the run.",
    "explain": "Say why HEAD RELATION TAIL is predicted, with facts that are in the graph.",
    "similar": "List the entities or relations whose vectors are nearest, by cosine.",
    "relations": "Show the relation graph: relations that share entities are near.",
    "drift": "Say how far vectors and best answers moved from OLD to NEW, and for whom.",
    "serve": "Answer questions about graphs over HTTP, with a page to ask on.",
    "demo": "Answer questions about continents never seen, at once, and again after some training.",
    "reproduce": "Reproduce the paper's tables and figures: train what is missing, test, compare.",
    "tune": "Search for better settings by validation; needs the extra `tune`.",
    "data": "Datasets: explain, check and measure them; fetch benchmarks; make new ones.",
    "models": "Weights that come with the package: list them, read their cards.",
    "runs": "List, compare and clean up run directories.",
}
"""Each with the first line of its help, which names it where all are listed."""


class Verbs(TyperGroup):
    """A verb is loaded when it is called: with torch behind them, all together take seconds."""

    def __init__(self, **given: Any) -> None:
        given["commands"] = {name: TyperCommand(name, help=line) for name, line in VERBS.items()}
        super().__init__(**given)
        self.listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return (
            verb(cmd_name)
            if cmd_name in VERBS and not self.listing
            else self.commands.get(cmd_name)
        )

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.listing = True
        super().format_help(ctx, formatter)
        self.listing = False


def verb(name: str) -> Any:
    """The command of that name, or the group of commands."""
    module = import_module(f"ingram.cli.{name}")
    command: Any
    if group := getattr(module, f"{name}_app", None):
        command = get_group(group)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name)(getattr(module, f"{name}_command"))
        command = get_command(alone)
    command.name = name
    return command


app = typer.Typer(
    name="ingram",
    cls=Verbs,
    help="Learn on one knowledge graph; embed and complete any other, new relations included.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


class _Visible(logging.Formatter):
    """A library's warning may quote what is in a file."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"ingram {version('ingram')}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    screen = logging.StreamHandler()
    screen.setFormatter(_Visible("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[screen])


def main() -> None:
    """Run the command line; a user's error is one line and status 2."""
    try:
        app()
    except IngramError as error:
        error_console.print("[bold red]error:[/] ", end="")
        error_console.print(visible(str(error)), markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
