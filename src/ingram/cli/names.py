"""IRIs on the screen: short where a prefix is known, and understood when they are typed so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from ingram.io import prefixes
from ingram.io.folder import declared_prefixes
from ingram.io.options import ReadOptions
from ingram.labels import Vocabulary

_declared: ContextVar[Callable[[], Mapping[str, str]]] = ContextVar("declared", default=dict)


@contextmanager
def prefixes_of(paths: Iterable[str | Path], reading: ReadOptions) -> Iterator[None]:
    """Name IRIs as these files do; they are opened for it when the first label is shown."""

    @cache
    def declared() -> Mapping[str, str]:
        return {k: v for path in paths for k, v in declared_prefixes(path, reading).items()}

    token = _declared.set(declared)
    try:
        yield
    finally:
        _declared.reset(token)


def short(label: str) -> str:
    """A label as it is shown."""
    return prefixes.shorten(label, _declared.get()())


def meant(word: str, vocabulary: Vocabulary) -> str:
    """The label that was typed, or the IRI that it is short for."""
    return prefixes.meant(word, vocabulary, _declared.get()())
