"""Do explanations name what a prediction rests on? Take the strongest path away and see.

    python -m benchmarks.explanations zero-shot world

Of a dataset's test triples, the facts of the strongest path are removed from the graph, and in
another graph those of a random path of equal length between the same entities. The explanation is
right where the first lowers the score more. Strongest is what the model misses most when the
messages along it are taken away, so the two falls are kin: what is tested is that the search finds
such paths, and that the fall stays when degrees and the relation graph change too. RUN holds
``ingram-q``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ingram.datasets import open_dataset
from ingram.errors import ConfigError
from ingram.graph import KnowledgeGraph
from ingram.inference.explaining import strongest_paths
from ingram.kernels.adjacency import Adjacency
from ingram.models import InGramQ, load_model
from ingram.models.shipped import run_path

Triple = tuple[int, int, int]
TRIES = 200
"""Walks that are tried for a random path without an entity visited twice."""


def main(
    run: Annotated[Path, typer.Argument(help="A run of ingram-q, or shipped weights.")],
    data: Annotated[Path, typer.Argument(help="A dataset whose triples are explained.")],
    split: Annotated[str, typer.Option(help="test, or valid to make choices on.")] = "test",
    queries: Annotated[int, typer.Option(help="Predictions to explain.")] = 200,
    seed: Annotated[int, typer.Option(help="Of the choice of queries and random paths.")] = 0,
) -> None:
    model = load_model(run_path(run))
    if not isinstance(model, InGramQ):
        raise ConfigError(f"{run}: want a run of ingram-q, got one of {model.name}")
    dataset = open_dataset(data)
    graph, rng = dataset.inference, np.random.default_rng(seed)
    drops: list[tuple[float, float]] = []
    if split not in ("test", "valid"):
        raise ConfigError(f"no split {split!r}; known are test, valid")
    for triple in rng.permutation(dataset.split(split)).tolist():
        drops += _drops(model, graph, tuple(triple), rng)
        if len(drops) == queries:
            break
    strongest, others = np.array(drops).T
    print(
        json.dumps(
            {
                "queries": len(drops),
                "strongest path lowers the score more": float((strongest > others).mean()),
                "mean fall without the strongest path": float(strongest.mean()),
                "mean fall without a random path": float(others.mean()),
            },
            indent=1,
        )
    )


def _drops(
    model: InGramQ, graph: KnowledgeGraph, triple: Triple, rng: np.random.Generator
) -> Iterator[tuple[float, float]]:
    """Nothing where no path carries the prediction, or none of that length is left to compare."""
    head, relation, tail = triple
    edges = model.query_graph(graph)
    scores, best = strongest_paths(model, edges, head, relation, tail, 1)
    if not best:
        return
    other = random_path(edges.entities, head, tail, len(best[0].edges), {best[0].edges}, rng)
    if other is None:
        return
    falls = []
    for path in (best[0].edges, other):
        left = without(graph, edges.entities, path)
        score = model.scorer(left).score(np.array([triple]))
        falls.append(float(scores[tail] - score[0]))
    yield falls[0], falls[1]


def without(graph: KnowledgeGraph, edges: Adjacency, path: tuple[int, ...]) -> KnowledgeGraph:
    """The graph less the facts that a path goes along."""
    m = graph.num_relations
    facts = graph.triples
    keep = np.ones(len(facts), bool)
    nodes = np.repeat(np.arange(edges.num_nodes), np.diff(edges.pointers.numpy()))
    for edge in path:
        source, kind, target = int(edges.sources[edge]), int(edges.kinds[edge]), int(nodes[edge])
        fact = (source, kind, target) if kind < m else (target, kind - m, source)
        keep &= ~(facts == fact).all(axis=1)
    return graph.with_triples(facts[keep])


def random_path(
    edges: Adjacency,
    first: int,
    last: int,
    length: int,
    taken: set[tuple[int, ...]],
    rng: np.random.Generator,
) -> tuple[int, ...] | None:
    """Any path of that length but those taken, each as likely as another."""
    walks = [np.zeros(edges.num_nodes)]
    walks[0][first] = 1
    pointers, sources = edges.pointers.numpy(), edges.sources.numpy()
    nodes = np.repeat(np.arange(edges.num_nodes), np.diff(pointers))
    for _ in range(length):
        steps = np.bincount(nodes, walks[-1][sources], minlength=edges.num_nodes)
        walks.append(steps.astype(np.float64))
    for _ in range(TRIES if walks[length][last] else 0):
        at, visited, path = last, [last], []
        for left in range(length - 1, -1, -1):
            into = np.arange(pointers[at], pointers[at + 1])
            chances = walks[left][sources[into]]
            edge = int(rng.choice(into, p=chances / chances.sum()))
            at = int(sources[edge])
            visited.append(at)
            path.append(edge)
        found = tuple(path[::-1])
        if len(set(visited)) == len(visited) and found not in taken:
            return found
    return None


if __name__ == "__main__":
    typer.run(main)
