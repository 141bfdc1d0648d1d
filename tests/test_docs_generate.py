"""What docs/generate.md shows, it does."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ingram.cli import data, data_make
from ingram.cli.data import data_app

PAGE = (Path(__file__).parent.parent / "docs" / "generate.md").read_text(encoding="utf-8")


def test_every_snippet_runs_in_the_order_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = 0
    for language, text in re.findall(r"```(console|python)\n(.*?)```", PAGE, re.DOTALL):
        if language == "python":
            exec(compile(text, "docs/generate.md", "exec"), {})
            continue
        for line in text.splitlines():
            assert line.startswith("$ ingram data ")
            result = CliRunner().invoke(data_app, shlex.split(line)[3:])
            assert result.exit_code == 0, (line, result.output, result.exception)
            commands += 1
    assert commands == 9
    out = capsys.readouterr().out
    assert "of the inference graph's triples have new relations" in out
    assert "no model can expect a test MRR above 0.8" in out
    assert {"cut", "sized", "own", "toy", "cut.html"} <= {p.name for p in tmp_path.iterdir()}


@pytest.mark.parametrize("option", sorted(set(re.findall(r"(?<!\S)`?(--[a-z-]+)", PAGE))))
def test_every_option_named_exists(option):
    source = Path(data_make.__file__).read_text(encoding="utf-8")
    source += Path(data.__file__).read_text(encoding="utf-8")
    assert option in source or option.removeprefix("--").replace("-", "_") + ":" in source
