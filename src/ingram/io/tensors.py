"""Reading tensors from files that anyone may have written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from ingram.errors import RunError


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except FileNotFoundError as error:
        raise RunError(f"{path}: no such file") from error
    except (SafetensorError, OSError) as error:
        raise RunError(f"{path}: want a safetensors file, got {error}") from error


def checked_tensor(
    path: Path, tensors: dict[str, Tensor], name: str, shape: Sequence[int]
) -> Tensor:
    """One of the tensors, if it is there and has the wanted shape."""
    if name not in tensors:
        raise RunError(f"{path}: holds no tensor {name!r}")
    if tensors[name].shape != tuple(shape):
        raise RunError(
            f"{path}: {name} wants shape {tuple(shape)}, got {tuple(tensors[name].shape)}"
        )
    return tensors[name]
