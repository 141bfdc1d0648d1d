"""RDF: N-Triples, N-Quads, Turtle, RDF/XML and TriG, by streaming."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from ingram.errors import TriplesError
from ingram.io.formats import RDF, format_of
from ingram.io.lines import shown
from ingram.io.ntriples import read_line_rdf
from ingram.io.rdf_terms import Labels, faults, parser
from ingram.io.source import Source, opened
from ingram.io.terms import labels_of
from ingram.labels import FIELDS

ROWS = 2**17
ENTITY = 256
"""Bytes of the longest XML entity: a namespace fits, a bomb does not."""

_MARK = b"<!ENTITY"
_DECLARATION = re.compile(
    rb"<!ENTITY\s+[^\s\"'&]{1,64}\s+(?:\"[^\"&]{0,%d}\"|'[^'&]{0,%d}')\s*>" % (ENTITY, ENTITY)
)

log = logging.getLogger(__name__)


def read_rdf(
    source: Source, kind: str, *, literals: bool = False, base: str | None = None
) -> Iterator[pl.DataFrame]:
    """Blocks of labelled triples. Those with a literal as object are left out, and counted."""
    labels = Labels(source.name, kind, keep_literals=literals)
    if kind in ("nt", "nq"):
        read = read_line_rdf(source, kind, labels)
    else:
        read = _read_tree(source, kind, base, labels)
    for block in read:
        yield block.select(
            labels_of(block["head"]),
            labels_of(block["relation"], blanks=False),
            labels_of(block["tail"]),
        )
    if labels.literals:
        log.warning(
            "%s: skipped %d triples whose object is a literal", source.name, labels.literals
        )
    if labels.quoted:
        log.warning("%s: skipped %d triples about triples", source.name, labels.quoted)


def _read_tree(
    source: Source, kind: str, base: str | None, labels: Labels
) -> Iterator[pl.DataFrame]:
    with faults(source.name, kind):
        rows = filter(None, map(labels, parser(_stream(source, kind), kind, base)))
        while batch := list(islice(rows, ROWS)):
            columns = dict(zip(FIELDS, zip(*batch, strict=True), strict=True))
            yield pl.DataFrame(columns, schema=dict.fromkeys(FIELDS, pl.String))


def _stream(source: Source, kind: str) -> io.BufferedReader:
    return io.BufferedReader(_Entities(source) if kind == "rdfxml" else source, 2**20)


def read_prefixes(path: str | Path, *, format: str | None = None) -> dict[str, str]:  # noqa: A002
    """The prefixes that a Turtle, TriG or RDF/XML file declares before its first triple."""
    kind = format_of(path, format)
    if kind not in RDF:
        raise TriplesError(f"{path}: want RDF, got {kind}")
    with opened(path) as source, faults(source.name, kind):
        quads = parser(_stream(source, kind), kind)
        next(quads, None)
        return dict(quads.prefixes)


class _Entities(io.RawIOBase):
    """XML as it comes, if its entities are short and none stands inside another.

    Entities in entities let a kilobyte of XML stand for a terabyte of text.
    """

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._tail = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._source.readinto(buffer)
        window = self._tail + bytes(buffer[:count])
        place = window.find(_MARK)
        while place >= 0:
            if not _DECLARATION.match(window, place):
                if count and len(window) - place < ENTITY + 128:
                    break  # it goes on in what is read next
                raise TriplesError(
                    f"{self._source.name}: want XML entities of at most {ENTITY} characters, "
                    "with no other entity inside, got "
                    f"{shown(window[place : place + 60].decode(errors='replace'))}"
                )
            place = window.find(_MARK, place + 1)
        self._tail = window[place:] if place >= 0 else window[-len(_MARK) :]
        return count
