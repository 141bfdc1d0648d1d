"""(e) Peak memory against what is estimated before a task begins: `python -m benchmarks.memory`.

Peaks are from Linux's own books. ``getrusage`` will not do: a child process inherits its parent's
peak.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import torch

from benchmarks.shapes import SIZES, random_graph
from ingram.answers import KnownAnswers
from ingram.evaluation.ranking import rank, ranking_bytes
from ingram.graph import Dataset
from ingram.memory import OVERHEAD
from ingram.models.config import ModelConfig
from ingram.models.ingram import InGram, embedding_bytes
from ingram.models.ingram_q import InGramQ, scorer_bytes
from ingram.training import preset_config, train
from ingram.training.checkpoints import RunDirectory
from ingram.training.needs import training_need

LARGEST: dict[str, Any] = {
    "tasks.entities": (5_000, 5_000),
    "tasks.relations": (1, 1),
    "tasks.density": (1, 1),
}
"""An estimate is of the largest task that may be drawn."""
TASKS: dict[str, dict[str, Any]] = {
    "train paper": {},
    "train default": LARGEST,
    "train ingram-q": LARGEST,
    "train ingram-q, whole graph": {"tasks.cut": False},
    "embed paper, 1 draw": {},
    "embed paper, 8 draws": {},
    "embed default, 8 draws": {},
    "rank ingram-q": {},
}
SHAPES = {**SIZES, "50,000 entities": (50_000, 500, 500_000)}


def reset_peak() -> int:
    """Forget the peak so far; returns the bytes in use now, the baseline."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> int:
    """The largest number of bytes in use since :func:`reset_peak`."""
    return _status("VmHWM")


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {name}")


def compare(task: str, shape: str) -> dict[str, Any]:
    """Estimate and measured peak of a task in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", task, shape],
        check=True,
        capture_output=True,
        text=True,
    )
    estimate, measured = json.loads(done.stdout)
    return {
        "task": task,
        "graph": shape,
        "estimate MB": estimate / 1e6,
        "measured MB": measured / 1e6,
        "estimate / measured": estimate / measured,
    }


def measure(task: str, shape: str) -> tuple[int, int]:
    """Both, in this process: bytes estimated, and bytes above what was in use before."""
    graph = random_graph(*SHAPES[shape], seed=0)
    held_out = graph.triples[-100:]
    facts = graph.with_triples(graph.triples[:-100])
    dataset = Dataset(shape, graph, facts, held_out[:50], held_out[50:])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or what the graph's making left would be used again
    before = reset_peak()
    need = run(task, dataset)
    return need + OVERHEAD, peak() - before


def run(task: str, dataset: Dataset) -> int:
    """Do it; returns the bytes that it was thought to need."""
    verb, _, rest = task.partition(" ")
    graph = dataset.inference
    if verb == "train":
        settings = {"training.epochs": 2, "training.validate_every": 2, **TASKS[task]}
        config = preset_config(rest.split(",")[0], settings)
        with tempfile.TemporaryDirectory() as folder:
            train(dataset, config, RunDirectory(Path(folder) / "run"))
        return training_need(config, [dataset.train], [dataset])[0]
    if verb == "embed":
        preset, _, draws = rest.removesuffix("s").removesuffix(" draw").partition(", ")
        model = InGram(cast("ModelConfig", preset_config(preset, {}).model), seed=0)
        model.embed(graph, draws=int(draws))
        return embedding_bytes(model.config, graph, int(draws))
    ranker = InGramQ(preset_config("ingram-q", {}).model, seed=0)
    rank(ranker.scorer(graph), dataset.valid, KnownAnswers.of(dataset), graph.num_entities)
    return scorer_bytes(ranker.config, graph) + ranking_bytes(graph.num_triples)


def main() -> None:
    """Every task on every shape; training on the largest takes too long to be worth it."""
    for shape in SHAPES:
        for task in TASKS:
            if not (task.startswith("train") and shape not in SIZES):
                row = compare(task, shape)
                cells = (f"{v:10,.2f}" if isinstance(v, float) else f"{v:28}" for v in row.values())
                print("".join(cells), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        print(json.dumps(measure(*sys.argv[1:])))
    else:
        main()
