"""The command line: parse, call, print. One file a verb."""

from __future__ import annotations

import logging
import sys

import typer

from ingram.cli import (
    calibrate,
    complete,
    demo,
    drift,
    embed,
    evaluate,
    explain,
    predict,
    pretrain,
    relations,
    reproduce,
    score,
    serve,
    similar,
    train,
    tune,
)
from ingram.cli.data import data_app
from ingram.cli.models import models_app
from ingram.cli.runs import runs_app
from ingram.cli.screen import error_console
from ingram.errors import IngramError
from ingram.labels import visible

app = typer.Typer(
    name="ingram",
    help="Learn on one knowledge graph; embed and complete any other, new relations included.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("train")(train.train_command)
app.command("pretrain")(pretrain.pretrain_command)
app.command("evaluate")(evaluate.evaluate_command)
app.command("embed")(embed.embed_command)
app.command("predict")(predict.predict_command)
app.command("complete")(complete.complete_command)
app.command("score")(score.score_command)
app.command("calibrate")(calibrate.calibrate_command)
app.command("explain")(explain.explain_command)
app.command("similar")(similar.similar_command)
app.command("relations")(relations.relations_command)
app.command("drift")(drift.drift_command)
app.command("serve")(serve.serve_command)
app.command("demo")(demo.demo_command)
app.command("reproduce")(reproduce.reproduce_command)
app.command("tune")(tune.tune_command)
app.add_typer(data_app, name="data")
app.add_typer(models_app, name="models")
app.add_typer(runs_app, name="runs")


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
