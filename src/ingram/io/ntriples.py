"""N-Triples and N-Quads: a triple a line.

Lines in the plain form that every tool writes are split by vectorised text operations. Whatever is
unusual in a line, be it right or wrong, is left to the RDF parser, so the result is the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ingram.errors import TriplesError
from ingram.io.columns import FIELDS
from ingram.io.lines import line_blocks, lines_of
from ingram.io.rdf_terms import Skipped, parsed_line
from ingram.io.source import Source
from ingram.io.terms import terms

_IRI = r'<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*>'
_BLANK = r"_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?"
_ESCAPE = r"""\\(?:[tbnrf"'\\]|u(?:[0-9A-CEFa-cef][0-9A-Fa-f]{3}|[dD][0-7][0-9A-Fa-f]{2}))"""
_LITERAL = rf'"(?:[^"\\\r]|{_ESCAPE})*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^{_IRI})?'
_SUBJECT = rf"^(?:{_IRI}|{_BLANK})[ \t]{_IRI}[ \t]"
_COMMENT = r"^[ \t]*(?:#.*)?$"


def read_line_rdf(source: Source, kind: str, skipped: Skipped) -> Iterator[pl.DataFrame]:
    """Blocks of triples as terms without brackets: ``kind`` is ``nt`` or ``nq``."""
    graph = rf"(?:[ \t](?:{_IRI}|{_BLANK}))?" if kind == "nq" else ""
    nodes = rf"{_SUBJECT}(?:{_IRI}|{_BLANK}){graph}[ \t]\.$"
    literals = rf"{_SUBJECT}{_LITERAL}{graph}[ \t]\.$"
    for first, block in line_blocks(source):
        lines = lines_of(source.name, first, block)
        plain = lines["line"].str.contains(nodes)
        fast = _split(lines.filter(plain))
        rest = lines.filter(~plain)
        if not skipped.keep_literals:
            is_literal = rest["line"].str.contains(literals)
            skipped.literals += int(is_literal.sum())
            rest = rest.filter(~is_literal)
        rest = rest.filter(~pl.col("line").str.contains(_COMMENT))
        if len(rest):
            slow = _parse(source.name, rest, kind, skipped)
            fast = pl.concat([fast, slow]).sort("number", maintain_order=True)
        yield fast.select(FIELDS)


def _split(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines whose terms hold no space and no angle bracket."""
    fields = (
        pl.col("line").str.replace_all("\t", " ", literal=True).str.split_exact(" ", 3)
    ).struct.rename_fields([*FIELDS, "rest"])
    table = lines.select("number", fields.alias("fields")).unnest("fields")
    return table.select("number", pl.col(FIELDS).str.strip_chars("<>"))


def _parse(name: str, lines: pl.DataFrame, kind: str, skipped: Skipped) -> pl.DataFrame:
    rows = [
        (number, *triple)
        for number, line in lines.iter_rows()
        for triple in parsed_line(name, number, line, kind, skipped)
    ]
    schema = {"number": pl.Int64, **dict.fromkeys(FIELDS, pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row").cast({"number": lines.schema["number"]})


def ntriples_lines(table: pl.DataFrame) -> bytes:
    """Triples as lines of N-Triples. Weights have no place there."""
    if "weight" in table.columns:
        raise TriplesError("N-Triples has no place for weights; write TSV or Parquet")
    written = {}
    for field in FIELDS:
        labels = table[field].unique()
        made = terms(labels, blanks=field != "relation")
        written[field] = table[field].replace_strict(labels, made)
    line = pl.concat_str(*(pl.col(field) for field in FIELDS), separator=" ") + " ."
    text = str(pl.DataFrame(written).select(line.str.join("\n")).item())
    return f"{text}\n".encode()
