"""``ingram runs``: what lies in a folder of runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from ingram.cli.options import Html, Json, want_folder
from ingram.cli.screen import console, figure, plain_table, print_json
from ingram.errors import RunError
from ingram.experiments.comparison import compare, comparison_page, find_measured
from ingram.experiments.environment import command_line
from ingram.experiments.presenting import duration, sections
from ingram.experiments.results import stamped
from ingram.experiments.results_page import fill_page
from ingram.experiments.runs import find_runs, leftovers, remove, summary
from ingram.io.atomic import write_text

runs_app = typer.Typer(help="List, compare and clean up run directories.", no_args_is_help=True)
Paths = Annotated[
    list[Path],
    typer.Argument(help="Run directories, or folders with runs below them.", metavar="PATH..."),
]


@runs_app.command("list")
def list_command(paths: Paths, as_json: Json = False) -> None:
    """Each run in a line: how far it is, how good, how large."""
    found = [summary(path) for path in find_runs(paths)]
    if as_json:
        print_json([{**asdict(one), "path": str(one.path)} for one in found])
        return
    table = pl.DataFrame(
        [
            {
                "run": str(one.path),
                "state": one.state,
                "model": one.model,
                "epochs": f"{one.epoch:,} of {one.epochs:,}",
                "valid MRR": figure(one.valid_mrr),
                "test MRR": figure(one.test_mrr),
                "time": duration(one.seconds),
                "MB": f"{one.bytes / 1e6:,.1f}",
            }
            for one in found
        ]
    )
    console.print(plain_table(f"{len(found)} runs", table, whole=True))


@runs_app.command("compare")
def compare_command(paths: Paths, html: Html = None, as_json: Json = False) -> None:
    """Tested runs on the same dataset, side by side, and whether a difference is more than luck.

    Runs that lie in seed-0, seed-1 ... of one folder are taken together. `ingram evaluate --save`
    keeps the test that this needs.
    """
    want_folder(html)
    found = find_measured(paths)
    if not found:
        raise RunError(
            f"{paths[0]}: want tested runs to compare, found none; "
            "`ingram evaluate RUN DATA --save` keeps a test in a run"
        )
    entry = stamped(compare(found), command_line())
    if html is not None:
        write_text(html, comparison_page("Runs compared", {"runs": entry}, {"runs": found}))
    if as_json:
        print_json(entry)
        return
    for section in sections("runs", entry):
        console.print(plain_table(section.title, section.table, whole=True))
        if section.text:
            console.print(section.text, markup=False, highlight=False)


@runs_app.command("page")
def page_command(
    page: Annotated[Path, typer.Argument(help="A Markdown page, such as docs/results.md.")],
) -> None:
    """Write the tables of a page anew from the JSON that its marks name.

    A mark is a line <!-- figures: results/NAME.json --> with <!-- end of figures --> below it; the
    file is what `ingram reproduce --write` wrote. All other words of the page stay as they are.
    """
    changed = fill_page(page)
    console.print(f"{page}: {'written' if changed else 'is what the JSON says'}", highlight=False)


@runs_app.command("clean")
def clean_command(
    paths: Paths,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; by default, only say what.")] = False,
    as_json: Json = False,
) -> None:
    """Remove what is no longer needed: checkpoints of tested runs, runs that came to nothing.

    Weights, figures and ranks stay. A tested run whose checkpoints are gone cannot be resumed.
    """
    found = [path for run in find_runs(paths) for path in leftovers(run)]
    size = sum(f.stat().st_size for path in found for f in path.rglob("*") if f.is_file())
    if yes:
        for path in found:
            remove(path)
    if as_json:
        print_json({"removed": yes, "bytes": size, "paths": [str(path) for path in found]})
        return
    for path in found:
        console.print(str(path), markup=False, highlight=False, soft_wrap=True)
    verb = "removed" if yes else "to be removed with --yes"
    console.print(f"{len(found)} folders, {size / 1e6:,.1f} MB {verb}", highlight=False)
