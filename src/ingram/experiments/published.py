"""The figures of the paper, as data: tables 1 to 4, and the best published since."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

OURS = "InGram"
"""The paper's own method among the published rows."""
Figures = dict[str, float]
"""Of ``mr``, ``mrr``, ``hits@10`` and ``hits@1``, those that a table states."""


@cache
def _published() -> dict[str, Any]:
    text = (files("ingram.experiments") / "published.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def citation() -> str:
    """Where the figures are from."""
    return str(_published()["citation"])


def methods(dataset: str) -> dict[str, Figures]:
    """Tables 1 and 3: each method's figures on a dataset, in the order of the tables."""
    return dict(_published()["main"].get(dataset, {}))


def known_and_new(dataset: str) -> dict[str, dict[str, Figures]]:
    """Table 2: by method, the figures of ``known`` and of ``new`` relations."""
    return dict(_published()["known-new"].get(dataset, {}))


def ablation(variant: str, dataset: str) -> Figures:
    """Table 4: InGram ``full``, or with one part changed."""
    return dict(_published()["ablation"].get(variant, {}).get(dataset, {}))


def best_since(dataset: str) -> Figures:
    """The best of several later methods in each figure: an envelope, not one method."""
    return dict(_published()["since"]["figures"].get(dataset, {}))
