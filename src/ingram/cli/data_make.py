"""``ingram data generate | split | synthesize``, and the figures of ``info``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ingram.cli.data_tables import (
    print_generated,
    print_statistics,
    print_synthetic,
    progress_bar,
)
from ingram.cli.options import Graph, Json
from ingram.cli.reading import reads_a_graph
from ingram.cli.screen import console, note, print_json, printable
from ingram.datasets import open_dataset
from ingram.datasets.generator import generate
from ingram.datasets.presets import PRESETS, GeneratorConfig, preset
from ingram.datasets.sizes import COUNTS, PARTS, SizeRange, Sizes
from ingram.datasets.statistics import Statistics, dataset_statistics, graph_statistics
from ingram.datasets.statistics_page import statistics_page
from ingram.datasets.synthetic import write_synthetic_folder, write_synthetic_graph
from ingram.datasets.synthetic_plan import KINDS, SyntheticConfig, plan
from ingram.datasets.writing import write_dataset
from ingram.errors import ConfigError, DatasetError
from ingram.graph import Dataset
from ingram.io import read_graph
from ingram.io.atomic import want_new_folder, write_text
from ingram.io.formats import STDIN, name_of
from ingram.io.options import ReadOptions
from ingram.splits import three_way_split

NewFolder = Annotated[
    Path, typer.Option("-o", "--output", help="The folder to write; new or empty.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of everything random.")]
SINGLE_FILES = (".tsv", ".txt")
OTHER_FILES = (".bz2", ".csv", ".gz", ".jsonl", ".nt", ".parquet", ".ttl", ".zst")


@reads_a_graph
def generate_command(
    graph: Graph,
    reading: ReadOptions,
    output: NewFolder,
    n_train: Annotated[
        int | None, typer.Option(help="Entities sampled for training; neighbours come along.")
    ] = None,
    n_inference: Annotated[
        int | None, typer.Option(help="Entities sampled for the inference graph.")
    ] = None,
    p_rel: Annotated[
        float | None, typer.Option(help="Share of the relations set apart as new.")
    ] = None,
    p_tri: Annotated[
        float | None, typer.Option(help="Share of inference triples that have new relations.")
    ] = None,
    seed: Seed = 0,
    preset_name: Annotated[
        str | None, typer.Option("--preset", help=f"The paper's: {', '.join(PRESETS)}.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Try up to so many seeds until the sizes suit.", metavar="K")
    ] = 1,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--size",
            help=f"A size that suits, of {' or '.join(PARTS)}: {', '.join(COUNTS)}.",
            metavar="train.triples=5000..20000",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Cut an inductive dataset out of a graph (Algorithm 2 of the paper).

    Writes train.txt, msg.txt, valid.txt and test.txt. With --seeds, the first seed whose sizes lie
    in every --size range is taken; with a preset, nothing of it changed and no --size, sizes suit
    that lie within a factor of two of the published ones.
    """
    asked = {"n_train": n_train, "n_inference": n_inference, "p_rel": p_rel, "p_tri": p_tri}
    given = {name: value for name, value in asked.items() if value is not None}
    config = _generator_config(preset_name, given)
    wanted = tuple(SizeRange.parse(text) for text in sizes or [])
    if preset_name and seeds > 1 and not given and not sizes:
        wanted = preset(preset_name).ranges()
    want_new_folder(output)
    whole = read_graph(graph, reading)
    with progress_bar("seeds tried", seeds, quiet=as_json or seeds == 1) as step:
        made = generate(
            whole,
            config,
            seed=seed,
            seeds=seeds,
            wanted=wanted,
            name=output.resolve().name,
            on_seed=step,
        )
    recipe = {"made_by": "ingram data generate", "graph": name_of(graph), **made.report.as_dict()}
    write_dataset(made.dataset, output, about=made.report.about(name_of(graph)), recipe=recipe)
    if as_json:
        print_json({"folder": str(output), **recipe})
        return
    print_generated(made.report)
    _say_written(output)


def _generator_config(name: str | None, given: dict[str, Any]) -> GeneratorConfig:
    if name:
        return replace(preset(name).config, **given)
    missing = [n for n in ("n_train", "n_inference", "p_rel", "p_tri") if n not in given]
    if missing:
        options = ", ".join("--" + n.replace("_", "-") for n in missing)
        raise ConfigError(f"want {options}, or --preset with one of {', '.join(PRESETS)}")
    return GeneratorConfig(**given)


@reads_a_graph
def split_command(
    graph: Graph,
    reading: ReadOptions,
    output: NewFolder,
    seed: Seed = 0,
    facts: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Share of the triples kept as facts.")
    ] = 0.6,
    as_json: Json = False,
) -> None:
    """Split one graph into facts, validation and test (3:1:1), all on the same entities.

    Writes train.txt, valid.txt and test.txt; every entity and relation is among the facts. This
    is not an inductive dataset: `ingram data generate` cuts one.
    """
    want_new_folder(output)
    whole = read_graph(graph, reading)
    kept, valid, test = three_way_split(whole, seed, facts)
    dataset = Dataset(output.resolve().name, kept, kept, valid, test, inductive=False)
    sizes = Sizes.of(whole.triples)
    recipe = {
        "made_by": "ingram data split",
        "graph": name_of(graph),
        "seed": seed,
        "asked_share": facts,
        "entities": sizes.entities,
        "relations": sizes.relations,
        "facts": kept.num_triples,
        "valid": len(valid),
        "test": len(test),
    }
    about = (
        f"The triples of {name_of(graph)}, split at random with seed {seed} so that the facts "
        "reach every entity and relation. **Not inductive**: validation and test lie on the graph "
        "that is trained on, so results say nothing about new entities or relations."
    )
    write_dataset(dataset, output, about=about, recipe=recipe)
    if as_json:
        print_json({"folder": str(output), **recipe})
        return
    console.print(
        f"{kept.num_triples:,} facts, {len(valid):,} validation and {len(test):,} test triples on "
        f"the same {sizes.entities:,} entities and {sizes.relations:,} relations",
        highlight=False,
    )
    note("this is not an inductive dataset; `ingram data generate` cuts one out of a large graph")
    _say_written(output)


def synthesize_command(
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="A new folder, or a .tsv or .txt file for one graph."),
    ],
    triples: Annotated[int, typer.Option(help="Of a graph; a folder holds two.")] = 10_000,
    entities: Annotated[
        int | None, typer.Option(help="Of a graph; a tenth of the triples by default.")
    ] = None,
    relations: Annotated[int, typer.Option(help="Of a graph.")] = 12,
    rules: Annotated[str, typer.Option(help="Kinds of rules, separated by commas.")] = ",".join(
        KINDS
    ),
    noise: Annotated[float, typer.Option(help="Share of the triples that are random.")] = 0.1,
    held_out: Annotated[
        float | None,
        typer.Option(
            help="Share of what follows, and of noise, that is to be predicted; "
            f"{SyntheticConfig.held_out:g}."
        ),
    ] = None,
    new_relations: Annotated[
        float | None,
        typer.Option(
            help="Share of the rules under new names in the inference graph; "
            f"{SyntheticConfig.new_relations:g}."
        ),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make a graph with planted rules and noise, whose best possible MRR is known.

    A folder becomes an inductive dataset: a training graph, and an inference graph with other
    entities that obeys the same rules under other names. A file becomes one graph.
    """
    asked = {"held_out": held_out, "new_relations": new_relations}
    given = {name: value for name, value in asked.items() if value is not None}
    config = SyntheticConfig(
        triples=triples,
        entities=entities,
        relations=relations,
        rules=tuple(rule.strip() for rule in rules.split(",") if rule.strip()),
        noise=noise,
        **given,
    )
    if output.suffix in OTHER_FILES:
        raise ConfigError(f"{output}: want a folder, or a file that ends in .tsv or .txt")
    if output.suffix in SINGLE_FILES:
        if given:
            option = "--" + next(iter(given)).replace("_", "-")
            raise ConfigError(f"{option} is of the inference graph; want a folder, got {output}")
        with progress_bar("writing", len(plan(config)), quiet=as_json) as step:
            count = write_synthetic_graph(config, output, seed=seed, on_group=step)
        if as_json:
            print_json({"file": str(output), "triples": count})
            return
        console.print(printable(f"{count:,} triples in {output}"), soft_wrap=True)
        return
    with progress_bar("writing", 2 * len(plan(config)), quiet=as_json) as step:
        report = write_synthetic_folder(config, output, seed=seed, on_group=step)
    if as_json:
        print_json({"folder": str(output), **report.as_dict()})
        return
    print_synthetic(report)
    _say_written(output)


Html = Annotated[
    Path | None, typer.Option(help="Write a page with figures to this file.", metavar="FILE")
]


def info(
    data: str,
    reading: ReadOptions,
    html: Path | None,
    as_json: bool,
    card: dict[str, Any] | None = None,
) -> None:
    """Print, and with ``html`` draw, the statistics of a dataset or of a file of triples."""
    path = Path(data)
    if data == STDIN or (path.exists() and not path.is_dir()):
        title = name_of(data)
        statistics: Statistics = graph_statistics(read_graph(data, reading))
    else:
        title = path.resolve().name if path.exists() else data
        statistics = dataset_statistics(open_dataset(data, options=reading))
    if html:
        try:
            write_text(html, statistics_page(title, statistics))
        except OSError as error:
            raise DatasetError(f"{html}: cannot be written: {error.strerror or error}") from error
    if as_json:
        print_json({"name": title, **(card or {}), **statistics.as_dict()})
        return
    print_statistics(title, statistics)
    if html:
        note(f"page: {html}")


def _say_written(folder: Path) -> None:
    note(f"wrote {folder}; train on it with: ingram train {folder} -o RUN")
