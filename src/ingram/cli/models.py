"""``ingram models``: the weights that come with the package."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.table import Table

from ingram.cli.options import Json
from ingram.cli.screen import console, figure, print_json
from ingram.models.shipped import Shipped, names, shipped

models_app = typer.Typer(
    help="Weights that come with the package: list them, read their cards.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@models_app.command("list")
def list_command(as_json: Json = False) -> None:
    """List the weights that may stand wherever a run is asked for."""
    every = [shipped(name) for name in names()]
    if as_json:
        print_json([_plain(one) for one in every])
        return
    table = Table(header_style="bold")
    for heading in ("name", "model", "learned on", "bytes"):
        table.add_column(heading, justify="right" if heading == "bytes" else "left")
    for one in every:
        graphs = ", ".join(graph["name"] for graph in one.about["origin"]["graphs"])
        table.add_row(one.name, one.about["config"]["name"], graphs, figure(one.bytes))
    console.print(table)


@models_app.command("info")
def info_command(
    name: Annotated[str, typer.Argument(help="Such as zero-shot.", metavar="NAME")],
    as_json: Json = False,
) -> None:
    """The card of shipped weights: sources, licences, command, figures, what they are bad at."""
    one = shipped(name)
    if as_json:
        print_json({**_plain(one), "card": one.card})
    else:
        console.print(Markdown(one.card))


def _plain(one: Shipped) -> dict[str, object]:
    return {"name": one.name, "path": str(one.path), "bytes": one.bytes, **one.about}
