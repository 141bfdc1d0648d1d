"""The command line as a user meets it, on a small dataset of its own."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.verbs import ingram, user_error, write_dataset
from typer.testing import CliRunner

from ingram.cli import app
from ingram.embeddings import Embeddings

SMALL = [
    "--set", "model.relation_hidden=16", "--set", "model.entity_hidden=16",
    "--set", "model.relation_heads=2", "--set", "model.entity_heads=2",
    "--set", "training.validate_every=5",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "tiny"
    write_dataset(path)
    return path


@pytest.fixture(scope="module")
def run(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    out = ingram("train", folder, "-o", path, "--epochs", 10, "--json", *SMALL)
    result = json.loads(out)
    assert result["stopped"] == "finished"
    assert result["epoch"] == 10
    return path


def test_a_run_directory_holds_all_it_should(run: Path):
    names = {p.name for p in run.iterdir()}
    assert names == {
        "config.yaml",
        "model.safetensors",
        "metrics.jsonl",
        "metrics.csv",
        "outcome.json",
        "report.html",
        "checkpoints",
        "calibration.json",
    }
    assert [json.loads(x)["epoch"] for x in (run / "metrics.jsonl").read_text().splitlines()] == [
        5,
        10,
    ]


def test_evaluate_prints_every_figure_and_breakdown(run: Path, folder: Path):
    out = ingram(
        "evaluate", run, folder, "--json", "--by", "side", "--by", "known", "--by", "relation",
        "--hits", 1, "--hits", 5,
    )  # fmt: skip
    result = json.loads(out)
    assert {"mr", "mrr", "hits@1", "hits@5", "amri", "queries"} <= set(result)
    assert {row["side"] for row in result["by"]["side"]} == {"head", "tail"}
    assert {row["relation"] for row in result["by"]["relation"]} <= {"r", "new"}
    queries = sum(row["queries"] for row in result["by"]["known"])
    assert queries == result["queries"]
    assert "MRR" in ingram("evaluate", run, folder, "--by", "relation", "--ties", "optimistic")


def test_embed_writes_a_table_that_scores_alike_when_read_back(
    run: Path, folder: Path, tmp_path: Path
):
    file = tmp_path / "vectors.parquet"
    ingram("embed", run, folder / "msg.txt", "-o", file, "--draws", 3)
    table = pl.read_parquet(file)
    assert table.columns[:3] == ["kind", "label", "vector"]
    embeddings = Embeddings.load(file)
    assert embeddings.width == 3 * (64 + 3 * 128)
    answers = embeddings.predict(head="i0", relation="new", k=3)
    printed = json.loads(
        ingram(
            "predict",
            run,
            folder / "msg.txt",
            "--head",
            "i0",
            "--relation",
            "new",
            "-k",
            3,
            "--draws",
            3,
            "--json",
        )
    )
    assert [row["tail"] for row in printed] == answers["tail"].to_list()
    assert [row["score"] for row in printed] == pytest.approx(answers["score"].to_list(), rel=1e-5)


def test_an_interrupted_run_goes_on_to_the_same_weights(run: Path, folder: Path, tmp_path: Path):
    path = tmp_path / "again"
    ingram("train", folder, "-o", path, "--epochs", 10, "--minutes", 0, "--json", *SMALL)
    assert not (path / "model.safetensors").exists()
    ingram("train", folder, "-o", path, "--resume", "--json")
    assert (path / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()


def test_a_single_file_says_that_it_is_no_inductive_test(folder: Path, tmp_path: Path):
    result = CliRunner().invoke(
        app,
        ["train", str(folder / "train.txt"), "-o", str(tmp_path / "r"), "--epochs", "5", *SMALL],
    )
    assert result.exit_code == 0
    assert "not an inductive test" in result.stderr.replace("\n", " ")
    assert "not an inductive test" in (tmp_path / "r" / "report.html").read_text().replace(
        "\n", " "
    )
    assert "MRR" in ingram("evaluate", tmp_path / "r", folder / "train.txt")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nowhere", "-o", "{tmp}/x"], "nowhere: no such file"),
        (["train", "{data}", "-o", "{run}"], "holds a run already"),
        (["train", "{data}", "-o", "{tmp}/x", "--set", "bins=3"], "did you mean model.bins?"),
        (["train", "{data}", "-o", "{tmp}/x", "--set", "model.bins=0"], "model.bins"),
        (["train", "{data}", "-o", "{tmp}/x", "--set", "nonsense"], "section.key=value"),
        (["train", "{data}", "-o", "{tmp}/x", "--preset", "best"], "known are default, paper"),
        (["train", "{data}", "-o", "{tmp}/x", "--resume"], "config.yaml"),
        (["evaluate", "{tmp}", "{data}"], "want a run directory"),
        (["evaluate", "{run}", "{data}", "--split", "train"], "known are test, valid"),
        (["evaluate", "{run}", "{data}", "--by", "colour"], "no breakdown 'colour'"),
        (["predict", "{run}", "{data}", "--relation", "new", "--head", "i00"], "did you mean"),
        (["embed", "{run}", "{data}", "-o", "{tmp}/no/where.parquet"], "no folder"),
    ],
)
def test_a_users_error_is_one_line_and_status_2(arguments, said, run, folder, tmp_path, capsys):
    filled = [a.format(data=folder, run=run, tmp=tmp_path) for a in arguments]
    assert said in user_error(capsys, *filled)


def test_a_users_error_leaves_the_process_without_a_traceback():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from ingram.cli import main; main()",
            "train",
            "nowhere",
            "-o",
            "x",
        ],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: nowhere: no such file")


def test_version_and_help():
    assert ingram("--version").startswith("ingram 0.")
    for verb in ("train", "evaluate", "embed", "predict", "demo"):
        assert verb in ingram("--help")
        assert "Usage" in ingram(verb, "--help")


def test_embed_and_similar_take_a_graph_alone(tmp_path: Path):
    file = tmp_path / "vectors.parquet"
    ingram("embed", "world", "-o", file, "--draws", 2)
    embeddings = Embeddings.load(file)
    assert embeddings.width == 2 * (64 + 3 * 128)
    assert embeddings.made["seed"] == 0
    near = json.loads(ingram("similar", "world", "--entity", "Kenya", "-k", 3, "--json"))
    assert len(near) == 3
