"""Where numbers stopped being finite."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from ingram.errors import DivergedError
from ingram.models.base import not_finite


def bad_gradient(model: nn.Module, norm: float) -> str | None:
    """The parameter whose gradient is not finite. Backward goes from the last to the first, so the
    last of them is where it began.

    ``norm`` is the norm of all gradients; it may be infinite though each gradient is finite.
    """
    if math.isfinite(norm):
        return None
    bad = [n for n, p in model.named_parameters() if p.grad is not None and _is_bad(p.grad)]
    return f"the gradient of {bad[-1]}" if bad else None


def origin_of_loss(model: nn.Module, losses: Iterator[Tensor], step: int) -> str:
    """Where the loss of an optimiser step stopped being finite: its epoch is computed again."""
    return _first_bad_layer(model, lambda: next(islice(losses, step, None))) or "the loss itself"


def origin_of_scores(model: nn.Module, validate: Callable[[], Any]) -> str:
    """Where the scores of a validation stopped being finite: it is computed again."""
    return _first_bad_layer(model, validate) or "the scores"


@torch.no_grad()
def _first_bad_layer(model: nn.Module, compute: Callable[[], Any]) -> str | None:
    if name := not_finite(model):
        return name
    found: list[str] = []

    def watch(name: str) -> Callable[..., None]:
        def look(module: nn.Module, inputs: Any, output: Any) -> None:
            outputs = output if isinstance(output, tuple) else (output,)
            if not found and any(_is_bad(o) for o in outputs):
                found.append(name)

        return look

    hooks = [m.register_forward_hook(watch(n)) for n, m in model.named_modules() if n]
    try:
        compute()
    except DivergedError:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    return _with_largest_weight(model, found[0]) if found else None


def _with_largest_weight(model: nn.Module, layer: str) -> str:
    """A layer overflows because of what is large in it."""
    sizes = {
        f"{layer}.{name}": parameter.abs().max().item()
        for name, parameter in model.get_submodule(layer).named_parameters()
    }
    if not sizes:
        return layer
    largest = max(sizes, key=lambda name: sizes[name])
    return f"{layer}, whose largest weight is {sizes[largest]:.3g} in {largest}"


def _is_bad(value: Any) -> bool:
    return isinstance(value, Tensor) and not bool(value.isfinite().all())
