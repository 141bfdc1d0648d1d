"""Which runs each of the paper's tables and figures is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingram.experiments.methods import ABLATIONS, JOINT, Cell, Method, floors


@dataclass(frozen=True)
class Experiment:
    """A table or figure. datasets: the paper's; variants: run beside the whole model; floors:
    whether rows that cost nothing stand beside it; parts: known and new relations apart; cross:
    each dataset by models of all the others.
    """

    title: str
    text: str
    datasets: tuple[str, ...]
    variants: tuple[str, ...] = ()
    floors: bool = False
    parts: bool = False
    cross: bool = False


FAMILIES = {family: [f"{family}-{p}" for p in (100, 75, 50, 25)] for family in ("NL", "WK", "FB")}
MAIN = tuple(name for names in FAMILIES.values() for name in names)
ALL_NEW = ("NL-100", "WK-100", "FB-100")
EXPERIMENTS = {
    "main": Experiment(
        "Table 1: new entities, and relations new to a part of the triples",
        "Test split, filtered ranking over all entities of the inference graph, head and tail.",
        MAIN,
        floors=True,
    ),
    "known-new": Experiment(
        "Table 2: known and new relations apart",
        "The test queries of each, by whether the training graph has their relation.",
        ("NL-50",),
        floors=True,
        parts=True,
    ),
    "known-relations": Experiment(
        "Table 3: new entities, known relations",
        "No relation of the inference graph is new.",
        ("NL-0", "NELL-995-v1"),
        floors=True,
    ),
    "ablation": Experiment(
        "Table 4: one part of the model changed",
        "The whole model, and six times the same with one part replaced or left out.",
        ALL_NEW,
        ABLATIONS,
    ),
    "bins": Experiment(
        "Figure 4 and the number of bins",
        "What the model learned to add to its attention for each affinity bin (bin 1 holds the "
        "strongest affinities), and how good it is with B = 1, 5 and 10 of them.",
        ALL_NEW,
        ("bins-5", "bins-1"),
    ),
    "cross": Experiment(
        "Across families: each dataset by a model trained on the others",
        "One model learns on the training graphs of all the other datasets together and is chosen "
        "by their validation; nothing of the tested dataset is used before the test.",
        ("NL-100", "FB-100", "WK-75"),
        floors=True,
        cross=True,
    ),
}
"""By the name they are asked for; ``sizes`` (tables 5 and 6) needs no run."""
OF_THE_PAPER = ("main", "known-new", "known-relations", "ablation", "bins", "sizes")


def rows_of(
    experiment: Experiment, datasets: Sequence[str], chosen: Sequence[Method]
) -> dict[str, list[Method]]:
    """For each dataset what stands in its table: the chosen, their variants, the floors."""
    rows: dict[str, list[Method]] = {}
    for dataset in datasets:
        others = [name for name in datasets if name != dataset]
        methods: list[Method] = []
        for method in chosen:
            if not experiment.cross:
                methods += method.with_variants(experiment.variants)
            elif method.trained and others:
                methods.append(method.on(others))
            else:
                methods.append(method)
        rows[dataset] = methods + (floors() if experiment.floors else [])
    return rows


def cells_of(rows: dict[str, list[Method]], seeds: Sequence[int]) -> list[Cell]:
    """All runs: what needs no training first, then seed by seed, so that a sweep that is stopped
    has something of everything.
    """
    free = [Cell(d, m, 0) for d, methods in rows.items() for m in methods if not m.trained]
    return free + [
        Cell(dataset, method, seed)
        for seed in seeds
        for dataset, methods in rows.items()
        for method in methods
        if method.trained
    ]


def spelled(name: str) -> str:
    """A method's name with room around what joins its parts."""
    return name.replace(JOINT, " + ")
