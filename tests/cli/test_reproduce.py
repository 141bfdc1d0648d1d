"""`ingram reproduce`: tables from runs that are never done twice."""

import json
import shutil
from pathlib import Path

import pytest
from tests.verbs import ingram, user_error, write_dataset

from ingram.experiments import published
from ingram.training.checkpoints import RunDirectory
from ingram.training.steps import Steps

NAMES = ("NL-100", "NL-50", "NL-0", "FB-100", "WK-75")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(NAMES):
        write_dataset(folder / name, seed)
    return folder


def reproduce(what: str, data: Path, out: Path, *more: object) -> dict:
    words = ["--data", data, "-o", out, "--threads", 1, "--json"]
    return json.loads(ingram("reproduce", what, *words, *more))[what if what != "all" else "main"]


def ours(entry: dict) -> dict[str, dict]:
    """Rows that were measured, by method and protocol."""
    return {
        f"{row['method']} {row.get('protocol', '')}".strip(): row
        for row in entry["rows"]
        if row.get("protocol") != "published"
    }


def figures(entry: dict) -> list:
    return [(row["method"], row["figures"], row.get("spread")) for row in entry["rows"]]


def no_training(patch: pytest.MonkeyPatch) -> None:
    def refuse(*_):
        pytest.fail("a finished run was trained again")

    patch.setattr(Steps, "epoch", refuse)


PAPER = ("--datasets", "NL-100", "--seeds", "0,1", "--epochs", 2)


@pytest.fixture(scope="module")
def main_table(data, tmp_path_factory) -> tuple[Path, dict]:
    out = tmp_path_factory.mktemp("out")
    return out, reproduce("main", data, out, *PAPER)


def test_table_one_has_published_and_measured_rows_side_by_side(main_table):
    out, entry = main_table
    rows = [row for row in entry["rows"] if row.get("protocol") == "published"]
    assert [row["method"] for row in rows[:15]] == list(published.methods("NL-100"))
    measured = ours(entry)
    draws = ["paper chosen draw", "paper 1 fresh draw", "paper 8 fresh draws"]
    assert list(measured) == [*draws, "popularity", "rules"]
    row = measured["paper chosen draw"]
    assert row["seeds"] == [0, 1]
    assert row["budget"] == "short: 2 of 10,000 epochs"
    assert row["difference"]["mrr"] == pytest.approx(row["figures"]["mrr"] - 0.309)
    assert row["seconds"] > 0
    assert row["spread"]["mrr"] > 0
    page = (out / "main.html").read_text()
    assert all(name in page for name in ("GraIL", "popularity", "short: 2 of 10,000 epochs"))


def test_every_comparison_says_whether_it_is_luck(main_table):
    pairs = main_table[1]["comparisons"]
    assert len(pairs) == 4
    assert all(pair["low"] <= pair["difference"] <= pair["high"] for pair in pairs)
    assert all(0 < pair["p"] <= 1 and pair["difference"] >= 0 for pair in pairs)


def test_the_same_command_again_trains_nothing_and_says_the_same(main_table, data, monkeypatch):
    out, entry = main_table
    no_training(monkeypatch)
    assert reproduce("main", data, out, *PAPER)["rows"] == entry["rows"]


def test_the_same_command_elsewhere_gives_the_same_figures_to_the_last_digit(
    main_table, data, tmp_path
):
    again = reproduce("main", data, tmp_path / "out", *PAPER)
    assert figures(again) == figures(main_table[1])
    assert again["comparisons"] == main_table[1]["comparisons"]


def test_a_run_with_other_settings_is_refused_before_anything_is_done(main_table, data, capsys):
    words = ("--datasets", "NL-100", "--seeds", "0", "--epochs", 3, "-o", main_table[0])
    line = user_error(capsys, "reproduce", "main", "--data", data, *words)
    assert "paper/seed-0: holds a run with training.epochs=2" in line


def test_a_killed_sweep_goes_on_with_the_same_figures(data, tmp_path, monkeypatch):
    words = ("--preset", "ingram-q", "--datasets", "NL-100", "--seeds", "0,1", "--epochs", 21)
    whole = reproduce("main", data, tmp_path / "whole", *words)
    epoch = Steps.epoch

    def killed(self, number):
        if number == 21:
            raise SystemError("as if by kill -9")
        return epoch(self, number)

    with monkeypatch.context() as patch:
        patch.setattr(Steps, "epoch", killed)
        with pytest.raises(SystemError):
            reproduce("main", data, tmp_path / "cut", *words)
    run = RunDirectory(tmp_path / "cut" / "NL-100" / "ingram-q" / "seed-0")
    assert [record["epoch"] for record in run.metrics()] == [20]
    assert figures(reproduce("main", data, tmp_path / "cut", *words)) == figures(whole)
    assert "calibration error" in (run.path / "report.html").read_text()


def test_a_finished_run_of_ingram_train_is_taken_as_done(data, tmp_path, monkeypatch):
    run = tmp_path / "out" / "NL-50" / "ingram-q" / "seed-3"
    ingram("train", data / "NL-50", "-o", run, "--preset", "ingram-q", "--epochs", 1, "--seed", 3,
           "--threads", 1)  # fmt: skip
    (run / "outcome.json").unlink()
    (run / "test.json").write_text('{"mrr": 0.5}')  # of another hand: no ranks, no weights named
    no_training(monkeypatch)
    words = ("--preset", "ingram-q", "--datasets", "NL-50", "--seeds", "3", "--epochs", 1)
    row = ours(reproduce("main", data, tmp_path / "out", *words))["ingram-q"]
    assert row["figures"]["mrr"] == json.loads((run / "test.json").read_text())["mrr"] != 0.5
    assert "ingram train" in (run / "report.html").read_text()


def test_a_test_of_other_weights_is_made_anew(main_table, data, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(main_table[0], out)
    folder = out / "NL-100" / "paper" / "seed-0"
    was = json.loads((folder / "test.json").read_text())
    (folder / "test.json").write_text(json.dumps({**was, "mrr": 0.9, "weights": "of old"}))
    row = ours(reproduce("main", data, out, *PAPER))["paper chosen draw"]
    assert row["figures"] == ours(main_table[1])["paper chosen draw"]["figures"]


def test_weights_as_they_are_and_a_run_from_them_stand_in_the_same_table(data, tmp_path):
    words = ("--datasets", "NL-0", "--seeds", "0", "--epochs", 1)
    rows = ours(
        reproduce("known-relations", data, tmp_path, *words, "--run", "zero-shot",
                  "--preset", "ingram-q", "--from", "zero-shot")
    )  # fmt: skip
    assert "seeds" not in rows["zero-shot"]
    assert rows["ingram-q-from-zero-shot"]["budget"] == "1 epochs"
    kept = RunDirectory(tmp_path / "NL-0" / "ingram-q-from-zero-shot" / "seed-0")
    assert kept.metrics()[0]["epoch"] == 0


def test_settings_from_a_file_are_a_row_of_its_name(data, tmp_path, main_table):
    shutil.copy(main_table[0] / "NL-100/paper/seed-0/config.yaml", tmp_path / "tuned.yaml")
    words = ("--datasets", "NL-100", "--seeds", "5", "--config", tmp_path / "tuned.yaml")
    row = ours(reproduce("main", data, tmp_path / "out", *words))["tuned chosen draw"]
    assert row["seeds"] == [5]
    assert "budget" not in row


def test_each_dataset_is_tested_by_a_model_of_the_others(data, tmp_path):
    words = ("--preset", "ingram-q", "--seeds", "0", "--epochs", 1)
    entry = reproduce("cross", data, tmp_path, *words)
    rows = [row for row in entry["rows"] if row["method"].startswith("ingram-q-on-")]
    assert {row["dataset"]: row["method"] for row in rows} == {
        "NL-100": "ingram-q-on-FB-100+WK-75",
        "FB-100": "ingram-q-on-NL-100+WK-75",
        "WK-75": "ingram-q-on-NL-100+FB-100",
    }
    joint = RunDirectory(tmp_path / "FB-100+WK-75" / "ingram-q" / "seed-0")
    assert list(joint.metrics()[0]["by_graph"]) == ["FB-100", "WK-75"]
    assert rows[0]["seconds"] > 0
    assert rows[0]["budget"] == "short: 1 of 200 epochs"


def test_all_of_the_paper_by_one_command(data, tmp_path):
    words = ["--data", data, "-o", tmp_path, "--seeds", "0", "--epochs", 1, "--threads", 1]
    shown = ingram("reproduce", "all", *words, "--datasets", "NL-100,NL-50,NL-0")
    assert all(f"Table {n}" in shown for n in (1, 2, 3, 4, 5, 6))
    assert "more than luck?" in shown
    entries = json.loads((tmp_path / "all.json").read_text())["experiments"]
    assert list(entries) == [
        "main", "known-new", "known-relations", "ablation", "bins", "sizes",
    ]  # fmt: skip
    parts = {row["part"] for row in entries["known-new"]["rows"]}
    assert parts == {"known", "new"}
    ablation = {row["method"] for row in entries["ablation"]["rows"]}
    assert len([name for name in ablation if name.startswith("paper+")]) == 6
    assert {c["method"] for c in entries["bins"]["curves"]} == {"paper", "paper+bins-5"}
    runs = entries["bins"]["curves"][0]["runs"]
    assert (len(runs[0]), len(runs[0][0]), len(runs[0][0][0])) == (2, 8, 10)
    counted = entries["sizes"]["sizes"][0]
    assert counted["published"]["entities"] == 1258


def test_what_cannot_be_asked_is_refused_in_a_line(data, tmp_path, capsys):
    start = ("reproduce", "main", "--data", data, "-o", tmp_path)
    assert "no preset 'papr'" in user_error(capsys, *start, "--preset", "papr")
    assert "--seeds: want whole numbers" in user_error(capsys, *start, "--seeds", "0,a")
    assert "no experiment 'mian'" in user_error(capsys, "reproduce", "mian", "-o", tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    line = user_error(capsys, "reproduce", "main", "--data", empty, "-o", tmp_path)
    assert "want datasets such as NL-100" in line
    assert "--data" in line
