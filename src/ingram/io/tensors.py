"""Tensors on disk, as safetensors: reading executes nothing, whoever wrote the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ingram.errors import RunError
from ingram.io.atomic import replacing

KEY = "ingram"


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """Write tensors and a description, which must have a ``format``.

    The description is one entry of the metadata: several would stand in an order that differs
    from file to file, and equal runs should leave equal bytes.
    """
    with replacing(path) as temporary:
        save_file(tensors, temporary, {KEY: json.dumps(about)})


def read_tensors(
    path: Path, wanted: str, *, tensors: bool = True
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors (none if not asked for) and description of a file of format ``wanted``."""
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {}).get(KEY, "{}"))
            if not isinstance(about, dict) or about.get("format") != wanted:
                found = about.get("format") if isinstance(about, dict) else about
                raise RunError(f"{path}: want format {wanted!r}, got {found!r}")
            names = file.keys() if tensors else ()
            return {name: file.get_tensor(name) for name in names}, about
    except FileNotFoundError as error:
        raise RunError(f"{path}: no such file") from error
    except (SafetensorError, OSError, ValueError) as error:
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
