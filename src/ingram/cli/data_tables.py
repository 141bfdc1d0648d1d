"""How ``ingram data`` prints what it made and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ingram.cli.screen import console, error_console, figure, named, note, printable
from ingram.datasets.generator_report import GeneratorReport
from ingram.datasets.statistics import (
    QUANTILES,
    DatasetStatistics,
    GraphStatistics,
    Statistics,
    graphs_of,
)
from ingram.datasets.statistics_page import degree_rows, novelty_rows, rows_of
from ingram.datasets.synthetic import SyntheticReport

MOST_RELATIONS = 10


@contextmanager
def progress_bar(what: str, steps: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """A bar that is gone when done; call what it gives at each step."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(
        *columns, TimeRemainingColumn(), console=error_console, transient=True, disable=quiet
    )
    with bar:
        task = bar.add_task(what, total=steps)
        yield lambda: bar.advance(task)


def print_generated(report: GeneratorReport) -> None:
    """Sizes as in table 5, and how the shares came out."""
    table = _table(f"seed {report.seed}", "entities", "relations", "triples")
    rows = {
        "graph": report.source,
        "giant component": report.giant,
        "training graph": report.train,
        "inference graph": report.inference,
    }
    for name, sizes in rows.items():
        table.add_row(name, *(f"{n:,}" for n in (sizes.entities, sizes.relations, sizes.triples)))
    console.print(table)
    total = report.inference.triples
    parts = [(n, f"{n / total:.0%}") for n in (report.facts, report.valid, report.test)]
    console.print(
        "facts, valid, test: " + ", ".join(f"{count:,} ({share})" for count, share in parts),
        f"new relations: {report.new_relations:,} of {report.inference.relations:,}",
        f"triples with new relations: asked {report.asked_share:.1%}, mixed "
        f"{report.mixed_share:.1%} of {report.mixed:,}, in the giant component "
        f"{report.final_share:.1%}",
        sep="\n",
        highlight=False,
    )


def print_synthetic(report: SyntheticReport) -> None:
    """The rules and the best possible MRR."""
    console.print("rules of the inference graph:", highlight=False)
    for rule in report.rules["inference"]:
        console.print(f"  {rule}", markup=False, highlight=False, soft_wrap=True)
    table = _table("", "triples", "noise", "best MRR")
    for split, best in report.optimum.items():
        table.add_row(split, f"{best.triples:,}", f"{best.noise:,}", f"{best.mrr:.4f}")
    console.print(table)


def print_statistics(title: str, statistics: Statistics) -> None:
    """Table 5 and more, and the most frequent relations."""
    graphs = graphs_of(statistics)
    table = _table(title, *graphs)
    for name, texts in rows_of(graphs):
        table.add_row(name, *texts)
    console.print(table)
    degrees = _table("degrees", *QUANTILES, "mean")
    for name, texts in degree_rows(graphs):
        degrees.add_row(name, *texts)
    console.print(degrees)
    if isinstance(statistics, DatasetStatistics):
        _print_novelty(statistics)
    for name, graph in graphs.items():
        if name != "facts":
            console.print(_relations(name, graph))


def _print_novelty(statistics: DatasetStatistics) -> None:
    if not statistics.inductive:
        note("not inductive: validation and test lie on the training graph itself")
        return
    table = _table("of the inference graph", "")
    for name, text in novelty_rows(statistics):
        table.add_row(name, text)
    console.print(table)


def _relations(name: str, graph: GraphStatistics) -> Table:
    left = len(graph.relations) - MOST_RELATIONS
    more = f", {left:,} rarer ones left out" if left > 0 else ""
    table = _table(f"relations of {name}{more}", "triples", "tails a head", "heads a tail", "type")
    for row in graph.relations.head(MOST_RELATIONS).iter_rows(named=True):
        table.add_row(
            named(row["relation"]),
            figure(row["triples"]),
            f"{row['tails_per_head']:.2f}",
            f"{row['heads_per_tail']:.2f}",
            row["kind"],
        )
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=printable(title) if title else None, title_justify="left", header_style="bold"
    )
    table.add_column("", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table
