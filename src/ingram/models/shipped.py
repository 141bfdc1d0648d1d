"""Weights that come with the package, by name: wherever a run is asked for, the name will do."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ingram.errors import RunError
from ingram.io.tensors import read_about
from ingram.models.base import FORMAT, weights_path

ZERO_SHOT, EMBEDDING = "zero-shot", "zero-shot-embedding"
FOLDER = Path(str(files("ingram"))) / "shipped"


@dataclass(frozen=True)
class Shipped:
    """What is known of shipped weights: ``about`` of the weights, ``card`` in words."""

    name: str
    path: Path
    about: dict[str, Any]
    card: str

    @property
    def bytes(self) -> int:
        return weights_path(self.path).stat().st_size


def run_path(run: str | Path) -> Path:
    """The run directory at a path, or of shipped weights by their name. A path that exists wins."""
    path = Path(run)
    if path.exists() or str(run) not in names():
        return path
    return FOLDER / str(run)


def names() -> list[str]:
    """Of all shipped weights."""
    return sorted(child.name for child in FOLDER.iterdir() if (child / "config.yaml").exists())


def shipped(name: str) -> Shipped:
    """Shipped weights by name."""
    if name not in names():
        raise RunError(f"no shipped weights {name!r}; there are {', '.join(names()) or 'none'}")
    path = FOLDER / name
    about = read_about(weights_path(path), FORMAT)
    return Shipped(name, path, about, (path / "README.md").read_text(encoding="utf-8"))
