"""Which columns of a table hold head, relation, tail and weight, and if their values will do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from ingram.errors import TriplesError
from ingram.io.lines import shown
from ingram.io.options import ReadOptions
from ingram.labels import FIELDS, WEIGHT

KNOWN_NAMES = (
    FIELDS,
    ("subject", "predicate", "object"),
    ("source", "relation", "target"),
)
"""Names that columns are found by, in any case and order, if the caller gives none."""


@dataclass(frozen=True)
class Picked:
    """Positions of head, relation and tail among ``width`` columns, and the weight's or None.

    ``asked``: whether a part may be empty.
    """

    triple: tuple[int, int, int]
    weight: int | None
    width: int
    asked: bool = False

    def take(self, columns: Sequence[str]) -> list[pl.Expr]:
        """The columns under the names of a triples table."""
        chosen = [pl.col(columns[i]).alias(f) for i, f in zip(self.triple, FIELDS, strict=True)]
        if self.weight is not None:
            chosen.append(pl.col(columns[self.weight]).alias(WEIGHT))
        return chosen


def named(names: Sequence[str]) -> tuple[int, int, int] | None:
    """Where the columns stand that have one of the known triples of names."""
    lowered = [name.strip().lower() for name in names]
    for known in KNOWN_NAMES:
        if all(lowered.count(name) == 1 for name in known):
            head, relation, tail = (lowered.index(name) for name in known)
            return head, relation, tail
    return None


def pick(
    where: str, options: ReadOptions, width: int, names: Sequence[str] | None
) -> Picked | None:
    """The wanted columns of a table that is ``width`` wide; None if it is not three wide.

    ``names`` are the table's own, or None if it has none. A column that is asked for and not
    there is an error.
    """
    weight = _weight(where, options, width, names)
    if options.columns is not None:
        head, relation, tail = (_position(where, c, width, names) for c in options.columns)
        return Picked((head, relation, tail), weight, width, options.asked)
    found = named(names) if names is not None else None
    if found is None:
        rest = [i for i in range(width) if i != weight]
        if len(rest) != 3:
            return None
        found = (rest[0], rest[1], rest[2])
    return Picked(found, weight, width, options.asked)


def _weight(
    where: str, options: ReadOptions, width: int, names: Sequence[str] | None
) -> int | None:
    if options.weight is False:
        return None
    if options.weight is not None:
        return _position(where, options.weight, width, names)
    lowered = [name.strip().lower() for name in names or ()]
    return lowered.index(WEIGHT) if lowered.count(WEIGHT) == 1 else None


def _position(where: str, column: str | int, width: int, names: Sequence[str] | None) -> int:
    if isinstance(column, int):
        if 0 <= column < width:
            return column
        raise TriplesError(
            f"{where}: no column {column}; there are {width}, and the first is column 0"
        )
    if names is not None and list(names).count(column) == 1:
        return list(names).index(column)
    raise TriplesError(f"{where}: no column {column!r}; {_listed(names)}")


def no_columns(where: str, names: Sequence[str]) -> TriplesError:
    """The error for a table of which no one can say what its columns are."""
    return TriplesError(
        f"{where}: want columns head, relation, tail (or three columns in all), "
        f"{_listed(names)}; say which with the option columns"
    )


def _listed(names: Sequence[str] | None) -> str:
    if not names:
        return "the columns have no names"
    short = [name if len(name) <= 40 else name[:37] + "..." for name in names[:8]]
    return f"got {', '.join(map(repr, short))}{', ...' if len(names) > 8 else ''}"


def checked(
    table: pl.DataFrame, trouble: Callable[[int, str], TriplesError], *, asked: bool = False
) -> pl.DataFrame:
    """A table of text columns if each label is there and each weight a positive number.

    ``asked``: a label may be missing. ``trouble`` makes the error for a row, from what is wrong
    with it: it knows where it came from.
    """
    empty = table.select(pl.col(FIELDS).fill_null("") == "")
    bad = empty.select(pl.any_horizontal(FIELDS).arg_true()).to_series()
    if len(bad) and not asked:
        row = bad[0]
        field = next(name for name in FIELDS if empty[name][row])
        raise trouble(row, f"want a label in each field, got none for the {field}")
    if WEIGHT not in table.columns:
        return table
    weights = table[WEIGHT].cast(pl.Float64, strict=False)
    good = (weights.is_finite() & (weights > 0)).fill_null(value=False)
    if not good.all():
        row = (~good).arg_true()[0]
        said = table[WEIGHT][row]
        said = shown("" if said is None else str(said))
        raise trouble(row, f"want a positive number as weight, got {said}")
    return table.with_columns(weights)
