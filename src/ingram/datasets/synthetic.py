"""Synthetic graphs with planted rules and noise, whose best possible MRR is known.

A graph consists of groups of relations with one rule each (see ``synthetic_plan``). Premises are
random, and the graph is closed: whatever follows from them is stated. Noise is uniform: distinct
pairs of entities that do not follow, in the relation of a group's conclusions, which is no rule's
premise. There are no loops. What is held out of an inference graph, and why the best MRR is known,
is told in ``synthetic_optimum``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ingram.datasets.synthetic_draw import GroupTriples, draw_group
from ingram.datasets.synthetic_optimum import SPLITS, HeldOut, Optimum, Tally, hold_out
from ingram.datasets.synthetic_plan import Group, SyntheticConfig, plan
from ingram.datasets.writing import describe_folder
from ingram.errors import DatasetError
from ingram.graph import Dataset, Ids, KnowledgeGraph
from ingram.io.atomic import creating_folder, replacing
from ingram.io.tsv import write_tsv
from ingram.labels import Vocabulary

TRAIN, INFERENCE = 0, 1


def _nothing() -> None:
    """To be called on progress that nobody watches."""


@dataclass(frozen=True)
class SyntheticReport:
    """The settings, the rules of either graph as text, and the best possible MRR on each split."""

    config: SyntheticConfig
    seed: int
    rules: dict[str, list[str]]
    optimum: dict[str, Optimum]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain = asdict(self)
        plain["config"]["entities"] = self.config.num_entities
        return plain


@dataclass(frozen=True, eq=False)
class Synthetic:
    """An inductive dataset and what is known about it."""

    dataset: Dataset
    report: SyntheticReport


def synthesize(config: SyntheticConfig, *, seed: int = 0, name: str = "synthetic") -> Synthetic:
    """A training graph, and an inference graph of other entities under the same rules."""
    held, tally = [], Tally()
    for group, part in inference_groups(config, seed):
        held.append(part)
        tally.add(group, part, config.num_entities)
    valid, test = (np.concatenate([part.triples(split) for part in held]) for split in SPLITS)
    facts = np.concatenate([part.facts for part in held])
    dataset = Dataset(
        name,
        synthesize_graph(config, seed=seed),
        _names(config, INFERENCE).with_triples(facts),
        valid,
        test,
    )
    return Synthetic(dataset, SyntheticReport(config, seed, rules_of(config), tally.optimum()))


def synthesize_graph(config: SyntheticConfig, *, seed: int = 0) -> KnowledgeGraph:
    """One graph, nothing held out: the training graph of :func:`synthesize`."""
    triples = np.concatenate([group.all for group in graph_groups(config, seed, TRAIN)])
    return _names(config, TRAIN).with_triples(triples)


def graph_groups(config: SyntheticConfig, seed: int, graph: int) -> Iterator[GroupTriples]:
    """The triples of one graph, a group at a time, so that one group at a time is in memory."""
    cover = np.random.default_rng([seed, graph]).permutation(config.num_entities)
    for index, group in enumerate(plan(config)):
        yield draw_group(group, cover, np.random.default_rng([seed, graph, index]))


def inference_groups(config: SyntheticConfig, seed: int) -> Iterator[tuple[GroupTriples, HeldOut]]:
    """The inference graph a group at a time, whole and split."""
    for index, group in enumerate(graph_groups(config, seed, INFERENCE)):
        rng = np.random.default_rng([seed, INFERENCE, index, 1])
        yield group, hold_out(group, config.held_out, rng)


def rules_of(config: SyntheticConfig) -> dict[str, list[str]]:
    """The rules of the training and the inference graph as text."""
    return {
        name: [group.rule(new=new) for group, new in _renamed(config, graph)]
        for name, graph in (("train", TRAIN), ("inference", INFERENCE))
    }


def _renamed(config: SyntheticConfig, graph: int) -> list[tuple[Group, bool]]:
    """Groups, and whether their relations have new names."""
    groups = plan(config)
    kept = len(groups) - round(config.new_relations * len(groups))
    return [(group, graph == INFERENCE and i >= kept) for i, group in enumerate(groups)]


def _names(config: SyntheticConfig, graph: int) -> KnowledgeGraph:
    """A graph without triples: entities a0, a1, … or b0, b1, …, and the relations' labels."""
    entities = pl.select(pl.format("ab"[graph] + "{}", pl.int_range(config.num_entities)))
    relations = [label for group, new in _renamed(config, graph) for label in group.labels(new=new)]
    return KnowledgeGraph(
        np.empty((0, 3), np.int64),
        Vocabulary(entities.to_series().rename("label"), "entity"),
        Vocabulary(pl.Series("label", relations, dtype=pl.String), "relation"),
    )


def write_synthetic_graph(
    config: SyntheticConfig, path: Path, *, seed: int = 0, on_group: Callable[[], None] = _nothing
) -> int:
    """One graph as tab-separated lines, a group at a time; how many triples it has.

    ``on_group`` is called as each has been written.
    """
    names, count = _names(config, TRAIN), 0
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            for group in graph_groups(config, seed, TRAIN):
                write_tsv(names.decode(group.all), file)
                count += len(group.all)
                on_group()
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written: {error.strerror or error}") from error
    return count


def write_synthetic_folder(
    config: SyntheticConfig, folder: Path, *, seed: int = 0, on_group: Callable[[], None] = _nothing
) -> SyntheticReport:
    """The dataset of :func:`synthesize` as a folder, a group at a time, first the training graph's.

    ``on_group`` is called as each has been written.
    """
    train, inference, tally = _names(config, TRAIN), _names(config, INFERENCE), Tally()
    with creating_folder(folder) as unfinished:
        with (unfinished / "train.txt").open("wb") as file:
            for group in graph_groups(config, seed, TRAIN):
                write_tsv(train.decode(group.all), file)
                on_group()
        for group, held in inference_groups(config, seed):
            parts: dict[str, Ids] = {"msg": held.facts}
            parts |= {split: held.triples(split) for split in SPLITS}
            for name, triples in parts.items():
                with (unfinished / f"{name}.txt").open("ab") as file:
                    write_tsv(inference.decode(triples), file)
            tally.add(group, held, config.num_entities)
            on_group()
        report = SyntheticReport(config, seed, rules_of(config), tally.optimum())
        recipe = {"made_by": "ingram data synthesize", **report.as_dict()}
        describe_folder(unfinished, folder.resolve().name, _about(report), recipe)
    return report


def _about(report: SyntheticReport) -> str:
    rules = "\n".join(f"- `{rule}`" for rule in report.rules["inference"])
    best = report.optimum["test"]
    return (
        f"A synthetic dataset, made with seed {report.seed}. No predictor can expect a higher MRR "
        f"on test than {best.mrr:.4f}: {best.noise:,} of the {best.triples:,} test triples are "
        f"noise, the others follow from the facts.\n\nRules of the inference graph, which are "
        f"those of the training graph under other names:\n\n{rules}"
    )
