"""docs/reliability.md names the test of every promise."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)
    assert len(named) == PAGE.count("::test_") > 30
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in found, f"{file}::{name}"


def test_every_promise_names_a_test():
    tables = re.findall(
        r"^\| promise \| held by \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE
    )
    assert tables
    for row in "".join(tables).splitlines():
        assert "::test_" in row, row
