"""What is printed can do nothing to the terminal it is printed on."""

import io
import json
import logging

import polars as pl
import pytest
from rich.console import Console
from tests.verbs import user_error
from typer.testing import CliRunner

from ingram.cli import app, screen
from ingram.cli.screen import answers_table, metrics_table, note, plain_table, print_json, printable

EVIL = [
    "<img src=x onerror=alert(1)>", "\x1b]0;title\x07\x1b[2J", "\x9b31m", "\u202egnp.exe", "a\rb",
    "[bold red]x[/]", "[/]", "[link=http://x]y[/link]", "x" * 10_000, "\u200f\u200b", ":smile:",
]  # fmt: skip


def printed(*things):
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=False)
    for thing in things:
        console.print(thing)
    return file.getvalue()


def harmless(text):
    return all(c.isprintable() or c == "\n" for c in text)


@pytest.mark.parametrize("label", EVIL, ids=range(len(EVIL)))
def test_a_label_in_a_table_or_its_title_is_text(label):
    columns = {"head": [label], "relation": [label], "tail": [label], "score": [0.5], "rank": [1]}
    answers = pl.DataFrame(columns)
    metrics = pl.DataFrame({"relation": [label], "mrr": [0.5]})
    tables = (
        answers_table(label, answers, "tail"),
        metrics_table(label, metrics, labels=1),
        plain_table(label, answers),
    )
    text = printed(*tables, printable(label))
    assert harmless(text)
    assert len(text) < 20_000  # of a label that stands there nine times
    shown = "".join(text.split()).replace("│", "")
    assert "".join(str(printable(label)).split())[:30] in shown


@pytest.mark.parametrize("label", EVIL, ids=range(len(EVIL)))
def test_json_says_the_label_itself_and_prints_nothing_odd(label, capsys):
    print_json({label: [label]})
    text = capsys.readouterr().out
    assert harmless(text)
    assert json.loads(text) == {label: [label]}


@pytest.mark.parametrize("label", EVIL, ids=range(len(EVIL)))
def test_a_note_is_one_harmless_line(label, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(screen, "error_console", Console(file=file, width=100))
    note(f"{label}: hello")
    assert harmless(file.getvalue())
    assert file.getvalue().count("\n") == 1


def test_an_error_that_quotes_a_file_is_harmless(tmp_path, capsys):
    file = tmp_path / "evil\x1b[2J\u202e.tsv"
    file.write_text("only one field\n")
    said = user_error(capsys, "data", "info", file)
    assert harmless(said)
    assert r"evil\x1b[2J\u202e.tsv" in said


def test_a_warning_that_quotes_a_file_is_harmless(tmp_path, monkeypatch):
    file = tmp_path / "evil\x1b[2J.tsv"
    file.write_text("a\tr\tb\na\tr\tb\nb\tr\tc\nc\tr\ta\n")
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    result = CliRunner().invoke(app, ["data", "info", str(file)])
    assert result.exit_code == 0
    assert r"evil\x1b[2J.tsv: dropped 1 duplicate" in result.stderr
    assert harmless(result.output)
