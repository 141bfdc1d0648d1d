"""YAML that is data and nothing else."""

from __future__ import annotations

from typing import Any

import yaml

DEEPEST = 20


def plain_yaml(text: str) -> Any:
    """YAML without tags, which are code elsewhere, and without aliases: a few of them make a text
    of a page into one of gigabytes as soon as somebody prints it. Nor may it be deep: the parser's
    time grows with the square of the depth.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise ValueError("a tag or an alias, which settings have no use for")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"lists in lists, more than {DEEPEST} deep")
    return yaml.safe_load(text)
