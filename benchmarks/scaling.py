"""(c) Growth with the size of the graph, and (d) queries answered from embeddings."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks import memory
from benchmarks.shapes import random_graph
from ingram.answers import KnownAnswers
from ingram.answers.asking import ASKED, Ask, answer
from ingram.embeddings import Embeddings
from ingram.evaluation.ranking import rank
from ingram.graph import Ids
from ingram.models.ingram import InGram
from ingram.relation_graph import build_relation_graph

RELATIONS, DEGREE, QUERIES = 500, 10, 1_000
STAGES = ("relation graph", "embedding", "ranking")


def measure(triples: int) -> dict[str, Any]:
    """Seconds of each stage and the peak memory above the baseline, in this process."""
    warm_up()
    baseline = memory.reset_peak()
    graph = random_graph(max(2, triples // DEGREE), RELATIONS, triples, seed=0)
    result: dict[str, Any] = {"triples": triples, "graph GB": (memory.peak() - baseline) / 1e9}
    _timed(result, STAGES[0], lambda: build_relation_graph(graph, 10))
    model = InGram(seed=0)
    embeddings = _timed(result, STAGES[1], lambda: model.embed(graph, seed=0))
    queries = np.random.default_rng(1).choice(graph.triples, QUERIES // 2)
    known = KnownAnswers(graph.triples, graph.num_relations)
    _timed(result, STAGES[2], lambda: rank(embeddings, queries, known, graph.num_entities))
    result["peak GB"] = (memory.peak() - baseline) / 1e9
    result["total GB"] = memory.peak() / 1e9
    return result


def warm_up() -> None:
    """Compile or load every loop on a small graph, so that no stage pays for it."""
    graph = random_graph(50, 5, 200, seed=0)
    embeddings = InGram(seed=0).embed(graph, seed=0)
    known = KnownAnswers(graph.triples, graph.num_relations)
    rank(embeddings, graph.triples[:10], known, graph.num_entities)


def grow(sizes: list[int]) -> list[dict[str, Any]]:
    """One process a size, so that peaks do not mix."""
    results = []
    for triples in sizes:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.scaling",
                str(triples),
                str(torch.get_num_threads()),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        results.append(json.loads(done.stdout))
    return results


def exponents(results: list[dict[str, Any]], smallest: int = 10**5) -> dict[str, float]:
    """The slope of log(time) and log(memory) over log(triples), by least squares."""
    used = [r for r in results if r["triples"] >= smallest]
    if len(used) < 2:
        return {}
    x = [math.log(r["triples"]) for r in used]
    return {
        stage: float(np.polyfit(x, [math.log(r[stage]) for r in used], 1)[0])
        for stage in (*STAGES, "peak GB")
    }


def queries_per_second(entities: int, batch: int, width: int = 32) -> dict[str, Any]:
    """Top-10 answers with labels and known ones marked: one question at a time, and together."""
    graph = random_graph(entities, RELATIONS, 5 * entities, seed=0)
    generator = torch.Generator().manual_seed(0)
    embeddings = Embeddings(
        torch.randn(entities, width, generator=generator),
        torch.randn(RELATIONS, width, generator=generator),
        graph,
    )
    rng = np.random.default_rng(0)
    asked = np.full(batch, ASKED)
    questions = np.stack(
        [rng.integers(entities, size=batch), rng.integers(RELATIONS, size=batch), asked], axis=1
    )

    def per_second(some: Ids, together: int) -> float:
        list(answer(embeddings, some[:1], Ask(10)))
        started = time.perf_counter()
        for start in range(0, len(some), together):
            list(answer(embeddings, some[start : start + together], Ask(10)))
        return len(some) / (time.perf_counter() - started)

    return {
        "entities": entities,
        "one at a time /s": per_second(questions[: batch // 8], 1),
        "together /s": per_second(questions, batch),
    }


def _timed(result: dict[str, Any], name: str, work: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    value = work()
    result[name] = time.perf_counter() - started
    return value


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    print(json.dumps(measure(int(sys.argv[1]))))
