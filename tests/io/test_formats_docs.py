"""The snippets of docs/formats.md run, and print what the page says they print."""

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ingram.cli import app
from ingram.io import ReadOptions
from ingram.io.formats import COMPRESSIONS, FORMATS

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
BLOCK = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_snippets_print_what_the_page_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyoxigraph")
    pytest.importorskip("networkx")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    checked = commands = 0
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            assert capsys.readouterr().out == ""  # what a snippet prints, the page shows
            exec(compile(text, str(PAGE), "exec"), names)
        elif kind == "console":
            commands += len(text.splitlines())
            for line in text.splitlines():
                ingram(line)
        else:
            assert capsys.readouterr().out == text
            checked += 1
    assert checked == 5
    assert commands == 8


def ingram(line: str) -> None:
    """Run a line such as ``$ ingram data info - < file``."""
    words, _, file = line.partition(" < ")
    assert words.startswith("$ ingram ")
    given = Path(file).read_bytes() if file else None
    result = CliRunner().invoke(app, shlex.split(words)[2:], input=given)
    assert result.exit_code == 0, (line, result.output, result.exception)


def test_the_page_names_every_option():
    text = PAGE.read_text(encoding="utf-8")
    for field in fields(ReadOptions):
        assert f"| `{field.name}=" in text
        assert f"`--{field.name}" in text


def test_the_page_names_every_format():
    text = PAGE.read_text(encoding="utf-8")
    for name, suffixes in FORMATS.items():
        assert f"| `{name}`" in text
        for suffix in suffixes:
            assert f"`{suffix}`" in text
    for suffix in COMPRESSIONS:
        assert f"`{suffix}`" in text
