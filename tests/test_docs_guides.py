"""What the guides show, they do."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from ingram.cli import app
from ingram.datasets import open_graph
from ingram.serve.graphs import Shelf
from ingram.serve.limits import Limits
from ingram.serve.metrics import Metrics
from tests.serve.services import listening

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8000"


def run(page: str, address: str = ADDRESS) -> list[str]:
    """Do what a page shows, in its order; what each command or snippet printed."""
    printed, names = [], {"__name__": "page"}
    for kind, text in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        text = text.replace(ADDRESS, address)
        if kind == "python":
            exec(compile(text, page, "exec"), names)
            continue
        for line in text.splitlines():
            assert line.startswith("$ ")
            printed.append(command(shlex.split(line[2:], comments=True)))
    return printed


def command(words: list[str]) -> str:
    if words[0] == "curl":
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout
    assert words[0] == "ingram"
    if words[1] == "serve":  # runs until it is stopped: here, the words are understood
        get_command(app).commands["serve"].make_context("serve", words[2:])
        return ""
    result = CliRunner().invoke(app, words[1:], env={"COLUMNS": "120"})
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output


@pytest.fixture(autouse=True)
def facts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    triples = np.random.default_rng(0).integers(0, (40, 3, 40), (200, 3)).tolist()
    Path("facts.tsv").write_text("".join(f"e{h}\tr{r}\te{t}\n" for h, r, t in triples))


def test_the_first_five_minutes():
    printed = run("quickstart.md")
    assert "(Kenya, borders, ?)" in printed[0]
    assert "Kenya" in printed[2]
    assert "London" in printed[3]


def test_a_graph_of_your_own():
    printed = run("your-graph.md")
    assert "works_at" in printed[0]
    assert len(printed) == 7
    assert Path("tuned", "model.safetensors").exists()


def test_a_service_is_asked_as_the_page_shows(capsys):
    if shutil.which("curl") is None:
        pytest.skip("the page's examples are for curl, which is not installed")
    shelf = Shelf("zero-shot", Limits(), Metrics())
    shelf.put(shelf.prepared("world", open_graph("world")))
    with listening(shelf) as port:
        printed = run("serving.md", f"http://127.0.0.1:{port}")
    printed = [json.loads(text) for text in printed if text]
    assert not [answer for answer in printed if "error" in answer]
    assert len(printed[0]["answers"][0]) == 5
    assert printed[2]["rank"] == 1
    assert printed[3]["entities"][0]["label"] == "Nairobi"
    assert len(printed) == 7
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_page_lists_every_limit():
    text = (DOCS / "serving.md").read_text(encoding="utf-8")
    for name, field in Limits.model_fields.items():
        assert f"| `{name}` | {field.default:,} | {field.description} |" in text
