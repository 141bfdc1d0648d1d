"""How a file of triples is read, as one value that travels from the caller to the reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

from ingram.errors import TriplesError
from ingram.io.formats import RDF, TABLES, WITH_PREFIXES, named_format

MEANT_FOR = {
    "columns": TABLES,
    "header": ("tsv", "csv"),
    "weight": TABLES,
    "literals": RDF,
    "base": WITH_PREFIXES,
}
"""Formats of which an option says something; one that is not here suits all."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file of triples is read; the file itself decides what is left out.

    format: ``tsv``, ``csv``, ``parquet``, ``jsonl``, ``nt``, ``nq``, ``ttl``, ``rdfxml`` or
    ``trig``; without it the suffix decides, and no known suffix means TSV. Any of them may be
    compressed: ``.gz``, ``.zst``, ``.bz2``.

    Of a table: columns are the names or positions (from 0) of head, relation and tail. header says
    whether the first record names the columns; CSV finds out by itself. weight is the name or
    position of the column of how often a triple counts in the relation graph; one that is named
    ``weight`` is found by itself, False ignores it.

    Of RDF: literals keeps triples whose object is a literal; base is what relative IRIs are
    relative to.

    limit: the most bytes that the input may unpack to, in place of a hundred times its size.
    """

    format: str | None = None
    columns: Sequence[str | int] | None = None
    header: bool | None = None
    weight: str | int | bool | None = None
    literals: bool = False
    base: str | None = None
    limit: int | None = None

    asked: ClassVar[bool] = False
    """Whether a part of a triple may be empty."""

    def __post_init__(self) -> None:
        if self.format is not None:
            object.__setattr__(self, "format", named_format(self.format))
        if self.columns is not None:
            if isinstance(self.columns, str) or len(self.columns) != 3:
                raise TriplesError(
                    "columns: want three names or positions, of head, relation and tail, "
                    f"got {self.columns!r}"
                )
            object.__setattr__(self, "columns", tuple(self.columns))
        if self.weight is True:
            raise TriplesError("weight: want the name or position of a column, got True")
        if self.limit is not None and self.limit < 1:
            raise TriplesError(f"limit: want a number of bytes above 0, got {self.limit}")

    @property
    def given(self) -> list[str]:
        """The names of the options that are not left to the file."""
        return [f.name for f in fields(self) if getattr(self, f.name) is not f.default]

    @property
    def by_name(self) -> bool:
        """Whether only a header can say which columns are meant."""
        return any(isinstance(c, str) for c in (*(self.columns or ()), self.weight))

    @property
    def weighted(self) -> bool:
        """Whether a column of weights is asked for."""
        return self.weight is not None and self.weight is not False

    def insist_on_use(self, where: str, kind: str) -> None:
        """Refuse an option that says nothing of a format, rather than pass it over."""
        for name in self.given:
            if kind not in MEANT_FOR.get(name, (kind,)):
                raise TriplesError(
                    f"{where}: the option {name} is for {', '.join(MEANT_FOR[name])}, got {kind}"
                )


class QueryOptions(ReadOptions):
    """The same of questions, in which the part that is asked for may be empty."""

    asked: ClassVar[bool] = True


WHOLE = re.compile("[0-9]{1,18}")


def column_of(word: str) -> str | int:
    """A name or a position. A column whose name is a number or has a comma goes by position."""
    word = word.strip()
    return int(word) if WHOLE.fullmatch(word) else word


AS_IT_IS = ReadOptions()
"""Everything is left to the file."""
