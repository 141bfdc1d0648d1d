"""Weights on disk: either model is read back for what it is."""

import pytest
import torch

import ingram
from ingram.errors import RunError
from ingram.io.tensors import read_tensors, write_tensors
from ingram.models import MODELS, InGram, InGramQ, base
from ingram.models.config import QueryModelConfig
from tests.strategies import random_graph
from tests.tiny import tiny_config, tiny_query_model_config

MADE = {
    "ingram": lambda: InGram(tiny_config(), seed=1),
    "ingram-q": lambda: InGramQ(tiny_query_model_config(), seed=1),
}


def test_every_model_is_known_by_the_name_in_its_configuration():
    assert list(MADE) == list(MODELS)
    for name, kind in MODELS.items():
        assert kind().name == kind.Config().name == name


@pytest.mark.parametrize("name", MADE)
def test_a_model_is_loaded_as_it_was_saved(name, tmp_path):
    model, graph = MADE[name](), random_graph(0, 9, 3, 30)
    model.save(tmp_path / "model.safetensors", {"made": "here"})
    for path in (tmp_path, tmp_path / "model.safetensors"):
        for loaded in (ingram.load(path), MODELS[name].load(path)):
            assert type(loaded) is type(model)
            assert loaded.config == model.config
            assert loaded.origin == {"made": "here", "id": model.origin["id"]}
            found, wanted = (m.scorer(graph).score(graph.triples) for m in (loaded, model))
            assert torch.equal(found, wanted)


@pytest.mark.parametrize(("saved", "read"), [("ingram", "ingram-q"), ("ingram-q", "ingram")])
def test_one_model_is_not_read_as_the_other(saved, read, tmp_path):
    path = tmp_path / "model.safetensors"
    MADE[saved]().save(path, {})
    with pytest.raises(RunError) as caught:
        MODELS[read].load(path)
    assert str(caught.value) == f"{path}: want a run of {read}, got one of {saved}"


def refused(path, match):
    with pytest.raises(RunError, match=match) as caught:
        ingram.load(path)
    assert "\n" not in str(caught.value)


def test_what_is_no_model_is_refused_in_one_line(tmp_path):
    refused(tmp_path, r"model\.safetensors: no such file")
    path, model = tmp_path / "model.safetensors", MADE["ingram-q"]()
    path.write_bytes(b"hello")
    refused(path, "want a safetensors file")
    model.save(path, {})
    tensors, about = read_tensors(path, base.FORMAT)

    def changed(match, *, weights=None, **changes):
        write_tensors(path, weights or tensors, about | changes)
        refused(path, match)

    changed("want format 'ingram-model-1', got 'other'", format="other")
    changed("names no model", config=[])
    changed("names no model", config={})
    changed("want a model of ingram, ingram-q, got 'ingram-z'", config={"name": "ingram-z"})
    bad = about["config"] | {"width": 0}
    changed("its description cannot be read: .*width", config=bad)
    fewer = {name: tensor for name, tensor in tensors.items() if name != "query"}
    changed("holds no tensor 'query'", weights=fewer)
    changed(r"query wants shape \(5,\), got \(9,\)", weights=tensors | {"query": torch.zeros(9)})


def test_the_sizes_of_the_query_conditioned_model_are_checked():
    for bad in ({"width": 0}, {"bins": 0}, {"entity_layers": -1}, {"widht": 3}, {"name": "ingram"}):
        with pytest.raises(ValueError, match="validation error"):
            QueryModelConfig(**bad)
