"""``ingram data``: what a dataset is, whether it is sound, and the benchmarks by name."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ingram.cli import data_make
from ingram.cli.names import short
from ingram.cli.options import Data, Json
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, error_console, figure, note, print_json, printable
from ingram.datasets import open_dataset, registry
from ingram.datasets.checks import KINDS, Finding, check, fatal
from ingram.datasets.download import download
from ingram.datasets.explain import Explanation, explain
from ingram.datasets.registry import Benchmark, benchmark, located
from ingram.io.options import ReadOptions
from ingram.labels import visible

data_app = typer.Typer(
    help="Datasets: explain, check and measure them; fetch benchmarks; make new ones.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Name = Annotated[str, typer.Argument(help="A benchmark's name, such as NL-100.", metavar="NAME")]


@data_app.command("explain")
@reads_a_graph
def explain_command(data: Data, reading: ReadOptions, as_json: Json = False) -> None:
    """Say which file is which: training graph, observed facts, validation and test."""
    with located(data) as path:
        found = explain(path, reading)
    if as_json:
        print_json(_plain(asdict(found)))
    else:
        print_explanation(found)


@data_app.command("check")
@reads_a_graph
def check_command(
    data: Data,
    reading: ReadOptions,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="Let errors of this kind pass; may be repeated.", metavar="KIND"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Look for leaks and other faults.

    Exits with status 2 if something was found that would falsify a result.
    """
    fatal([], allow or [])  # an unknown kind is told before the files are read
    dataset = open_dataset(data, options=reading)
    findings = check(dataset)
    bad = fatal(findings, allow or [])
    if as_json:
        print_json(
            {"name": dataset.name, "sound": not bad, "findings": [asdict(f) for f in findings]}
        )
    else:
        print_findings(dataset.name, findings, bad)
    if bad:
        raise typer.Exit(2)


@data_app.command("list")
def list_command(as_json: Json = False) -> None:
    """List the benchmarks that are known by name, and whether they are in the cache."""
    every = [benchmark(name) for name in registry.NAMES]
    if as_json:
        print_json([_card(one) for one in every])
        return
    table = Table(header_style="bold", title="V entities, R relations, E triples")
    for heading in ("name", "cut from"):
        table.add_column(heading)
    for heading in ("new", "train V", "R", "E", "inference V", "R", "E"):
        table.add_column(heading, justify="right")
    table.add_column("cached")
    for one in every:
        sizes = (*asdict(one.train).values(), *asdict(one.inference).values())
        table.add_row(
            one.name, one.source, f"{one.new} %", *map(figure, sizes), "yes" if one.cached else ""
        )
    console.print(table)
    note(f"licence: {registry.LICENCE}; cache: {registry.cache_folder()}")


@data_app.command("download")
def download_command(
    name: Name,
    mirror: Annotated[
        list[str] | None,
        typer.Option(help="Try this address or folder first; may be repeated.", metavar="URL"),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use no network; verify what is there.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fetch a benchmark into the cache and verify it.

    What broke off before is gone on with. INGRAM_HOME is the cache, INGRAM_MIRROR adds mirrors,
    INGRAM_OFFLINE=1 forbids the network.
    """
    one = benchmark(name)
    note(
        f"{name} is published under {registry.LICENCE} ({registry.LICENCE_MEANING}; "
        f"{registry.LICENCE_ADDRESS}); cite {registry.CITATION}"
    )
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=error_console,
        transient=True,
        disable=as_json,
    ) as bars:
        tasks = {f"{name}/{file}": bars.add_task(file, total=None) for file in one.sums}
        folder = download(
            name,
            mirrors=mirror or (),
            offline=offline,
            progress=lambda file, here, end: bars.update(tasks[file], completed=here, total=end),
        )
    if as_json:
        print_json(_card(one))
    else:
        console.print(printable(f"{name}: complete and genuine, in {folder}"), soft_wrap=True)


@data_app.command("info")
@reads_a_graph
def info_command(
    data: Annotated[
        str,
        typer.Argument(help="A dataset (folder or name), or a file of triples.", metavar="DATA"),
    ],
    reading: ReadOptions,
    html: data_make.Html = None,
    as_json: Json = False,
) -> None:
    """Sizes, degrees, components, relation types, and what is new in a dataset.

    Of a benchmark also its source, licence and files.
    """
    if Path(data).exists() or data not in registry.NAMES:
        data_make.info(data, reading, html, as_json)
        return
    one = benchmark(data)
    if not as_json:
        print_card(one)
    if one.cached:
        data_make.info(data, reading, html, as_json, card=_card(one))
    elif as_json:
        print_json(_card(one))


data_app.command("generate")(data_make.generate_command)
data_app.command("split")(data_make.split_command)
data_app.command("synthesize")(data_make.synthesize_command)


def print_explanation(found: Explanation) -> None:
    """One screen: a table of files, a paragraph for each part, what is shared, what is unused."""
    kind = "inductive: two graphs" if found.inductive else "not inductive: one graph"
    name = Text(visible(found.name), style="bold")
    console.print(Text.assemble(name, f": {found.title}, {kind}"))
    table = Table(header_style="bold")
    table.add_column("file", overflow="fold")
    table.add_column("is")
    for heading in ("triples", "entities", "relations"):
        table.add_column(heading, justify="right")
    folders = {part.file.parent for part in found.parts}
    for part in found.parts:
        file = f"{part.file.parent.name}/{part.file.name}" if len(folders) > 1 else part.file.name
        sizes = (part.triples, part.entities, part.relations)
        table.add_row(printable(file), part.title, *map(figure, sizes))
    console.print(table)
    for part in found.parts:
        console.print(Text.assemble((f"{part.title}: ", "bold"), part.meaning))
    if found.inductive:
        console.print(
            f"{figure(found.shared_entities)} entities are in both graphs; "
            f"{figure(found.new_relations)} of the {figure(found.inference_relations)} relations "
            "of the inference graph are new."
        )
    if found.unused:
        console.print(printable("not used: " + ", ".join(path.name for path in found.unused)))


def print_findings(name: str, findings: list[Finding], bad: list[Finding]) -> None:
    """Findings as a table, then one line that sums up."""
    if findings:
        table = Table(header_style="bold", show_lines=True)
        table.add_column("found")
        table.add_column("count", justify="right")
        table.add_column("what it means, and examples", overflow="fold")
        for one in findings:
            word = "error" if one in bad else "allowed" if one.severity == "error" else "warning"
            style = {"error": "bold red", "warning": "yellow"}.get(word, "")
            table.add_row(
                Text(f"{word}\n{one.kind}", style=style),
                figure(one.count),
                Text("\n").join([Text(one.meaning), *(example_line(e) for e in one.examples)]),
            )
        console.print(table)
    verdict = "a result would be false" if bad else "nothing that would falsify a result"
    counts = f"{len(bad)} errors, {len(findings) - len(bad)} warnings"
    console.print(printable(f"{name}: {len(KINDS)} checks, {counts}: {verdict}"))


def example_line(example: tuple[str, ...]) -> Text:
    """One example: labels apart, and the fact that gives a triple away behind it."""
    labels = [short(label) for label in example]
    triple, fact = "  ".join(labels[:3]), "  ".join(labels[3:])
    return printable(f"· {triple}  ⇐  {fact}" if fact else f"· {triple}")


def print_card(one: Benchmark) -> None:
    """What is known of a benchmark without reading it."""
    card = _card(one)
    table = Table(show_header=False, title=one.name, title_justify="left")
    origin = "table 5 of the paper" if one.published else "counted from the files"
    table.add_row("cut from", one.source)
    table.add_row("new relations", f"{one.new} % of the inference graph's triples by design")
    for title, size in (("training graph", one.train), ("inference graph", one.inference)):
        counts = (
            f"{size.entities:,} entities, {size.relations:,} relations, {size.triples:,} triples"
        )
        table.add_row(title, f"{counts} ({origin})")
    table.add_row("licence", f"{registry.LICENCE}: {registry.LICENCE_MEANING}")
    table.add_row("home", registry.PUBLIC_HOME)
    table.add_row("cite", registry.CITATION)
    state = "in the cache" if one.cached else f"not there yet; ingram data download {one.name}"
    table.add_row("cache", f"{one.folder} ({state})")
    for file, total in card["files"].items():
        table.add_row(file, f"SHA-256 {total}")
    console.print(table)


def _card(one: Benchmark) -> dict[str, Any]:
    return {
        "name": one.name,
        "source": one.source,
        "new_triples_percent": one.new,
        "train": asdict(one.train),
        "inference": asdict(one.inference),
        "sizes_from": "paper" if one.published else "files",
        "licence": registry.LICENCE,
        "licence_address": registry.LICENCE_ADDRESS,
        "home": registry.PUBLIC_HOME,
        "files": dict(one.sums),
        "folder": str(one.folder),
        "cached": one.cached,
    }


def _plain(value: Any) -> Any:
    """Paths as text, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
