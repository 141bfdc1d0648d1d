"""What the guides show, they do: first answers, a graph of one's own, the service."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ingram.datasets import open_graph
from ingram.serve.graphs import Shelf
from ingram.serve.limits import Limits
from ingram.serve.metrics import Metrics
from tests.pages import run_page, text_of
from tests.serve.services import listening


@pytest.fixture(autouse=True)
def facts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    triples = np.random.default_rng(0).integers(0, (40, 3, 40), (200, 3)).tolist()
    Path("facts.tsv").write_text("".join(f"e{h}\tr{r}\te{t}\n" for h, r, t in triples))


def test_the_first_five_minutes(capsys):
    commands, printed = run_page("quickstart.md", capsys)
    assert commands == 6
    assert "(Kenya, borders, ?)" in printed
    assert "(Grace, lives_in, ?)" in printed


def test_a_graph_of_your_own(capsys):
    commands, printed = run_page("your-graph.md", capsys)
    assert commands == 7
    assert "(Claude, works_at, ?)" in printed
    assert Path("tuned", "model.safetensors").exists()


def test_a_service_is_asked_as_the_page_shows(capsys):
    if shutil.which("curl") is None:
        pytest.skip("the page's examples are for curl, which is not installed")
    shelf = Shelf("zero-shot", Limits(), Metrics())
    shelf.put(shelf.prepared("world", open_graph("world")))
    with listening(shelf) as port:
        _, printed = run_page("serving.md", capsys, {":8000": f":{port}"})
    lines = printed.splitlines()
    answers = [json.loads(line) for line in lines if line.startswith("{")]
    assert len(answers) == 7
    assert not [answer for answer in answers if "error" in answer]
    assert len(answers[0]["answers"][0]) == 5
    assert answers[2]["rank"] == 1
    assert answers[3]["entities"][0]["label"] == "Nairobi"
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1 ", "2 ", "3 "]
    assert [graph.name for graph in shelf] == ["world"]


def test_the_page_lists_every_limit():
    for name, field in Limits.model_fields.items():
        assert f"| `{name}` | {field.default:,} | {field.description} |" in text_of("serving.md")
