"""explain, similar, relations, drift, and embed --update, as a user calls them."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.tiny import tiny_query_config, tiny_run_config, untrained_run
from tests.verbs import ingram, user_error, write_dataset

from ingram.embeddings import Embeddings
from ingram.io.reading import read_graph


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset and a run of each model, untrained: the verbs are tested, not the weights."""
    path = tmp_path_factory.mktemp("why")
    write_dataset(path / "data")
    untrained_run(path / "vectors", tiny_run_config(evaluation__draws=2), seed=1)
    untrained_run(path / "query", tiny_query_config(), seed=1)
    return path


@pytest.mark.parametrize("name", ["query", "vectors"])
def test_explain_tells_people_machines_and_the_eye(place, tmp_path, name):
    graph = place / "data/msg.txt"
    pictures = ["--html", tmp_path / "why.html", "--svg", tmp_path / "why.svg"]
    told = json.loads(ingram("explain", place / name, graph, "i0", "r", "i5", "--json", *pictures))
    assert (told["head"], told["relation"], told["tail"]) == ("i0", "r", "i5")
    facts = set(read_graph(graph).decode(read_graph(graph).triples).rows())
    for path in told["paths"]:
        for step in path["steps"]:
            ends = (step["source"], step["relation"], step["target"])
            assert (ends if step["forward"] else ends[::-1]) in facts
    assert (tmp_path / "why.svg").read_text().startswith("<svg")
    assert "Why (i0, r, i5)?" in (tmp_path / "why.html").read_text()
    text = ingram("explain", place / name, graph, "i0", "r", "i5", "-k", 2)
    assert "(i0, r, ?)" in text
    assert "1. i0 " in text
    assert "3. i0 " not in text
    assert ("where the last entity layer looks" in text) == (name == "vectors")


def test_similar_lists_entities_and_relations(place):
    graph = place / "data/msg.txt"
    found = json.loads(
        ingram("similar", place / "vectors", graph, "--entity", "i3", "-k", 4, "--json")
    )
    assert [row["rank"] for row in found] == [1, 2, 3, 4]
    assert "i3" not in [row["near"] for row in found]
    text = ingram("similar", place / "vectors", graph, "--relation", "r")
    assert "like r" in text
    assert "new" in text


def test_relations_lists_draws_and_writes(place, tmp_path):
    graph, train = place / "data/msg.txt", place / "data/train.txt"
    told = json.loads(
        ingram("relations", graph, "--json", "-o", tmp_path / "g.graphml", "--html",
               tmp_path / "g.html", "--svg", tmp_path / "g.svg", "--train", train)
    )  # fmt: skip
    assert {row["relation"] for row in told["affinities"]} <= {"r", "new"}
    assert [row["relation"] for row in told["resembling"]] == ["new"] * 3
    assert "<graphml" in (tmp_path / "g.graphml").read_text()
    assert (tmp_path / "g.svg").read_text().startswith("<svg")
    assert "Strongest affinities" in (tmp_path / "g.html").read_text()
    text = ingram("relations", graph, "--train", train, "--run", place / "vectors")
    assert "by vectors" in " ".join(text.split())  # a long title is broken
    text = ingram("relations", graph, "--train", train)
    assert "by affinities" in " ".join(text.split())
    assert "read backwards" in ingram("relations", graph)


def test_an_update_and_its_drift(place, tmp_path):
    lines = (place / "data/msg.txt").read_text().splitlines()
    grown = tmp_path / "grown.txt"
    grown.write_text("\n".join([*lines, "i19\tr\tlater", "later\tlast\ti19"]))
    old, new = tmp_path / "old.npz", tmp_path / "new.safetensors"
    ingram("embed", place / "vectors", place / "data/msg.txt", "-o", old)
    told = json.loads(
        ingram("embed", place / "vectors", grown, "-o", new, "--update", old, "--json")
    )
    assert (told["changed"], told["new_relations"]) == (2, 1)
    assert 2 <= told["recomputed"] < told["entities"]
    assert Embeddings.load(new).made == Embeddings.load(old).made
    moved = json.loads(ingram("drift", old, new, "--json", "--graph", grown, "--show", 50))
    assert moved["entities"]["new"] == 1
    assert moved["relations"] | {"furthest": None} == {
        "both": 2, "new": 1, "gone": 0, "moved": pytest.approx(0, abs=1e-6), "furthest": None,
    }  # fmt: skip
    still = [row for row in moved["entities"]["furthest"] if row["moved"] < 1e-9]
    assert len(still) >= told["entities"] - told["recomputed"] - 1
    assert moved["entities"]["furthest"][0]["moved"] > 1e-6
    text = ingram("drift", old, new, "-k", 3)
    assert "of the 3 best answers" in text
    assert "1 and 1 are new" in text
    text = ingram("embed", place / "vectors", grown, "-o", new, "--update", old)
    assert "facts changed about 2 entities" in text


@pytest.mark.parametrize("suffix", ["parquet", "npz", "safetensors", "vec", "txt"])
def test_the_suffix_chooses_the_format(place, tmp_path, suffix):
    path = tmp_path / f"vectors.{suffix}"
    ingram("embed", place / "vectors", place / "data/msg.txt", "-o", path)
    wanted = tmp_path / "wanted.parquet"
    ingram("embed", place / "vectors", place / "data/msg.txt", "-o", wanted)
    found = Embeddings.load(path).predict(head="i0", relation="r")
    assert found.equals(Embeddings.load(wanted).predict(head="i0", relation="r"))


def test_a_table_has_the_columns_that_are_promised(place, tmp_path):
    path = tmp_path / "v.parquet"
    ingram("embed", place / "vectors", place / "data/msg.txt", "-o", path)
    assert pl.read_parquet(path).columns == ["kind", "label", "vector", "facts", "states"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["similar", "{p}/query", "{g}", "--entity", "i0"], "holds ingram-q, which answers"),
        (["similar", "{p}/vectors", "{g}"], "give --entity or --relation"),
        (["similar", "{p}/vectors", "{g}", "--entity", "i0", "--relation", "r"], "of them only"),
        (["similar", "{p}/vectors", "{g}", "--entity", "i00"], "did you mean"),
        (["explain", "{p}/query", "{g}", "i0", "r", "i99"], "no entity 'i99'"),
        (["explain", "{p}/query", "{g}", "i0", "r", "i1", "--draws", "2"], "draws no random"),
        (["explain", "{p}/query", "{g}", "i0", "r", "i1", "--svg", "{t}/no/x.svg"], "no folder"),
        (["relations", "{g}", "--run", "{p}/vectors"], "give the other by --train"),
        (["relations", "{g}", "-o", "{t}/x.dot"], "want a name that ends in .graphml"),
        (["relations", "{g}", "--train", "{g}", "--run", "{p}/query"], "has no vectors"),
        (["embed", "{p}/vectors", "{g}", "-o", "{t}/x.pt"], "want a name that ends in .parquet"),
        (["embed", "{p}/query", "{g}", "-o", "{t}/x.npz"], "has no vectors"),
        (["embed", "{p}/vectors", "{g}", "-o", "{t}/x.npz", "--update", "{t}/y.npz"], "no such"),
        (["embed", "{p}/vectors", "{g}", "-o", "{t}/x.npz", "--update", "{t}/y.npz", "--seed", "1"],
         "an update keeps the draws and the seed"),
        (["drift", "{t}/a.npz", "{t}/b.npz"], "a.npz: no such file"),
    ],
)  # fmt: skip
def test_a_users_error_is_one_line_and_leaves_nothing(arguments, said, place, tmp_path, capsys):
    filled = [a.format(p=place, g=place / "data/msg.txt", t=tmp_path) for a in arguments]
    assert said in user_error(capsys, *filled)
    assert not list(tmp_path.iterdir())


def test_an_update_from_text_or_by_another_run_is_refused(place, tmp_path, capsys):
    graph = place / "data/msg.txt"
    ingram("embed", place / "vectors", graph, "-o", tmp_path / "v.vec")
    again = ["embed", place / "vectors", graph, "-o", tmp_path / "x.npz", "--update"]
    assert "keep them as .parquet" in user_error(capsys, *again, tmp_path / "v.vec")
    other = untrained_run(tmp_path / "other", tiny_run_config(), seed=9)
    ingram("embed", other, graph, "-o", tmp_path / "o.npz")
    assert "were made by model" in user_error(capsys, *again, tmp_path / "o.npz")
    assert not (tmp_path / "x.npz").exists()
