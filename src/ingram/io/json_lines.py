"""JSON Lines: an object a line, such as ``{"head": "a", "relation": "r", "tail": "b"}``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from ingram.errors import TriplesError
from ingram.io.columns import Picked, checked, no_columns, pick
from ingram.io.lines import line_blocks, lines_of, short, shown
from ingram.io.options import ReadOptions
from ingram.io.source import Source
from ingram.labels import FIELDS

_SURROGATE = r"\\u[dD][89a-fA-F]"
_HALF = re.compile("[\ud800-\udfff]")


def read_json_lines(source: Source, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """Blocks of labelled triples. Other keys are ignored; a number as a label is its text."""
    chosen, keys = None, []
    for first, block in line_blocks(source):
        lines = lines_of(source.name, first, block)
        lines = lines.filter(~pl.col("line").str.contains(r"^[ \t\r]*$"))
        if not len(lines):
            continue
        if chosen is None:
            keys = list(_object(source.name, *lines.row(0)))
            if options.asked and options.columns is None:
                keys += [field for field in FIELDS if field not in keys]
            chosen = pick(source.name, options, len(keys), keys)
            if chosen is None:
                raise no_columns(source.name, keys)
        yield _parse(source.name, lines, keys, chosen)


def _parse(name: str, lines: pl.DataFrame, keys: list[str], chosen: Picked) -> pl.DataFrame:
    wanted = [keys[i] for i in (*chosen.triple, chosen.weight) if i is not None]
    text = str(lines["line"].str.join("\n")[0])
    try:
        table = pl.read_ndjson(text.encode(), schema=dict.fromkeys(wanted, pl.String))
    except PolarsError as error:
        _check_each(name, lines, wanted)
        raise TriplesError(f"{name}: want JSON Lines, got {short(str(error))}") from error
    if len(table) != len(lines):
        raise TriplesError(f"{name}: want an object a line, got {len(table)} in {len(lines)} lines")
    # The parser makes text of a list or an object, and a NUL of half a surrogate pair.
    nested = table.select(pl.any_horizontal(pl.col(wanted).str.contains(r"^[\[{]"))).to_series()
    _check_each(name, lines.filter(nested | lines["line"].str.contains(_SURROGATE)), wanted)

    def trouble(row: int, what: str) -> TriplesError:
        number, line = lines.row(row)
        return TriplesError(f"{name}:{number}: {what}: {shown(line)}")

    return checked(table.select(chosen.take(keys)), trouble, asked=chosen.asked)


def _check_each(name: str, lines: pl.DataFrame, keys: list[str]) -> None:
    """Refuse the first line that is no object, or whose labels are no text."""
    for number, line in lines.iter_rows():
        values = _object(name, number, line)
        for key in keys:
            value = values.get(key)
            if isinstance(value, dict | list):
                raise TriplesError(f"{name}:{number}: want text as {key}, got {short(str(value))}")
            if isinstance(value, str) and _HALF.search(value):
                raise TriplesError(
                    f"{name}:{number}: want Unicode text as {key}, got half a surrogate pair: "
                    f"{shown(line)}"
                )


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise TriplesError(
            f"{name}:{number}: want a JSON object, got {short(str(error))}: {shown(line)}"
        ) from error
    if not isinstance(value, dict) or any(_HALF.search(key) for key in value):
        raise TriplesError(f"{name}:{number}: want a JSON object, got {shown(line)}")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name}, which JSON does not have")
