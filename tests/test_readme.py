"""What the README shows, it does."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("epochs=200", "epochs=3"), "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "borders" in out
    assert "3584" in out  # 8 draws of 64 and a sketch of three times 128
    assert (tmp_path / "embeddings.parquet").exists()
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_every_command_shown_exists():
    from typer.main import get_command

    from ingram.cli import app

    verbs = set(get_command(app).commands)
    shown = set(re.findall(r"^ingram (\w+)", README.read_text(), re.MULTILINE))
    assert shown
    assert shown <= verbs
