"""`ingram runs`: what lies in a folder of runs, side by side, and what may go."""

import json
from pathlib import Path

import pytest
from tests.verbs import ingram, user_error, write_dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Three tested runs of two methods, one that was only trained, and one that broke off."""
    root = tmp_path_factory.mktemp("runs")
    write_dataset(root / "tiny")
    quick = ("--epochs", 1, "--threads", 1)
    for method, seed in (("default", 0), ("ingram-q", 0), ("ingram-q", 10)):
        run = root / "out" / method / f"seed-{seed}"
        ingram("train", root / "tiny", "-o", run, "--preset", method, "--seed", seed, *quick)
        ingram("evaluate", run, root / "tiny", "--save", "--threads", 1)
    ingram("train", root / "tiny", "-o", root / "out" / "ingram-q" / "seed-9", "--seed", 9, *quick)
    (root / "out" / "broken").mkdir()
    text = (root / "out" / "default" / "seed-0" / "config.yaml").read_text()
    (root / "out" / "broken" / "config.yaml").write_text(text)
    return root / "out"


def test_runs_are_listed_with_what_became_of_them(folder):
    found = json.loads(ingram("runs", "list", folder, "--json"))
    states = {Path(one["path"]).relative_to(folder).as_posix(): one["state"] for one in found}
    assert states == {
        "broken": "begun",
        "default/seed-0": "tested",
        "ingram-q/seed-0": "tested",
        "ingram-q/seed-9": "trained",
        "ingram-q/seed-10": "tested",
    }
    assert list(states)[-1] == "ingram-q/seed-10"
    shown = ingram("runs", "list", folder)
    assert "5 runs" in shown
    assert "tested" in shown


def test_comparing_takes_seeds_together_and_says_what_is_luck(folder, tmp_path):
    page = tmp_path / "page.html"
    entry = json.loads(ingram("runs", "compare", folder, "--html", page, "--json"))
    rows = {row["method"]: row for row in entry["rows"]}
    assert rows["ingram-q"]["seeds"] == [0, 10]
    [pair] = entry["comparisons"]
    better, worse = pair["better"].partition(",")[0], pair["worse"].partition(",")[0]
    apart = rows[better]["figures"]["mrr"] - rows[worse]["figures"]["mrr"]
    assert pair["difference"] == pytest.approx(apart)
    text = page.read_text()
    for needle in ("95 %", "MRR of single relations", "Settings that differ", "<svg", "Command"):
        assert needle in text
    assert "more than luck?" in ingram("runs", "compare", folder)


def test_the_report_of_a_tested_run_has_all_there_is_to_know(folder):
    page = (folder / "default" / "seed-0" / "report.html").read_text()
    for heading in (
        "Test", "Known and new relations", "Single relations", "Training", "What a score means",
        "Affinity bins", "Relation graph", "Command", "Settings", "Environment",
    ):  # fmt: skip
        assert f"<h2>{heading}</h2>" in page
    assert "<pre>ingram" in page
    assert "8 fresh draws" in page
    assert "<td>known</td>" in page
    assert "<td>new</td>" in page
    assert 'name="viewport"' in page
    assert "@media print" in page


def test_what_cannot_be_compared_is_refused_in_a_line(folder, tmp_path, capsys):
    line = user_error(capsys, "runs", "compare", folder / "ingram-q" / "seed-9")
    assert "ingram evaluate RUN DATA --save" in line
    assert "found none" in user_error(capsys, "runs", "list", tmp_path / "nowhere")


def test_cleaning_says_first_and_keeps_weights_and_figures(folder):
    said = json.loads(ingram("runs", "clean", folder, "--json"))
    assert not said["removed"]
    names = [Path(path).relative_to(folder).as_posix() for path in said["paths"]]
    seeds = ("default/seed-0", "ingram-q/seed-0", "ingram-q/seed-10")
    assert names == ["broken", *(f"{seed}/checkpoints" for seed in seeds)]
    assert all((folder / name).exists() for name in names)
    ingram("runs", "clean", folder, "--yes")
    assert not any((folder / name).exists() for name in names)
    assert (folder / "ingram-q" / "seed-0" / "model.safetensors").exists()
    assert (folder / "ingram-q" / "seed-0" / "ranks.parquet").exists()
    assert (folder / "ingram-q" / "seed-9" / "checkpoints").exists()
    assert json.loads(ingram("runs", "clean", folder, "--json"))["paths"] == []
