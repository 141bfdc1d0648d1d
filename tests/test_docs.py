"""What the pages of docs/ show, they do."""

import re
from pathlib import Path

import polars as pl
import pytest
from typer.main import get_command

from ingram.cli import app
from tests.pages import run_page, text_of

SMALL = (
    "--epochs 4 --set model.relation_hidden=16 --set model.entity_hidden=16 "
    "--set model.relation_heads=2 --set model.entity_heads=2"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_asking_runs(capsys):
    commands, printed = run_page("asking.md", capsys, {"--epochs 1000": SMALL})
    assert commands == 18
    assert printed.count("shape: ") == 4
    answers = pl.read_parquet("answers.parquet")
    assert answers.columns == [
        "query", "head", "relation", "tail", "score", "rank", "probability",
    ]  # fmt: skip
    assert answers["query"].unique().sort().to_list() == [1, 2, 3]
    assert len(Path("missing.tsv").read_text().splitlines()) == 100
    assert len(Path("scores.jsonl").read_text().splitlines()) == 2


def test_explaining_runs(folder, capsys):
    commands, printed = run_page("explaining.md", capsys)
    assert commands == 6
    assert "1. Kenya " in printed
    assert "by affinities" in " ".join(printed.split())  # a long title is broken
    assert {"why.html", "why.svg", "relations.graphml", "relations.html"} <= {
        p.name for p in folder.iterdir()
    }


def test_vectors_runs(capsys):
    commands, printed = run_page("vectors.md", capsys, {"--epochs 1000": SMALL})
    assert commands == 9
    assert "in the right part of the world" in printed
    assert "facts changed about 2 entities" in printed
    assert "best answers" in printed
    scores = set(re.findall(r"^\w+ \d+ (tensor.*)$", printed, re.MULTILINE))
    assert len(scores) == 1  # of four formats


def test_generate_runs(folder, capsys):
    commands, printed = run_page("generate.md", capsys)
    assert commands == 9
    assert "of the inference graph's triples have new relations" in printed
    assert "no model can expect a test MRR above 0.8" in printed
    assert {"cut", "sized", "own", "toy", "cut.html"} <= {p.name for p in folder.iterdir()}


def options_of(command) -> set[str]:
    """Of a command and of those below it."""
    own = {word for p in command.params for word in (*p.opts, *p.secondary_opts, "--help")}
    below = getattr(command, "commands", {})
    return own.union(*(options_of(command.get_command(None, name)) for name in below))


@pytest.mark.parametrize(
    "page",
    [
        "asking.md",
        "experiments.md",
        "explaining.md",
        "generate.md",
        "quickstart.md",
        "vectors.md",
        "your-graph.md",
    ],
)
def test_every_option_named_exists(page):
    named = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", text_of(page)))
    assert named <= options_of(get_command(app))
