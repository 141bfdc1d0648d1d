"""The verbs that make and measure datasets, as a user calls them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from ingram.cli.data import data_app
from ingram.datasets import writing
from ingram.datasets.generator import generate
from ingram.datasets.presets import GeneratorConfig
from ingram.errors import (
    ConfigError,
    DatasetError,
    GeneratorError,
    IngramError,
    TriplesError,
    WriteError,
)
from ingram.io import read_dataset, read_graph

FILES = ["README.md", "made.json", "msg.txt", "test.txt", "train.txt", "valid.txt"]
CUT = "--n-train 2 --n-inference 20 --p-rel 0.4 --p-tri 0.5"


def ingram_data(line: str):
    """What ``ingram data LINE`` prints; its error is raised."""
    result = CliRunner().invoke(data_app, shlex.split(line))
    if isinstance(result.exception, IngramError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def graph(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "graph.tsv"
    ingram_data(f"synthesize -o {path} --triples 4000 --entities 1500 --relations 20")
    return path


def labelled(graph, triples=None) -> list[tuple[str, str, str]]:
    return list(graph.decode(graph.triples if triples is None else triples).iter_rows())


def test_generate_writes_the_four_files_and_how_they_were_made(graph, tmp_path):
    folder = tmp_path / "made"
    printed = ingram_data(f"generate {graph} -o {folder} {CUT} --seed 3")
    assert sorted(p.name for p in folder.iterdir()) == FILES
    assert "asked 50.0%, mixed 50.0%" in printed.output
    recipe = json.loads((folder / "made.json").read_text())
    assert (recipe["made_by"], recipe["graph"]) == ("ingram data generate", "graph.tsv")
    assert recipe["config"]["p_tri"] == 0.5
    assert recipe["seed"] == 3
    dataset = read_dataset(folder)
    assert not set(dataset.train.entities.labels) & set(dataset.inference.entities.labels)
    assert recipe["train"]["triples"] == dataset.train.num_triples
    assert recipe["facts"] == dataset.inference.num_triples
    readme = (folder / "README.md").read_text()
    assert "| msg.txt | the observed facts of the inference graph" in readme


def test_the_folder_reads_back_as_the_dataset_that_was_made(graph, tmp_path):
    made = generate(read_graph(graph), GeneratorConfig(2, 20, 0.4, 0.5), seed=3).dataset
    ingram_data(f"generate {graph} -o {tmp_path / 'made'} {CUT} --seed 3")
    read = read_dataset(tmp_path / "made")
    assert labelled(read.train) == labelled(made.train)
    assert labelled(read.inference) == labelled(made.inference)
    for split in ("valid", "test"):
        assert read.split(split).tolist() == made.split(split).tolist()


def test_generate_prints_json_for_machines(graph, tmp_path):
    printed = ingram_data(f"generate {graph} -o {tmp_path / 'made'} {CUT} --json")
    report = json.loads(printed.stdout)
    assert report["asked_share"] == 0.5
    assert abs(report["mixed_share"] * report["mixed"] - 0.5 * report["mixed"]) <= 1


def test_a_preset_gives_the_parameters_and_options_win_over_it(graph, tmp_path):
    ingram_data(f"generate {graph} -o {tmp_path / 'a'} --preset NL-25 --n-train 2 --n-inference 20")
    recipe = json.loads((tmp_path / "a" / "made.json").read_text())
    assert recipe["config"] == {
        "n_train": 2, "n_inference": 20, "p_rel": 0.4, "p_tri": 0.25, "max_neighbours": 50
    }  # fmt: skip


def test_a_preset_with_seeds_wants_the_published_sizes(graph, tmp_path):
    with pytest.raises(GeneratorError, match=r"none of 2 seeds suits; .* want (train|inference)"):
        ingram_data(f"generate {graph} -o {tmp_path / 'a'} --preset FB-100 --seeds 2")
    assert not list(tmp_path.iterdir())


def test_sizes_that_suit_are_taken_from_the_first_seed_that_has_them(graph, tmp_path):
    folder = tmp_path / "made"
    ingram_data(f"generate {graph} -o {folder} {CUT} --seeds 20 --size inference.triples=100..")
    assert json.loads((folder / "made.json").read_text())["inference"]["triples"] >= 100


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ("", ConfigError, "want --n-train, --n-inference, --p-rel, --p-tri, or --preset"),
        ("--preset FB-99", ConfigError, "no preset 'FB-99'"),
        (f"{CUT} --size train=3", ConfigError, "want a size such as"),
        ("--preset NL-100 --n-train 100000", GeneratorError, "want 100,000 entities"),
    ],
)
def test_a_request_that_cannot_be_met_writes_nothing(graph, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        ingram_data(f"generate {graph} -o {tmp_path / 'made'} {options}")
    assert not list(tmp_path.iterdir())


def test_a_folder_with_files_in_it_is_left_alone(graph, tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    for line in (f"generate {graph} {CUT}", f"split {graph}", "synthesize"):
        with pytest.raises(DatasetError, match="want a new or empty folder"):
            ingram_data(f"{line} -o {tmp_path}")
    (tmp_path / "file").write_text("x")
    with pytest.raises(DatasetError, match="to write to, got a file"):
        ingram_data(f"split {graph} -o {tmp_path / 'file'}")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "mine.txt"]


def test_an_empty_folder_may_be_filled(graph, tmp_path):
    (tmp_path / "made").mkdir()
    ingram_data(f"generate {graph} -o {tmp_path / 'made'} {CUT}")
    assert sorted(p.name for p in (tmp_path / "made").iterdir()) == FILES


def test_a_write_that_fails_leaves_no_folder(graph, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "describe_folder", full)
    with pytest.raises(DatasetError, match="made: cannot be written: No space left"):
        ingram_data(f"generate {graph} -o {tmp_path / 'made'} {CUT}")
    assert not list(tmp_path.iterdir())


def test_labels_that_would_break_a_line_are_refused_and_nothing_is_written(tmp_path):
    rows = [(f"{i}\tx", "r", str(j)) for i in range(6) for j in range(6)]
    table = pl.DataFrame(rows, schema=["head", "relation", "tail"], orient="row")
    table.write_parquet(tmp_path / "g.parquet")
    with pytest.raises(TriplesError, match=r"got one in the head '0\\tx'; rename it"):
        ingram_data(f"split {tmp_path / 'g.parquet'} -o {tmp_path / 'own'}")
    assert [p.name for p in tmp_path.iterdir()] == ["g.parquet"]


def test_weights_of_facts_go_into_the_files(graph, tmp_path):
    path = tmp_path / "weighted.tsv"
    lines = graph.read_text().splitlines()
    weighted = [f"{line}\t{1 + i % 7}" for i, line in enumerate(lines)]
    path.write_text("head\trelation\ttail\tweight\n" + "\n".join(weighted))
    weights = {row[:3]: row[3] for row in read_graph(path).labelled().iter_rows()}
    ingram_data(f"split {path} -o {tmp_path / 'own'}")
    ingram_data(f"generate {path} -o {tmp_path / 'cut'} {CUT} --seed 3")
    for folder in ("own", "cut"):
        dataset = read_dataset(tmp_path / folder)
        for part in (dataset.train, dataset.inference):
            assert len(set(part.weights)) > 1
            assert all(weights[row[:3]] == row[3] for row in part.labelled().iter_rows())


def test_split_holds_out_triples_of_the_same_graph_and_says_so(graph, tmp_path):
    printed = ingram_data(f"split {graph} -o {tmp_path / 'own'} --seed 1")
    folder = tmp_path / "own"
    assert sorted(p.name for p in folder.iterdir()) == [f for f in FILES if f != "msg.txt"]
    parts = {name: set(labelled(read_graph(folder / f"{name}.txt"))) for name in
             ("train", "valid", "test")}  # fmt: skip
    whole = read_graph(graph)
    assert parts["train"] | parts["valid"] | parts["test"] == set(labelled(whole))
    assert sum(map(len, parts.values())) == whole.num_triples
    assert len(parts["train"]) == int(0.6 * whole.num_triples)
    assert {e for h, _, t in parts["train"] for e in (h, t)} == set(whole.entities.labels)
    assert "not an inductive dataset" in printed.output
    assert "**Not inductive**" in (folder / "README.md").read_text()


def test_synthesize_writes_a_dataset_whose_best_mrr_it_prints(tmp_path):
    folder = tmp_path / "toy"
    line = f"synthesize -o {folder} --triples 500 --entities 60 --rules inversion,symmetry"
    printed = ingram_data(f"{line} --relations 6 --noise 0.2")
    recipe = json.loads((folder / "made.json").read_text())
    assert f"{recipe['optimum']['test']['mrr']:.4f}" in printed.output
    assert "new inversion 1: backward(y, x) <- new inversion 1: forward(x, y)" in printed.output
    assert sorted(p.name for p in folder.iterdir()) == FILES
    assert read_dataset(folder).train.num_triples == 500
    again = json.loads(ingram_data(f"{line}2 --relations 6 --noise 0.2 --json"
                                   .replace("symmetry2", "symmetry")
                                   .replace(str(folder), str(tmp_path / "b"))).stdout)  # fmt: skip
    assert again["optimum"] == recipe["optimum"]
    with pytest.raises(ConfigError, match=r"a file that ends in \.tsv or \.txt"):
        ingram_data(f"synthesize -o {tmp_path / 'x.parquet'}")
    with pytest.raises(ConfigError, match="--held-out is of the inference graph; want a folder"):
        ingram_data(f"synthesize -o {tmp_path / 'x.tsv'} --held-out 0.2")


def test_info_prints_a_graph_and_a_dataset(graph, tmp_path):
    printed = ingram_data(f"info {graph}")
    assert "4,000" in printed.output
    assert "many-to-one" in printed.output
    ingram_data(f"generate {graph} -o {tmp_path / 'made'} {CUT}")
    printed = ingram_data(f"info {tmp_path / 'made'}")
    assert "triples with new relations" in printed.output
    values = json.loads(ingram_data(f"info {tmp_path / 'made'} --json").stdout)
    recipe = json.loads((tmp_path / "made" / "made.json").read_text())
    for count in ("entities", "relations", "triples"):
        assert values["graphs"]["inference"][count] == recipe["inference"][count]
    assert values["new"]["triples"]["share"] == pytest.approx(recipe["final_share"])


def test_info_writes_a_page(graph, tmp_path):
    page = tmp_path / "page.html"
    ingram_data(f"info {graph} --html {page}")
    assert page.read_text().startswith("<!doctype html>")
    with pytest.raises(WriteError, match="cannot be written"):
        ingram_data(f"info {graph} --html {tmp_path / 'no' / 'page.html'}")
