"""Tensors on disk, as safetensors: reading executes nothing, whoever wrote the file.

A file carries a description and a checksum over all it holds. Names and shapes are looked at before
anything is read, so a file can make nobody allocate more than its own size.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ingram.errors import RunError
from ingram.io.atomic import write_bytes

KEY, SUM = "ingram", "sum"
FLOATS = ("F16", "BF16", "F32", "F64")

Shapes = Mapping[str, Sequence[int]]
Check = Callable[[dict[str, Any], Shapes], None]


def write_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    """Write tensors and a description, which must have a ``format``.

    The description is one entry of the metadata: several would stand in an order that differs
    from file to file, and equal runs should leave equal bytes.
    """
    about = {**about, SUM: _sum(tensors, about)}
    write_bytes(path, save(tensors, {KEY: json.dumps(about)}))


def read_about(path: Path, *formats: str) -> dict[str, Any]:
    """The description of a file of one of the formats."""
    with _opened(path, formats) as (_, about):
        return about


def read_tensors(
    path: Path, *formats: str, check: Check | None = None
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and description of a file of one of the formats.

    ``check`` is given the description and the shapes, and raises what it does not want to be read.
    Formats of version 1 began without checksums; one that is there must hold.
    """
    with _opened(path, formats) as (file, about):
        names = list(file.keys())
        if check is not None:
            entries = {name: file.get_slice(name) for name in names}
            for name, entry in entries.items():
                if entry.get_dtype() not in FLOATS:
                    raise RunError(f"{path}: {name[:60]!r} wants floats, got {entry.get_dtype()}")
            check(about, {name: entry.get_shape() for name, entry in entries.items()})
        tensors = {name: file.get_tensor(name) for name in names}
    found = about.pop(SUM, None)
    unsummed = found is None and about["format"].endswith("-1")
    if not unsummed and found != _sum(tensors, about):
        raise RunError(f"{path}: is damaged: its content is not what its checksum says")
    return tensors, about


@contextmanager
def _opened(path: Path, formats: Sequence[str]) -> Iterator[tuple[Any, dict[str, Any]]]:
    try:
        if path.exists() and not path.is_file():  # a pipe would make us wait for ever
            raise RunError(f"{path}: want a safetensors file, got another thing")
        with safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {}).get(KEY, "{}"))
            found = about.get("format") if isinstance(about, dict) else about
            if found not in formats:
                wanted = " or ".join(map(repr, formats))
                raise RunError(f"{path}: want format {wanted}, got {repr(found)[:80]}")
            yield file, about
    except FileNotFoundError as error:
        raise RunError(f"{path}: no such file") from error
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:160]
        raise RunError(f"{path}: want a safetensors file, got {reason}") from error


def check_shapes(path: Path, found: Shapes, wanted: Shapes, optional: Shapes | None = None) -> None:
    """Every wanted tensor is there and has its shape, and no other one is there."""
    every = {**wanted, **(optional or {})}
    for name in wanted:
        if name not in found:
            raise RunError(f"{path}: holds no tensor {name!r}")
    for name, shape in found.items():
        if name not in every:
            raise RunError(f"{path}: want no tensor {name[:60]!r}, got one")
        if tuple(shape) != tuple(every[name]):
            raise RunError(f"{path}: {name} wants shape {tuple(every[name])}, got {tuple(shape)}")


def _sum(tensors: dict[str, Tensor], about: dict[str, Any]) -> str:
    total = hashlib.sha256(json.dumps(about).encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        total.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        total.update(tensor.numpy().tobytes())
    return total.hexdigest()
