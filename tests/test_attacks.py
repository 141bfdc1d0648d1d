"""Files from strangers: they are parsed, never executed, and promise nothing that is believed."""

import io
import json
import os
import pickle
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.memory import peak, reset_peak

import ingram
from ingram.embeddings import Embeddings
from ingram.errors import ConfigError, IngramError
from ingram.io import read_graph
from ingram.io.tensors import read_tensors, write_tensors
from ingram.models import InGram
from ingram.models.base import FORMAT
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import load_config
from tests.strategies import random_graph
from tests.tiny import tiny_config
from tests.training.runs import run_in

FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class")
happened: list[str] = []


def _watch(event: str, _: object) -> None:
    if event in FORBIDDEN:
        happened.append(event)


sys.addaudithook(_watch)


class Payload:
    """Makes a file wherever it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


@pytest.fixture
def marker(tmp_path):
    """Where an attack that works leaves a trace; the attacks are tried on pickle itself."""
    path = tmp_path / "attacked"
    pickle.loads(pickle.dumps(Payload(path)))
    path.rmdir()
    happened.clear()
    yield path
    assert not path.exists()
    assert happened == []


def refused(read, *arguments):
    with pytest.raises(IngramError) as caught:
        read(*arguments)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def pickles(marker: Path) -> list[bytes]:
    """A bare pickle, what torch.save writes, an array of objects, and arrays with one in them."""
    payload, bare, tensors, array, arrays = Payload(marker), *(io.BytesIO() for _ in range(4))
    pickle.dump(payload, bare)
    torch.save({"model": payload}, tensors)
    objects = np.array([payload], dtype=object)
    np.save(array, objects, allow_pickle=True)
    np.savez(arrays, about=objects, entity=objects, relation=objects)
    return [file.getvalue() for file in (bare, tensors, array, arrays)]


@pytest.mark.parametrize("kind", range(4))
def test_a_pickle_is_never_unpickled_whatever_it_calls_itself(kind, tmp_path, marker):
    data = pickles(marker)[kind]
    for name in ("v.npz", "v.safetensors", "v.parquet", "v.vec", "model.safetensors"):
        (tmp_path / name).write_bytes(data)
    for name in ("v.npz", "v.safetensors", "v.parquet", "v.vec"):
        refused(Embeddings.load, tmp_path / name)
    refused(ingram.load, tmp_path)
    for suffix in ("tsv", "csv", "jsonl", "parquet", "nt", "ttl", "rdf", "gz"):
        (tmp_path / f"g.{suffix}").write_bytes(data)
        refused(read_graph, tmp_path / f"g.{suffix}")


def test_a_pickle_for_a_checkpoint_is_passed_over(tmp_path, marker):
    run_in(tmp_path / "run")
    happened.clear()  # compiled loops come from a cache that the compiler keeps as pickles
    for path in RunDirectory(tmp_path / "run").checkpoints():
        path.write_bytes(pickles(marker)[1])
    refused(lambda: run_in(tmp_path / "run", resume=True))


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.mkdir ['{marker}']",
        "model: !!python/object/new:os.mkdir ['{marker}']",
        "training: {{seed: !!python/name:os.system }}",
        "training: !!python/module:os",
        "a: &a [x]\nb: [*a, *a]",
        "model: !local {{}}",
    ],
)
def test_a_yaml_tag_or_alias_is_refused(text, tmp_path, marker):
    path = tmp_path / "config.yaml"
    path.write_text(text.format(marker=marker))
    with pytest.raises(ConfigError, match="a tag or an alias"):
        load_config(path)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "ingram/../../x", "os.system"])
def test_a_name_in_a_file_leads_nowhere(name, tmp_path, marker):
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps({"model": {"name": name}}))
    refused(load_config, path)
    InGram(tiny_config()).save(tmp_path / "model.safetensors", {})
    tensors, about = read_tensors(tmp_path / "model.safetensors", FORMAT)
    about["config"]["name"] = name
    write_tensors(tmp_path / "model.safetensors", tensors, about)
    refused(ingram.load, tmp_path)


def test_an_archive_of_vectors_unpacks_nothing_to_the_disk(tmp_path, marker):
    path = tmp_path / "deep" / "v.npz"
    path.parent.mkdir()
    InGram(tiny_config()).embed(random_graph(0, 9, 3, 30)).save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../attacked.npy", b"\x93NUMPY")
        archive.writestr("/tmp/attacked.npy", b"\x93NUMPY")
    before = set(tmp_path.rglob("*"))
    refused(Embeddings.load, path)
    assert set(tmp_path.rglob("*")) == before


HUGE = 2**40
HEADERS = [
    {"query": {"dtype": "F32", "shape": [HUGE], "data_offsets": [0, 4 * HUGE]}},
    {"query": {"dtype": "F32", "shape": [HUGE], "data_offsets": [0, 8]}},
    {"query": {"dtype": "F32", "shape": [2**32, 2**32], "data_offsets": [0, 8]}},
    {"query": {"dtype": "F32", "shape": [2**62, 0], "data_offsets": [0, 0]}},
    {"query": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 8]}},
    {"query": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}},
]


@pytest.mark.parametrize("header", HEADERS, ids=range(len(HEADERS)))
@pytest.mark.parametrize("length", [None, 2**62, 2**31])
def test_a_header_that_promises_more_than_there_is_costs_nothing(header, length, tmp_path):
    config = {"name": "ingram-q", "width": 10**6, "relation_layers": 1, "entity_layers": 1}
    about = {"format": FORMAT, "config": config, "origin": {}}
    text = json.dumps(header | {"__metadata__": {"ingram": json.dumps(about)}}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", length or len(text)) + text + bytes(8))
    before = reset_peak()
    refused(ingram.load, path)
    assert peak() - before < 64 * 2**20


def test_a_small_archive_that_promises_gigabytes_is_refused_unread(tmp_path):
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        kind = {"descr": "<f4", "fortran_order": False, "shape": (2**28, 1)}
        np.lib.format.write_array_header_1_0(header, kind)
        with archive.open("entity.npy", "w", force_zip64=True) as file:
            file.write(header.getvalue())
            for _ in range(2**7):
                file.write(bytes(2**20))
    before = reset_peak()
    refused(Embeddings.load, path)
    assert peak() - before < 64 * 2**20
