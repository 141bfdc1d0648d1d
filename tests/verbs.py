"""The command line in tests: called as a user does, on a small dataset of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ingram.cli import app, main


def triples(prefix: str, relations: list[str], count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    lines = [f"{prefix}{i}\t{relations[i % len(relations)]}\t{prefix}{i + 1}" for i in range(19)]
    lines += [
        f"{prefix}{a}\t{relations[r]}\t{prefix}{b}"
        for a, r, b in zip(
            rng.integers(0, 20, count),
            rng.integers(0, len(relations), count),
            rng.integers(0, 20, count),
            strict=True,
        )
    ]
    return list(dict.fromkeys(lines))


def write_dataset(path: Path, seed: int = 0) -> None:
    """A folder of four files; the inference graph has a relation that training does not."""
    path.mkdir()
    (path / "train.txt").write_text("\n".join(triples("t", ["r", "s"], 60, seed)))
    inference = triples("i", ["r", "new"], 60, seed + 1)
    (path / "msg.txt").write_text("\n".join(inference[:40]))
    (path / "valid.txt").write_text("\n".join(inference[40:50]))
    (path / "test.txt").write_text("\n".join(inference[50:]))


def ingram(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result.stdout


def user_error(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """One line on standard error, status 2."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ingram", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
    assert exit_.value.code == 2
    return capsys.readouterr().err.strip().splitlines()[-1]
