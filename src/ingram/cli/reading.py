"""The options of how a graph is read, defined once for every verb that takes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any

import typer

from ingram.cli.names import prefixes_of
from ingram.cli.options import (
    run_and_graph,
    run_and_graphs,
    run_graph_and_triple,
    run_graph_and_triples,
)
from ingram.errors import ConfigError
from ingram.io.formats import FORMATS
from ingram.io.options import WHOLE, ReadOptions, column_of

Option = partial(typer.Option, rich_help_panel="Reading the graph (each file of a folder)")


def _options(
    format_: Annotated[
        str | None,
        Option(
            "--format",
            help=f"{', '.join(FORMATS)}; by default, what the suffix says, else tsv.",
            metavar="FORMAT",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        Option(
            help="Columns of a table: three names, or positions from 0, with commas between.",
            metavar="HEAD,RELATION,TAIL",
        ),
    ] = None,
    header: Annotated[
        bool | None,
        Option(
            "--header/--no-header",
            help="Whether the first line of TSV or CSV names the columns; CSV finds out by itself.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        str | None,
        Option(
            help="Column of how often a triple counts; by default, one of the name weight.",
            metavar="COLUMN",
        ),
    ] = None,
    no_weight: Annotated[
        bool,
        Option("--no-weight", help="Leave a column of weights out."),
    ] = False,
    literals: Annotated[
        bool,
        Option(
            "--literals",
            help="Keep RDF triples whose object is a literal; by default, they are skipped.",
        ),
    ] = False,
    base: Annotated[
        str | None,
        Option(
            help="What relative IRIs of Turtle, TriG and RDF/XML are relative to.",
            metavar="IRI",
        ),
    ] = None,
    limit: Annotated[
        str | None,
        Option(
            help="Bytes that the input may unpack to; by default, a hundred times its size.",
            metavar="BYTES",
        ),
    ] = None,
) -> ReadOptions:
    """What was given on the command line as one value."""
    if weight is not None and no_weight:
        raise ConfigError(f"want --weight or --no-weight, got both: --weight {weight}")
    if limit is not None and not WHOLE.fullmatch(limit):
        raise ConfigError(f"--limit: want a whole number of bytes, got {limit!r}")
    return ReadOptions(
        format=format_,
        columns=None if columns is None else [column_of(word) for word in columns.split(",")],
        header=header,
        weight=False if no_weight else None if weight is None else column_of(weight),
        literals=literals,
        base=base,
        limit=None if limit is None else int(limit),
    )


def reads_a_graph(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb with the options above in place of its parameter ``reading``.

    Typer takes a command's options from the signature of a function and knows no group of them.
    """
    options = inspect.signature(_options, eval_str=True).parameters
    signature = inspect.signature(verb, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "reading"]

    @wraps(verb)
    def command(**given: Any) -> None:
        reading = _options(**{name: given.pop(name) for name in options})
        if "words" in given:
            graphs = [run_graph_and_triple(given["words"])[1]]
        elif "paths" in given:
            graphs = [run_graph_and_triples(given["paths"])[1]]
        elif "second" in given:
            graphs = [run_and_graph(given["first"], given["second"])[1]]
        elif "rest" in given:
            graphs = run_and_graphs(given["first"], given["rest"] or [])[1]
        else:
            (graphs,) = (given[name] for name in ("graph", "graphs", "data") if name in given)
        with prefixes_of(graphs if isinstance(graphs, list) else [graphs], reading):
            verb(**given, reading=reading)

    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*own, *(p.replace(kind=p.KEYWORD_ONLY) for p in options.values())]
    )
    return command


def spelled(reading: ReadOptions) -> list[str]:
    """The words on a command line that say how to read."""
    words: list[str] = []
    for name in reading.given:
        value = getattr(reading, name)
        if value is True or value is False:
            words.append(f"--{name}" if value else f"--no-{name}")
        elif name == "columns":
            words += ["--columns", ",".join(map(str, value))]
        else:
            words += [f"--{name}", str(value)]
    return words
