"""Arguments that several verbs take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import torch
import typer

from ingram.errors import ConfigError
from ingram.inference.together import ALIKE, VECTORS
from ingram.models.shipped import ZERO_SHOT, run_path

Data = Annotated[
    Path,
    typer.Argument(
        help="A dataset folder (train, msg, valid, test, or another layout: see `ingram data "
        "explain`), one triples file, - for standard input, a benchmark's name such as NL-100, or "
        "the word [bold]world[/] for the embedded dataset."
    ),
]
Several = Annotated[
    list[Path],
    typer.Argument(
        help="One dataset, or several to be learned together: a folder (train, msg, valid, test, "
        "or another layout: see `ingram data explain`), one triples file, - for standard input, a "
        "benchmark's name such as NL-100, or the word [bold]world[/] for the embedded dataset.",
        metavar="DATA...",
    ),
]
AllowLeaks = Annotated[
    bool,
    typer.Option("--allow-leaks", help="Go on although `ingram data check` finds errors."),
]
Graph = Annotated[
    Path,
    typer.Argument(
        help="A graph: TSV, CSV, Parquet, JSON Lines or RDF, also compressed; - is standard input."
    ),
]
Run = Annotated[
    Path,
    typer.Argument(
        help="A run directory that `ingram train` wrote, or the name of shipped weights such as "
        "[bold]zero-shot[/] (see `ingram models list`)."
    ),
]
RunOrGraph = Annotated[
    Path,
    typer.Argument(
        help="A run directory or the name of shipped weights, if a graph follows; else the graph, "
        "and the shipped weights [bold]zero-shot[/] answer.",
        metavar="[RUN]",
    ),
]
VectorsRunOrGraph = Annotated[
    Path,
    typer.Argument(
        help="A run directory or the name of shipped weights, if a graph follows; else the graph, "
        "and the shipped weights [bold]zero-shot-embedding[/] give its vectors.",
        metavar="[RUN]",
    ),
]
GraphAfterRun = Annotated[
    Path | None,
    typer.Argument(
        help="A graph: TSV, CSV, Parquet, JSON Lines or RDF, also compressed; - is standard input.",
        metavar="GRAPH",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Cores to use; all of them by default.", metavar="N")
]


class SaveErrors(StrEnum):
    """What to do about a save that fails."""

    stop = "stop"
    wait = "wait"


SaveError = Annotated[
    SaveErrors,
    typer.Option(
        help="If the run cannot be saved, as on a full disk: [bold]stop[/], or [bold]wait[/] with "
        "everything in memory until it can."
    ),
]

Draws = Annotated[
    int | None,
    typer.Option(min=1, help="Random feature sets of an embedding run; its own by default."),
]
FeatureSeed = Annotated[
    int | None, typer.Option(min=0, help="Of the random features of an embedding run; 0.")
]

With = Annotated[
    list[Path] | None,
    typer.Option(
        "--with",
        help="Another run whose scores are added, such as [bold]zero-shot-twin[/] or "
        "[bold]zero-shot-embedding[/] beside [bold]zero-shot[/]: it takes longer, and on most "
        "graphs answers better. Give it again for a third.",
        metavar="RUN",
    ),
]
WithWeight = Annotated[
    list[float] | None,
    typer.Option(
        help=f"How much the scores of --with count, one for each; {ALIKE:g} for a run of "
        f"ingram-q, {VECTORS:g} for vectors.",
        metavar="W",
    ),
]

Html = Annotated[Path | None, typer.Option(help="Write a page with picture and tables.")]
Svg = Annotated[Path | None, typer.Option("--svg", help="Write the picture alone.")]


def want_folder(*paths: Path | None) -> None:
    """Refuse files to write that have no folder to lie in; ask this before long work."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise ConfigError(f"{path}: no folder {path.parent} to write into")


def run_and_graph(
    first: Path, second: Path | None, *, shipped: str = ZERO_SHOT
) -> tuple[Path, Path]:
    """One positional argument is a graph for ``shipped`` weights, two are a run and a graph."""
    return (Path(shipped), first) if second is None else (first, second)


def run_graph_and_triples(paths: list[Path]) -> tuple[Path, Path, Path]:
    """[RUN] GRAPH TRIPLES."""
    if len(paths) not in (2, 3):
        raise ConfigError(f"want [RUN] GRAPH TRIPLES, got {len(paths)} words")
    *run, graph, triples = paths
    return run[0] if run else Path(ZERO_SHOT), graph, triples


def run_graph_and_triple(words: list[str]) -> tuple[Path, Path, str, str, str]:
    """[RUN] GRAPH HEAD RELATION TAIL."""
    if len(words) not in (4, 5):
        raise ConfigError(f"want [RUN] GRAPH HEAD RELATION TAIL, got {len(words)} words")
    *run, graph, head, relation, tail = words
    return Path(run[0] if run else ZERO_SHOT), Path(graph), head, relation, tail


def run_and_graphs(first: Path, rest: list[Path]) -> tuple[Path, list[Path]]:
    """The same with several graphs after the run."""
    return (first, rest) if rest else (Path(ZERO_SHOT), [first])


def runs_beside(
    others: list[Path] | None, weights: list[float] | None
) -> list[tuple[Path, float | None]]:
    """The runs that --with adds, and how much each counts, None by its kind."""
    runs = [run_path(other) for other in others or []]
    if not weights:
        return [(run, None) for run in runs]
    if len(weights) != len(runs):
        raise ConfigError(
            "--with-weight W is of what --with RUN adds; give one for each, or none: got "
            f"{len(weights)} for {len(runs)}"
        )
    return list(zip(runs, weights, strict=True))


def use_threads(threads: int | None) -> None:
    """One number for matrix products and compiled loops."""
    if threads is not None:
        torch.set_num_threads(threads)


def parse_settings(pairs: list[str]) -> dict[str, str]:
    """``["section.key=value"]`` as a dictionary."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(f"--set wants section.key=value, got {pair!r}")
        settings[name.strip()] = value
    return settings


def changes_of(
    settings: list[str] | None, epochs: int | None, seed: int | None
) -> dict[str, object]:
    """What a command changes in a configuration."""
    named = {"training.epochs": epochs, "training.seed": seed}
    given = {name: value for name, value in named.items() if value is not None}
    return {**parse_settings(settings or []), **given}
