"""Run the benchmarks, print tables, write JSON. Nothing else should be running."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from benchmarks import epoch, scaling
from benchmarks.shapes import SIZES

console = Console(width=140)


def main(
    data: Annotated[
        Path | None, typer.Option(help="Folder with NL-100, FB-100, WK-100: use the real graphs.")
    ] = None,
    largest: Annotated[int, typer.Option(help="Triples of the largest scaling graph.")] = 10**7,
    rounds: Annotated[int, typer.Option(help="Interleaved rounds of the comparison.")] = 7,
    threads: Annotated[int, typer.Option(help="Threads of both sides.")] = 2,
    output: Annotated[Path, typer.Option(help="JSON file to write.")] = Path(
        "benchmarks/results/bench.json"
    ),
) -> None:
    torch.set_num_threads(threads)
    result: dict[str, Any] = {"threads": threads, "real graphs": data is not None}
    result["GFLOP/s"] = epoch.gflops()
    console.print(f"matrix products: {result['GFLOP/s']:.0f} GFLOP/s on {threads} threads\n")
    result["epoch"] = [epoch.compare(name, data, rounds) for name in SIZES]
    show("(a) an epoch, against the per-edge reference", result["epoch"])
    result["shares"] = [epoch.shares(name, data, 20) for name in SIZES]
    show("(b) where the time of an epoch goes", result["shares"])
    sizes = [10**k for k in range(4, 8) if 10**k <= largest]
    result["scaling"] = scaling.grow(sizes)
    show("(c) growth, 500 relations, 10 triples an entity; seconds", result["scaling"])
    result["exponents"] = scaling.exponents(result["scaling"])
    show("growth exponents from 10^5 on", [result["exponents"]])
    result["queries"] = [scaling.queries_per_second(n, 2_048) for n in (10**4, 10**5, 10**6)]
    show("(d) top-10 queries a second, width 32", result["queries"])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written to {output}")


def show(title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "graph" else "right")
    for row in rows:
        table.add_row(*(cell(name, value) for name, value in row.items()))
    console.print(table, "")


def cell(name: str, value: Any) -> str:
    if name in ("faster", "smaller"):
        return f"{value:.1f}x"
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


typer.run(main)
