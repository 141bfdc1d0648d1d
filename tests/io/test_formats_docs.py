"""The snippets of docs/formats.md run, and print what the page says they print."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_snippets_print_what_the_page_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyoxigraph")
    pytest.importorskip("networkx")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    checked = 0
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            assert capsys.readouterr().out == ""  # what a snippet prints, the page shows
            exec(compile(text, str(PAGE), "exec"), names)
        else:
            assert capsys.readouterr().out == text
            checked += 1
    assert checked == 5


def test_the_page_names_every_format():
    from ingram.io.formats import COMPRESSIONS, FORMATS

    text = PAGE.read_text(encoding="utf-8")
    for name, suffixes in FORMATS.items():
        assert f"| `{name}`" in text
        for suffix in suffixes:
            assert f"`{suffix}`" in text
    for suffix in COMPRESSIONS:
        assert f"`{suffix}`" in text
