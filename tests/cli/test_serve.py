"""``ingram serve`` as it is typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest
from tests.verbs import user_error


def test_without_the_extra_one_line_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "ingram.serve.running", raising=False)
    said = user_error(capsys, "serve", "world")
    assert said == "error: serving needs the package uvicorn: pip install 'ingram[serve]'"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["world", "--set", "size=3"], "no limit 'size'; known are k, reasons"),
        (["world", "--set", "k=many"], "limit k: Input should be a valid integer"),
        (["world", "--set", "seconds=0"], "limit seconds"),
        (["world", "--token", ""], "--token: want a word"),
        (["no/such/file.tsv"], "no/such/file.tsv"),
        (["zero-shot", "world", "world"], "another graph is called 'world' already"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(capsys, words, said):
    assert said in user_error(capsys, "serve", *words)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_one_word_is_a_graph_and_a_signal_stops_it_in_peace(tmp_path, stop):
    graph = tmp_path / "towns.tsv"
    graph.write_text("Nairobi\tcapital_of\tKenya\nKampala\tcapital_of\tUganda\n")
    command = [sys.executable, "-c", "from ingram.cli import main; main()"]
    with subprocess.Popen(
        [*command, "serve", str(graph), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    ) as service:
        address = service.stdout.readline().split()[0]
        body = {"questions": [{"tail": "Kenya", "relation": "capital_of"}], "k": 1}
        request = urllib.request.Request(
            f"{address}/predict",
            json.dumps(body).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            found = json.load(answer)
        service.send_signal(stop)
        _, said = service.communicate(timeout=300)
    assert service.returncode == 0
    assert said.splitlines()[-1] == "stopped"
    assert found["graph"] == "towns"
    assert found["answers"][0][0]["rank"] == 1
