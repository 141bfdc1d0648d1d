"""Run directories of earlier versions, read as if this one had written them.

Version 1 had two checkpoints, ``last`` to resume from and ``good`` to return to after a collapse,
and relied on ``model.safetensors`` for the best weights. The first checkpoint that is written
anew takes their place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from ingram.errors import RunError
from ingram.io.tensors import Shapes, check_shapes, read_tensors
from ingram.models.base import FORMAT as MODEL_FORMAT
from ingram.training.state import State

FORMAT_1 = "ingram-checkpoint-1"
OLD_NAMES = ("last.safetensors", "good.safetensors")


def load_old(run: Path, state: State, metrics: list[dict[str, Any]]) -> None:
    """The checkpoint of a run of version 1, with its lines of metrics, into ``state``."""
    last, good = (run / "checkpoints" / name for name in OLD_NAMES)
    if not last.exists():
        raise RunError(f"{run}: no checkpoint to resume from; train anew elsewhere")
    try:
        tensors, about = _moment(last, state)
        about["data"] = {use: about[use] for use in ("graphs", "validation") if use in about}
        progress = about["progress"]
        before = [record for record in metrics if record["epoch"] <= progress["epoch"]]
        progress["validations"] = len(before)
        if good.exists():
            earlier, then = _moment(good, state)
            about["good"] = {key: then["progress"][key] for key in ("epoch", "watch")}
            if then["progress"]["epoch"] != progress["epoch"]:
                tensors |= {f"good.{name}": tensor for name, tensor in earlier.items()}
        if (run / "model.safetensors").exists():
            best, made = _best(run / "model.safetensors", state)
            about["best"] = made["origin"]
            progress.setdefault("start", made["origin"].get("start"))
            tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
        state.unpack(tensors, about)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise RunError(f"{last}: its description cannot be read: {reason}") from error


def _moment(path: Path, state: State) -> tuple[dict[str, Tensor], dict[str, Any]]:
    def check(about: dict[str, Any], found: Shapes) -> None:
        must, may = state.shapes({"progress": about["progress"]})
        check_shapes(path, found, must, may)

    return read_tensors(path, FORMAT_1, check=check)


def _best(path: Path, state: State) -> tuple[dict[str, Tensor], dict[str, Any]]:
    def check(about: dict[str, Any], found: Shapes) -> None:
        check_shapes(path, found, {n: p.shape for n, p in state.model.named_parameters()})

    return read_tensors(path, MODEL_FORMAT, check=check)
