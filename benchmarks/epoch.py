"""(a) An epoch against the per-edge reference, (b) where the time of an epoch goes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks import memory
from benchmarks.reference import ReferenceInGram
from benchmarks.shapes import training_graph
from ingram.graph import KnowledgeGraph
from ingram.kernels import parallel
from ingram.kernels.triple_scores import triple_scores
from ingram.models.config import ModelConfig
from ingram.models.ingram import InGram
from ingram.training.embedding_epochs import EmbeddingEpochs
from ingram.training.objectives import margin_loss
from ingram.training.optimizer import ClippedAdamW
from ingram.training.presets import PAPER

MODELS = {"ours": InGram, "reference": ReferenceInGram}
PRODUCTS = {
    f"aten::{name}" for name in ("mm", "addmm", "addmm_", "bmm", "baddbmm", "mv", "addmv", "addmv_")
}
LOOPS = "compiled loops"


class Trainer:
    """One model's epochs: prepare, forward, loss, backward, clip, step."""

    def __init__(self, model: InGram, graph: KnowledgeGraph, backend: str) -> None:
        self.config = PAPER
        self.model, self.backend = model, backend
        self.epochs = EmbeddingEpochs(graph, self.config)
        kind = ClippedAdamW if backend == "fused" else torch.optim.AdamW
        self.optimizer = kind(model.parameters(), lr=5e-4, weight_decay=0.0)
        self.number = 0

    def run_epoch(self) -> float:
        self.number += 1
        training = self.config.training
        epoch = self.epochs.prepare(self.number)
        entities, relations = self.model(epoch.graph, epoch.features)
        assert epoch.triples is not None
        scores = triple_scores(entities[0], relations[0], epoch.triples, backend=self.backend)
        positive, negative = scores[: epoch.positives], scores[epoch.positives :]
        loss = margin_loss(positive, negative.view(-1, training.negatives), training.margin)
        self.optimizer.zero_grad()
        loss.backward()
        if isinstance(self.optimizer, ClippedAdamW):
            self.optimizer.clipped_step(training.clip_norm)
        else:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), training.clip_norm)
            self.optimizer.step()
        return loss.item()


def trainers(graph: KnowledgeGraph) -> dict[str, Trainer]:
    """Ours and the reference, with equal parameters."""
    return {
        name: Trainer(kind(PAPER.model, seed=0), graph, "fused" if name == "ours" else "plain")
        for name, kind in MODELS.items()
    }


def compare(name: str, folder: Path | None, rounds: int) -> dict[str, Any]:
    """Epoch times of both, interleaved, and the peak memory of each in a process of its own."""
    both = trainers(training_graph(name, folder))
    losses = {key: trainer.run_epoch() for key, trainer in both.items()}
    both["ours"].run_epoch()
    times = defaultdict(list)
    for _ in range(rounds):
        for key, trainer in both.items():
            for _ in range(1 if key == "reference" else 3):
                started = time.perf_counter()
                trainer.run_epoch()
                times[key].append(time.perf_counter() - started)
    peaks = {key: peak_of(key, name, folder) for key in MODELS}
    ours, reference = (1e3 * median(times[key]) for key in ("ours", "reference"))
    return {
        "graph": name,
        "first loss, ours": losses["ours"],
        "first loss, reference": losses["reference"],
        "ours ms": ours,
        "reference ms": reference,
        "faster": reference / ours,
        "ours MB": peaks["ours"] / 1e6,
        "reference MB": peaks["reference"] / 1e6,
        "smaller": peaks["reference"] / peaks["ours"],
    }


def peak_of(model: str, name: str, folder: Path | None) -> int:
    """Peak bytes above the post-import baseline of three epochs in a fresh process."""
    arguments = [sys.executable, "-m", "benchmarks.epoch", model, name, str(folder or "")]
    done = subprocess.run(
        [*arguments, str(torch.get_num_threads())], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


def _measure_peak(model: str, name: str, folder: str, threads: str) -> None:
    torch.set_num_threads(int(threads))
    graph = training_graph(name, Path(folder) if folder else None)
    baseline = memory.reset_peak()
    trainer = trainers(graph)[model]
    for _ in range(3):
        trainer.run_epoch()
    print(memory.peak() - baseline)


def shares(name: str, folder: Path | None, rounds: int) -> dict[str, Any]:
    """Milliseconds an epoch in matrix products, compiled loops and everything else.

    Products and loops are timed by the profiler, whole epochs without it, in turn: its own work is
    nobody's share. Of the rounds the median counts, as in :func:`compare`. ``plain mm`` is the time
    of torch.mm, bmm or mv alone for the same products, one after the other as in the epoch, each
    on matrices of its own; ``warm`` the same with each done twenty times in a row, when its
    matrices lie in the cache as they never do in an epoch. ``as written`` is the time, warm too, of
    the products which the paper's layers ask for, of which ours does only a part: see
    :func:`written_products`.
    """
    graph = training_graph(name, folder)
    trainer = trainers(graph)["ours"]
    for _ in range(5):
        trainer.run_epoch()
    plain = PlainProducts(trainer.run_epoch)
    totals, products, loops, alone = (list[float]() for _ in range(4))
    for _ in range(rounds):
        trainer.run_epoch()  # the profiler left the caches cold
        started = time.perf_counter()
        trainer.run_epoch()
        trainer.run_epoch()
        totals.append(1e3 * (time.perf_counter() - started) / 2)
        marked = patch.object(parallel, "run", _marked(parallel.run))
        with marked, profile(activities=[ProfilerActivity.CPU]) as profiler:
            trainer.run_epoch()
        events = profiler.key_averages()
        products.append(sum(e.self_cpu_time_total for e in events if e.key in PRODUCTS) / 1e3)
        loops.append(sum(e.cpu_time_total for e in events if e.key == LOOPS) / 1e3)
        plain.run()  # the epochs left the caches cold
        alone.append(1e3 * plain.run())
    total, in_products, in_loops = map(median, (totals, products, loops))
    written = written_products(graph.num_entities, 2 * graph.num_relations, PAPER.model)
    as_written = sum(1e3 * _seconds(*pair) for pair in written)
    return {
        "graph": name,
        "epoch ms": total,
        "products ms": in_products,
        "loops ms": in_loops,
        "everything else ms": total - in_products - in_loops,
        "rest / products": (total - in_products) / in_products,
        "plain mm ms": median(alone),
        "warm ms": 1e3 * plain.run(times=20),
        "as written ms": as_written,
        "rest / as written": (total - in_products) / as_written,
    }


Shape = tuple[int, int]


def written_products(
    entities: int, relations: int, model: ModelConfig
) -> list[tuple[Shape, Shape]]:
    """The products of an epoch: projections of nodes and relations, one a layer, and gradients.

    So the paper has it once projections are factored. Ours folds the input maps into the first
    layers' weights and so multiplies less.
    """
    wide, narrow = model.entity_hidden, model.relation_hidden
    of_features = [
        (entities, model.entity_width, wide),
        (relations, model.relation_width, narrow),
    ]
    of_states = [
        *[(entities, wide, 4 * wide), (relations, narrow, 2 * wide)] * model.entity_layers,
        *[(relations, narrow, 4 * narrow)] * model.relation_layers,
        (entities, wide, model.entity_width),
        (relations, narrow, model.relation_width),
        (relations, model.relation_width, model.entity_width),
    ]
    forward = [((n, i), (i, o)) for n, i, o in of_features + of_states]
    of_weights = [((i, n), (n, o)) for n, i, o in of_features + of_states]
    of_inputs = [((n, o), (o, i)) for n, i, o in of_states]  # features have no gradient
    return forward + of_weights + of_inputs


def _marked(run: Callable[..., None]) -> Callable[..., None]:
    """The runner of compiled loops, seen by the profiler."""

    def marked(*arguments: Any, **options: Any) -> None:
        with record_function(LOOPS):
            run(*arguments, **options)

    return marked


class PlainProducts(TorchDispatchMode):
    """The matrix products of a computation, to be done again alone.

    Their matrices have the same shapes and strides, and nothing else of the computation.
    """

    def __init__(self, compute: Callable[[], Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products: list[tuple[Callable[..., Tensor], Tensor, Tensor]] = []
        with self:
            compute()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:  # as torch has it
        if func.name().split(".")[0] in PRODUCTS:
            left, right = (_alike(t) for t in [a for a in args if isinstance(a, Tensor)][-2:])
            plain = torch.mv if right.ndim == 1 else (torch.mm if left.ndim == 2 else torch.bmm)
            self.products.append((plain, left, right))
        return func(*args, **(kwargs or {}))

    def run(self, times: int = 1) -> float:
        """Seconds of all products, each done so many times in a row, divided by that number."""
        started = time.perf_counter()
        for product, left, right in self.products:
            for _ in range(times):
                product(left, right)
        return (time.perf_counter() - started) / times


def _alike(tensor: Tensor) -> Tensor:
    """Random numbers, laid out as those of the tensor."""
    there = tuple(slice(None, 1 if step == 0 else None) for step in tensor.stride())
    part = tensor[there]
    return torch.empty_strided(part.shape, part.stride()).normal_().expand(tensor.shape)


def _seconds(*shapes: Sequence[int]) -> float:
    """Of one product of two matrices."""
    left, right = (torch.randn(*shape) for shape in shapes)
    torch.mm(left, right)
    started = time.perf_counter()
    for _ in range(20):
        torch.mm(left, right)
    return (time.perf_counter() - started) / 20


def gflops() -> float:
    """Billions of operations a second of a large product: how fast this machine is now."""
    a = torch.randn(1024, 1024)
    torch.mm(a, a)
    best = float("inf")
    for _ in range(20):
        started = time.perf_counter()
        torch.mm(a, a)
        best = min(best, time.perf_counter() - started)
    return 2 * 1024**3 / best / 1e9


if __name__ == "__main__":
    _measure_peak(*sys.argv[1:])
