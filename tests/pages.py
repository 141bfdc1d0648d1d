"""Pages of docs/ in tests: their snippets run in the order of the page, in a folder of their own.

A `txt NAME` block is a file that lies there from the beginning; of a `console` block each line is
a command, of ingram or of curl; what `python` blocks define, later ones know.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from ingram.cli import verb
from tests.verbs import ingram

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(console|python|txt) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def run_page(
    page: str, capsys: pytest.CaptureFixture[str], changes: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run every snippet; how many commands there were, and all that was printed.

    ``changes``: words to put others for, so that what takes long on the page is short.
    """
    blocks = BLOCK.findall(text_of(page))
    for kind, name, text in blocks:
        if kind == "txt":
            Path(name).write_text(text, encoding="utf-8")
    printed, commands, names = [], 0, {"__name__": "page"}
    for kind, _, text in blocks:
        for old, new in (changes or {}).items():
            text = text.replace(old, new)
        if kind == "python":
            exec(compile(text, page, "exec"), names)
            printed.append(capsys.readouterr().out)
        elif kind == "console":
            for line in text.splitlines():
                assert line.startswith(("$ ingram ", "$ curl ")), line
                printed.append(_run(*shlex.split(line, comments=True)[1:]))
                commands += 1
    return commands, "\n".join(printed)


def _run(program: str, *words: str) -> str:
    if program == "curl":
        return subprocess.run(
            [program, *words], capture_output=True, text=True, check=True, timeout=120
        ).stdout
    if words[0] == "serve":  # it would run until it is stopped: here, the words are understood
        verb("serve").make_context("serve", list(words[1:]))
        return ""
    return ingram(*words)
