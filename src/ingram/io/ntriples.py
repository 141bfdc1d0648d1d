"""N-Triples and N-Quads: a triple a line.

Lines in the plain form that every tool writes are split by vectorised text operations. Whatever is
unusual in a line, be it right or wrong, is left to the RDF parser, so the result is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import polars as pl

from ingram.errors import TriplesError
from ingram.io.lines import ROWS, line_blocks, lines_of
from ingram.io.rdf_terms import Labels, faults, parser
from ingram.io.source import Source
from ingram.io.terms import terms
from ingram.labels import FIELDS, WEIGHT

_IRI = r'<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*>'
_BLANK = r"_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?"
_ESCAPE = r"""\\(?:[tbnrf"'\\]|u(?:[0-9A-CEFa-cef][0-9A-Fa-f]{3}|[dD][0-7][0-9A-Fa-f]{2}))"""
_LITERAL = rf'"(?:[^"\\\r]|{_ESCAPE})*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^{_IRI})?'
_NODE = rf"(?:{_IRI}|{_BLANK})"
_COMMENT = r"^[ \t]*(?:#.*)?$"


def read_line_rdf(source: Source, kind: str, labels: Labels) -> Iterator[pl.DataFrame]:
    """Blocks of triples as terms without brackets: ``kind`` is ``nt`` or ``nq``."""
    quads = kind == "nq"
    usual = rf"^{_NODE} {_IRI} {_NODE}{f'(?: {_NODE})?' if quads else ''} \.$"
    graph = rf"(?:[ \t]+{_NODE})?" if quads else ""
    spaced = rf"^[ \t]*{_NODE}[ \t]*{_IRI}[ \t]*{_NODE}{graph}[ \t]*\.[ \t]*$"
    literal = rf"^[ \t]*{_NODE}[ \t]*{_IRI}[ \t]*{_LITERAL}{graph}[ \t]*\.[ \t]*$"
    for first, block in line_blocks(source):
        lines = lines_of(source.name, first, block)
        found, rest = _parted(lines, usual)
        parts = [_split(found)]
        if len(rest):
            found, rest = _parted(rest, spaced)
            parts.append(_split(_tidied(found)))
        if len(rest) and not labels.keep_literals:
            found, rest = _parted(rest, literal)
            labels.literals += len(found)
        _, rest = _parted(rest, _COMMENT)
        if len(rest):
            parts.append(_parse(rest, kind, labels))
        if len(parts) > 1:
            parts = [pl.concat(parts).sort("number", maintain_order=True)]
        yield parts[0].select(FIELDS)


def _parted(lines: pl.DataFrame, pattern: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The lines that match, and the others."""
    matches = lines["line"].str.contains(pattern)
    return lines.filter(matches), lines.filter(~matches)


def _split(lines: pl.DataFrame) -> pl.DataFrame:
    """The terms of lines that hold one space after each, and no space or bracket inside."""
    fields = pl.col("line").str.split_exact(" ", 3).struct.rename_fields([*FIELDS, "rest"])
    table = lines.select("number", fields.alias("fields")).unnest("fields")
    return table.select("number", pl.col(FIELDS).str.strip_chars("<>"))


def _tidied(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines of nodes with one space after each term, the dot left out."""
    line = pl.col("line").str.strip_chars_end(" \t").str.strip_suffix(".")
    line = line.str.replace_all("<", " <", literal=True).str.replace_all(">", "> ", literal=True)
    return lines.with_columns(line.str.replace_all(r"[ \t]+", " ").str.strip_chars(" "))


def _parse(lines: pl.DataFrame, kind: str, labels: Labels) -> pl.DataFrame:
    """Lines by the parser: all at once if each gives one quad, else each alone."""
    numbers, texts = lines["number"].to_list(), lines["line"].to_list()
    text = "\n".join(texts)
    try:
        quads = [] if "\r" in text else list(parser(text.encode(), kind))
    except (SyntaxError, MemoryError):
        quads = []
    if len(quads) != len(texts):
        numbers, quads = _parse_each(labels.name, numbers, texts, kind)
    rows = [
        (number, *triple)
        for number, quad in zip(numbers, quads, strict=True)
        if (triple := labels(quad))
    ]
    schema = {"number": pl.Int64, **dict.fromkeys(FIELDS, pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row").cast({"number": lines.schema["number"]})


def _parse_each(
    name: str, numbers: list[int], texts: list[str], kind: str
) -> tuple[list[int], list[Any]]:
    """Quads and the lines they stand on. A line with a carriage return in it can give several."""
    places, quads = [], []
    for number, text in zip(numbers, texts, strict=True):
        with faults(name, kind, number):
            for quad in parser(text.encode(), kind):
                places.append(number)
                quads.append(quad)
    return places, quads


def write_ntriples(table: pl.DataFrame, file: IO[bytes]) -> None:
    """Triples as lines of N-Triples. Weights have no place there."""
    if WEIGHT in table.columns:
        raise TriplesError("N-Triples has no place for weights; write TSV or Parquet")
    for rows in table.iter_slices(ROWS):
        written = {}
        for field in FIELDS:
            labels = rows[field].unique()
            made = terms(labels, blanks=field != "relation")
            written[field] = rows[field].replace_strict(labels, made)
        line = pl.concat_str(*(pl.col(field) for field in FIELDS), separator=" ") + " ."
        text = str(pl.DataFrame(written).select(line.str.join("\n")).item())
        file.write(f"{text}\n".encode())
