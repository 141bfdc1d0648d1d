"""Files of vectors: what was written comes back, in every format, and nothing else is taken."""

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from ingram.embeddings import Embeddings
from ingram.errors import EmbeddingsError
from ingram.io import vectors
from ingram.io.vectors import FORMATS, VectorTable, beside, read_vectors, write_vectors
from ingram.models import InGram
from tests.strategies import random_graph
from tests.tiny import tiny_config

SUFFIXES = sorted(FORMATS)
RICH = [".npz", ".parquet", ".safetensors"]
AWKWARD = [
    "Kenya",
    "São Tomé",
    "a b",
    "a%20b",
    "tab\there",
    '"quoted"',
    "line\nbreak",
    "\u2028",
    "#x",
]

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


def tables_of(labels, width=3, seed=0):
    rng = np.random.default_rng(seed)
    entities = VectorTable(
        pl.Series("label", labels, dtype=pl.String),
        rng.standard_normal((len(labels), width), np.float32),
        {"facts": rng.integers(-9, 9, len(labels))},
    )
    relations = VectorTable(
        pl.Series("label", ["r"]),
        rng.standard_normal((1, width), np.float32),
        {"states": rng.standard_normal((1, 5), np.float32)},
    )
    return entities, relations


def assert_back(path, tables, *, more):
    found, about = read_vectors(path)
    for one, two in zip(found, tables, strict=True):
        assert one.labels.to_list() == two.labels.to_list()
        assert one.vectors.dtype == np.float32
        assert one.vectors.tobytes() == two.vectors.tobytes()
        assert set(one.more) == (set(two.more) if more else set())
        for name, values in one.more.items():
            np.testing.assert_array_equal(values, two.more[name])
    assert about["made"] == ({"seed": 1} if more else {})


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(labels=st.lists(words, min_size=1, max_size=5, unique=True), seed=st.integers(0, 99))
def test_any_labels_and_every_bit_come_back(tmp_path_factory, suffix, labels, seed):
    path = tmp_path_factory.mktemp("v") / f"x{suffix}"
    tables = tables_of(labels, seed=seed)
    write_vectors(path, tables, {"made": {"seed": 1}})
    assert_back(path, tables, more=suffix in RICH)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_awkward_labels_and_extreme_numbers_come_back(tmp_path, suffix):
    entities, relations = tables_of(AWKWARD)
    small = np.finfo(np.float32)
    entities.vectors[0] = [small.tiny, small.max, 0.1]
    entities.vectors[1] = [small.smallest_subnormal, -0.0, 1 / 3]
    path = tmp_path / f"x{suffix}"
    write_vectors(path, (entities, relations), {"made": {"seed": 1}})
    assert_back(path, (entities, relations), more=suffix in RICH)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_embeddings_read_back_score_identically(tmp_path, suffix):
    graph = random_graph(0, 9, 3, 30)
    made = InGram(tiny_config()).embed(graph, seed=2, draws=3)
    path = tmp_path / f"x{suffix}"
    made.save(path)
    found = Embeddings.load(path, graph)
    assert torch.equal(found.score(graph.triples), made.score(graph.triples))
    assert found.predict(head="e0", relation="r1").equals(made.predict(head="e0", relation="r1"))
    if suffix in RICH:
        assert found.made == made.made
        assert torch.equal(found.basis.states, made.basis.states)
        assert torch.equal(found.basis.facts, made.basis.facts)
    else:
        assert found.made == {}
        assert found.basis is None


def test_a_graph_without_relations_or_entities_is_kept_too(tmp_path):
    empty = VectorTable(pl.Series("label", [], dtype=pl.String), np.empty((0, 3), np.float32))
    for suffix in SUFFIXES:
        write_vectors(tmp_path / f"x{suffix}", (empty, empty), {"made": {}})
        (one, two), _ = read_vectors(tmp_path / f"x{suffix}")
        assert one.vectors.shape == two.vectors.shape == (0, 3), suffix


def test_other_tools_read_what_is_written(tmp_path):
    tables = tables_of(["Kenya", "São Tomé"])
    for suffix in SUFFIXES:
        write_vectors(tmp_path / f"x{suffix}", tables, {"made": {}})
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        assert arrays["entity_labels"].tolist() == ["Kenya", "São Tomé"]
        assert arrays["entity_labels"].dtype.kind == "U"
        assert arrays["relation_vectors"].shape == (1, 3)
    tensors = load_file(tmp_path / "x.safetensors")
    assert tensors["entity_labels"].tobytes().decode() == "KenyaSão Tomé"
    assert tensors["entity_ends"].tolist() == [5, 15]
    first, *lines = (tmp_path / "x.vec").read_text(encoding="utf-8").splitlines()
    assert first == "2 3"
    assert [line.split(" ")[0] for line in lines] == ["Kenya", "São%20Tomé"]
    assert [len(line.split(" ")) for line in lines] == [4, 4]
    assert (tmp_path / "x.relations.vec").read_text().startswith("1 3\nr ")
    assert pl.read_parquet(tmp_path / "x.parquet")["label"].to_list() == ["Kenya", "São Tomé", "r"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_such_file_is_refused_in_one_line(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    with pytest.raises(EmbeddingsError, match="no such file"):
        read_vectors(path)
    write_vectors(path, tables_of(AWKWARD[:3]), {"made": {}})
    whole = path.read_bytes()
    for content in (b"", b"hello", b"1 2 3\n", whole[: len(whole) // 2], b"\0" + whole):
        path.write_bytes(content)
        with pytest.raises(EmbeddingsError, match="want embeddings, got ") as caught:
            read_vectors(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


def test_text_without_its_relations_is_refused(tmp_path):
    path = tmp_path / "x.vec"
    write_vectors(path, tables_of(["a"]), {})
    beside(path, "relations").unlink()
    with pytest.raises(EmbeddingsError, match=r"x\.relations\.vec"):
        read_vectors(path)


def test_tables_that_do_not_fit_together_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    entities, relations = tables_of(["a", "b"])
    write_vectors(path, (entities, VectorTable(relations.labels, np.ones((1, 2), np.float32))), {})
    with pytest.raises(EmbeddingsError, match=r"vectors of widths \[2, 3\]"):
        read_vectors(path)
    write_vectors(path, (VectorTable(pl.Series(["a"]), entities.vectors), relations), {})
    with pytest.raises(EmbeddingsError, match="another number of labels than of vectors"):
        read_vectors(path)
    write_vectors(path, (entities, relations), {"format": "other"})
    with pytest.raises(EmbeddingsError, match="format 'other'"):
        read_vectors(path)


def test_objects_in_an_array_are_never_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (exec, ("raise SystemExit('executed')",))

    path = tmp_path / "x.npz"
    np.savez(path, about=np.array([Bomb()], dtype=object))
    with pytest.raises(EmbeddingsError, match="want embeddings, got an array 'about"):
        read_vectors(path)


def test_numpy_refuses_labels_it_cannot_hold(tmp_path, monkeypatch):
    with pytest.raises(EmbeddingsError, match=r"drops a zero character .* take \.parquet"):
        write_vectors(tmp_path / "x.npz", tables_of(["a\0"]), {})
    monkeypatch.setattr(vectors, "LABEL_BUDGET", 100)
    with pytest.raises(EmbeddingsError, match=r"2 labels of up to 40 .* take \.parquet"):
        write_vectors(tmp_path / "x.npz", tables_of(["a", "b" * 40]), {})
    assert not list(tmp_path.iterdir())


def test_the_suffix_must_be_known_and_the_folder_there(tmp_path):
    with pytest.raises(EmbeddingsError, match=r"ends in \.parquet, .*got '\.pt'"):
        write_vectors(tmp_path / "x.pt", tables_of(["a"]), {})
    with pytest.raises(EmbeddingsError, match="got 'none'"):
        read_vectors(tmp_path / "x")
    with pytest.raises(EmbeddingsError, match="no folder"):
        write_vectors(tmp_path / "no" / "x.npz", tables_of(["a"]), {})
