"""Broken inputs for every reader: each is read, or refused in one line that says where.

Two fifths of the files that carry a checksum are broken in what they say, with a checksum that
holds.
"""

from __future__ import annotations

import copy
import faulthandler
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
from benchmarks.memory import peak, reset_peak

from ingram.answers import KnownAnswers
from ingram.answers.calibration import Bin, Calibration, Isotonic, Platt, Reliability
from ingram.embeddings import Embeddings
from ingram.errors import IngramError
from ingram.evaluation import rank
from ingram.experiments.runs import read_json
from ingram.experiments.saved import read_ranks, write_ranks
from ingram.io import read_graph
from ingram.io.folder import read_dataset
from ingram.io.tensors import read_tensors, write_tensors
from ingram.models import MODELS, load_model
from ingram.training import train
from ingram.training.checkpoints import FORMAT, RunDirectory, load_checkpoint
from ingram.training.config import dump_config, load_config
from ingram.training.optimizer import ClippedAdamW
from ingram.training.presets import PRESETS
from ingram.training.state import State
from tests.strategies import random_graph
from tests.tiny import tiny_query_config, tiny_run_config
from tests.torture.bodies import Bodies
from tests.torture.graph_files import broken_graph, mutated
from tests.torture.spoiling import spoil
from tests.training.runs import DATASET
from tests.verbs import write_dataset

SECONDS, MEMORY, LINE = 5, 256 * 2**20, 600
"""What one input may take: seconds of a processor, bytes above what is in use, and characters of
the refusal beside the path."""
HANG = 600
"""Seconds after which an input is taken to hang, and everything is ended with a traceback."""
TURNS = (
    *("graph", "config", "embeddings", "graph", "metrics", "graph", "embeddings", "graph") * 3,
    "model", "graph", "dataset", "embeddings", "checkpoint", "calibration", "ranks", "outcome",
    *("body",) * 8,
)  # fmt: skip
"""Whose turn it is; those of many formats come more often."""
YAML = [
    b"!!python/object/apply:os.system ['true']", b"&a [*a]", b"*a", b"<<: ", b"? ", b"- " * 50,
    b"{" * 60, b"[" * 3000, b"9" * 5000, b"2001-99-99", b"0x" + b"f" * 9000, b".nan", b"1e999",
    b"~", b"|\n  ", b"---\n", b"%YAML 9\n", b"\x00", b"\xff", b": : :", b"!!binary x", b"!!set {a}",
]  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """Makes broken input number i in a folder, and reads it."""

    make: Callable[[Path, random.Random], Path]
    read: Callable[[Path], Any]


class Seeds:
    """Whole inputs, made once in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_dataset(folder / "data")
        for kind, config in (("ingram", tiny_run_config()), ("ingram-q", tiny_query_config())):
            train(DATASET, config, RunDirectory(folder / kind))
        embeddings = load_model(folder / "ingram").embed(random_graph(0, 9, 3, 30), draws=2)
        self.configs = [dump_config(config).encode() for config in PRESETS.values()]
        self.vectors = ["v.parquet", "v.npz", "v.safetensors", "v.vec"]
        for name in self.vectors:
            embeddings.save(folder / name)
        level = Reliability(ece=0.1, brier=0.2, bins=(Bin(answers=3, said=0.5, right=0.4),))
        Calibration(
            model="m", draws=2, dataset="d", questions=3, method="platt", threshold=0, accuracy=0.5,
            platt=Platt(slope=1, intercept=0), reliability={"platt": level, "isotonic": level},
            isotonic=Isotonic(scores=(0, 1), probabilities=(0.2, 0.8)),
        ).save(folder / "calibration.json")  # fmt: skip
        scorer = load_model(folder / "ingram").embed(DATASET.inference)
        known = KnownAnswers.of(DATASET)
        ranks = rank(scorer, DATASET.test, known, DATASET.inference.num_entities)
        write_ranks(folder / "ranks.parquet", ranks, DATASET)
        self.bodies = Bodies(folder)

    def readers(self) -> dict[str, Reader]:
        return {
            "graph": Reader(self.graph, read_graph),
            "dataset": Reader(self.dataset, read_dataset),
            "config": Reader(self.config, load_config),
            "model": Reader(self.model, load_model),
            "checkpoint": Reader(self.checkpoint, self.load_checkpoint),
            "metrics": Reader(self.metrics, lambda path: RunDirectory(path).metrics()),
            "embeddings": Reader(self.embeddings, Embeddings.load),
            "calibration": Reader(self.calibration, Calibration.load),
            "ranks": Reader(self.ranks, read_ranks),
            "outcome": Reader(self.outcome, read_json),
            "body": Reader(self.bodies.make, self.bodies.send),
        }

    def graph(self, folder: Path, rng: random.Random) -> Path:
        suffix, data = broken_graph(rng)
        return _written(folder / f"graph{suffix}", data)

    def dataset(self, folder: Path, rng: random.Random) -> Path:
        path = folder / "data"
        path.mkdir(exist_ok=True)
        for file in (self.folder / "data").iterdir():
            data = file.read_bytes()
            (path / file.name).write_bytes(mutated(data, rng) if rng.random() < 0.4 else data)
        return path

    def config(self, folder: Path, rng: random.Random) -> Path:
        data = bytearray(rng.choice(self.configs))
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(data))
            data[at : at + rng.choice((0, 1, 10))] = rng.choice(YAML)
        text = bytes(data) if rng.random() < 0.5 else mutated(bytes(data), rng)
        return _written(folder / "config.yaml", text)

    def model(self, folder: Path, rng: random.Random) -> Path:
        source = self.folder / rng.choice(list(MODELS)) / "model.safetensors"
        return _broken_tensors(source, folder / "model.safetensors", "ingram-model-1", rng)

    def checkpoint(self, folder: Path, rng: random.Random) -> Path:
        kind = rng.choice(list(MODELS))
        source = RunDirectory(self.folder / kind).checkpoints()[0]
        return _broken_tensors(source, folder / f"{kind}.safetensors", FORMAT, rng)

    def load_checkpoint(self, path: Path) -> None:
        config = tiny_query_config() if path.stem == "ingram-q" else tiny_run_config()
        model = MODELS[path.stem](config.model)
        load_checkpoint(path, State(model, ClippedAdamW(model.parameters())))

    def metrics(self, folder: Path, rng: random.Random) -> Path:
        data = (self.folder / "ingram" / "metrics.jsonl").read_bytes()
        _written(folder / "metrics.jsonl", mutated(data, rng))
        return folder

    def embeddings(self, folder: Path, rng: random.Random) -> Path:
        name = rng.choice(self.vectors)
        if name == "v.safetensors":
            source = self.folder / name
            return _broken_tensors(source, folder / name, "ingram-embeddings-1", rng)
        if name == "v.vec":
            other = (self.folder / "v.relations.vec").read_bytes()
            _written(folder / "v.relations.vec", other)
        return self._changed(folder / name, rng)

    def calibration(self, folder: Path, rng: random.Random) -> Path:
        if rng.random() < 0.5:
            return self._changed(folder / "calibration.json", rng)
        said = json.loads((self.folder / "calibration.json").read_bytes())
        spoil(said, rng)
        return _written(folder / "calibration.json", json.dumps(said).encode())

    def ranks(self, folder: Path, rng: random.Random) -> Path:
        return self._changed(folder / "ranks.parquet", rng)

    def outcome(self, folder: Path, rng: random.Random) -> Path:
        data = b'{"stopped": "finished", "epoch": 3, "best": {"mrr": 0.5}, "commands": ["a", []]}'
        return _written(folder / "outcome.json", mutated(data, rng))

    def _changed(self, path: Path, rng: random.Random) -> Path:
        return _written(path, mutated((self.folder / path.name).read_bytes(), rng))


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _broken_tensors(source: Path, path: Path, form: str, rng: random.Random) -> Path:
    if rng.random() < 0.6:
        return _written(path, mutated(source.read_bytes(), rng))
    tensors, about = _whole(source, form)
    if rng.random() < 0.7:
        about = copy.deepcopy(about)
        for _ in range(rng.choice((1, 1, 3))):
            spoil(about, rng)
        about.setdefault("format", form)
    else:
        name = rng.choice(list(tensors))
        tensors = dict(tensors)
        bad = [torch.zeros(3, 3), torch.tensor(float("nan")), torch.zeros(0), torch.arange(4)]
        value = rng.choice([*bad, tensors[name] * float("nan"), tensors[name].double()])
        tensors[rng.choice([name, "x", name + ".x"])] = value.clone().contiguous()
        if rng.random() < 0.3:
            del tensors[name]
    write_tensors(path, tensors, about)
    return path


@cache
def _whole(source: Path, form: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    return read_tensors(source, form)


@dataclass
class Told:
    """What came of the inputs, by reader, the most that one took, and those that broke a reader."""

    inputs: int = 0
    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    largest: int = 0
    bugs: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.inputs:,} inputs, "
            f"{self.read.total():,} read, {self.refused.total():,} refused in one line, "
            f"{len(self.bugs)} bugs; the slowest took {self.slowest:.2f} s, "
            f"the largest {self.largest / 2**20:.0f} MiB"
        )


def torture(count: int, seed: int = 0, first: int = 0) -> Told:
    """So many broken inputs, all readers in turn, from number ``first`` on."""
    told = Told()
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("error")
        seeds = Seeds(Path(place))
        readers = seeds.readers()
        with seeds.bodies.client:
            for number in range(first, first + count):
                name = TURNS[number % len(TURNS)]
                folder = Path(place) / "broken"
                folder.mkdir(exist_ok=True)
                path = readers[name].make(folder, random.Random(f"{seed} {number}"))
                faulthandler.dump_traceback_later(HANG, exit=True, file=sys.__stderr__)
                told.inputs += 1
                bug = _try(name, readers[name], path, told)
                if bug:
                    told.bugs.append(f"{name} {seed} {number}: {bug}")
    faulthandler.cancel_dump_traceback_later()
    return told


def _try(name: str, reader: Reader, path: Path, told: Told) -> str | None:
    """Read it; returns what a user should not have seen."""
    began, used = time.process_time(), reset_peak()
    try:
        reader.read(path)
    except IngramError as error:
        said = str(error)
        if "\n" in said or str(path) not in said or len(said) > LINE + len(str(path)):
            return f"a refusal that is too long or does not say where: {said[:300]!r}"
        told.refused[name] += 1
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    else:
        told.read[name] += 1
    took, more = time.process_time() - began, peak() - used
    told.slowest, told.largest = max(told.slowest, took), max(told.largest, more)
    if took > SECONDS or more > MEMORY:
        return f"took {took:.1f} s and {more / 2**20:.0f} MiB"
    return None
