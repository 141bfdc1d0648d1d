"""``ingram serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingram.cli.options import (
    Draws,
    FeatureSeed,
    RunOrGraph,
    Threads,
    parse_settings,
    run_and_graphs,
    use_threads,
)
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, error_console, note
from ingram.datasets import open_graph
from ingram.errors import ConfigError, MissingPackageError
from ingram.io.folder import declared_prefixes
from ingram.io.options import ReadOptions


@reads_a_graph
def serve_command(
    first: RunOrGraph,
    reading: ReadOptions,
    rest: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Graphs, each served by its file's name; `world` is the embedded one.",
            metavar="GRAPH...",
        ),
    ] = None,
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free one.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="INGRAM_TOKEN",
            help="What requests must bear. Better in the variable: others see a command's words.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Set a limit, such as k=100 or seconds=10.", metavar="LIMIT=VALUE"
        ),
    ] = None,
    draws: Draws = None,
    seed: FeatureSeed = None,
    threads: Threads = None,
) -> None:
    """Answer questions about graphs over HTTP, with a page to ask on."""
    try:
        from ingram.serve.app import create_app
        from ingram.serve.graphs import Shelf, name_for
        from ingram.serve.limits import Limits
        from ingram.serve.metrics import Metrics
        from ingram.serve.running import LOOPBACK, address_of, is_loopback, listen, run
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"serving needs the package {error.name}: pip install 'ingram[serve]'"
        ) from error
    if token == "":
        raise ConfigError("--token: want a word, got nothing; leave it out to ask for none")
    limits = Limits.of(parse_settings(settings or []))
    use_threads(threads)
    weights, graphs = run_and_graphs(first, rest or [])
    shelf = Shelf(weights, limits, Metrics(), draws=draws, seed=seed)
    for path in graphs:
        name = name_for(path, {served.name for served in shelf})
        with error_console.status(f"reading {name}"):
            graph = open_graph(path, reading)
            prefixes = declared_prefixes(path, reading)
            shelf.put(shelf.prepared(name, graph, prefixes=prefixes))
    local = is_loopback(host)
    if not local and token is None:
        note(f"{host}: whoever can reach this machine can ask, upload and delete; see --token")
    app = create_app(shelf, token=token, hosts=(*LOOPBACK, host) if local else ())
    listener = listen(host, port)

    def ready() -> None:
        console.print(f"{address_of(listener)} (Ctrl-C stops)", highlight=False, soft_wrap=True)

    run(app, listener, limits, ready)
    note("stopped")
