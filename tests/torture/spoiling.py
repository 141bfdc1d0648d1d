"""One thing changed in nested JSON."""

from __future__ import annotations

import copy
import random
from typing import Any

VALUES: list[Any] = [
    None, True, -1, 0, 10**30, 1e308, float("nan"), float("inf"), "", "x", "../../etc/passwd", [],
    [[]], {}, {"a": {}}, [1] * 50, "\x1b[2J", 100_000, 0.5, {"name": "ingram-q"},
]  # fmt: skip


def spoil(value: Any, rng: random.Random) -> None:
    """Change or delete something, somewhere inside."""
    while isinstance(value, dict | list) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        if isinstance(value[key], dict | list) and value[key] and rng.random() < 0.8:
            value = value[key]
            continue
        if rng.random() < 0.2:
            del value[key]
        else:
            value[key] = copy.deepcopy(rng.choice(VALUES))
        return
