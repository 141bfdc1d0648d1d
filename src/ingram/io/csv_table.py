"""Comma-separated triples, by the rules of RFC 4180: quoted fields may hold commas and line ends.

A block of text is first matched as a whole against the grammar, so that the parser sees only
records of one width, and the place of a fault is sought only when there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from ingram.errors import TriplesError
from ingram.io.columns import Picked, checked, named, no_columns, pick
from ingram.io.lines import BOM, LINE, chunks, not_utf8, shown
from ingram.io.options import ReadOptions
from ingram.io.source import Source

WIDE = 50
"""Columns beyond which records are counted one by one: a pattern of so many would be too large."""

_QUOTED = r'"[^"]*(?:""[^"]*)*"'
_PLAIN = r'[^",\r\n]*'
_FIELD = re.compile(f"{_QUOTED}|{_PLAIN}")
_END = re.compile(r"\r?(?:\n|\Z)")


def read_csv(source: Source, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """Blocks of labelled triples. Rows without any value are skipped."""
    picked = None
    for first, block in _record_blocks(source):
        try:
            text = block.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(source.name, first, block, error) from error
        if picked is None:
            records = _Records(source.name, text, first)
            start = next((fields for fields in records if any(fields)), None)
            if start is None:
                continue
            picked, is_header = _begin(source.name, start, options, records.number)
            if is_header:
                text, first = text[records.place :], records.next_number
        yield _parse(source.name, text, first, picked)


def _record_blocks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole records: a line end is a record's end after an even number of quotes."""
    number, rest = 1, b""
    for index, chunk in enumerate(chunks(source)):
        block = rest + (chunk.removeprefix(BOM) if index == 0 else chunk)
        cut = _last_end(block)
        if len(block) - cut > LINE:
            number += block.count(b"\n", 0, cut)
            raise TriplesError(
                f"{source.name}:{number}: want records of at most {LINE:,} bytes, got a longer "
                "one; is a quotation mark not closed?"
            )
        if cut:
            yield number, block[:cut]
        number += block.count(b"\n", 0, cut)
        rest = block[cut:]
    if rest:
        yield number, rest


def _last_end(block: bytes) -> int:
    """Where the last whole record ends; 0 if none does."""
    end = len(block)
    quotes = block.count(b'"')
    while (line := block.rfind(b"\n", 0, end)) >= 0:
        quotes -= block.count(b'"', line, end)
        if quotes % 2 == 0:
            return line + 1
        end = block.rfind(b'"', 0, line)  # this line end is inside quotes: go to where they open
        quotes -= 1
    return 0


def _begin(name: str, fields: list[str], options: ReadOptions, number: int) -> tuple[Picked, bool]:
    """Which columns the first record stands for, and whether it is a header."""
    header = options.header
    if header is None:
        header = options.by_name or (options.columns is None and named(fields) is not None)
    picked = pick(name, options, len(fields), fields if header else None)
    if picked is None:
        if header:
            raise no_columns(name, fields)
        raise _ragged(name, number, fields, 4 if options.weighted else 3, first=True)
    return picked, header


def _parse(name: str, text: str, first: int, picked: Picked) -> pl.DataFrame:
    if picked.width > WIDE or not _matches(text, picked.width):
        _find_fault(name, text, first, picked.width)
    names = [f"field_{i}" for i in range(picked.width)]
    # An empty row goes before: the first line must have every column, and no byte order mark.
    table = pl.read_csv(
        ("," * (picked.width - 1) + "\n" + text).encode(),
        has_header=False,
        schema=dict.fromkeys(names, pl.String),
        empty_string_is_null=False,
    )
    table = table.filter(pl.any_horizontal(pl.all() != "")).select(picked.take(names))

    def trouble(row: int, what: str) -> TriplesError:
        records = _Records(name, text, first)
        for index, fields in enumerate(fields for fields in records if any(fields)):
            if index == row:
                return TriplesError(f"{name}:{records.number}: {what}: {shown(','.join(fields))}")
        return TriplesError(f"{name}: {what}")

    return checked(table, trouble, asked=picked.asked)


def _matches(text: str, width: int) -> bool:
    """Whether all of a text is records of so many fields, or blank lines."""
    field = f"(?:{_QUOTED}|{_PLAIN})"
    record = f"(?:{field}(?:,{field}){{{width - 1}}})?"
    return bool(pl.Series([text]).str.contains(rf"^(?:{record}\r?\n)*{record}\r?$")[0])


def _find_fault(name: str, text: str, first: int, width: int) -> None:
    """Refuse the first record that is no record, or of another width."""
    records = _Records(name, text, first)
    for fields in records:
        if len(fields) != width and any(fields):
            raise _ragged(name, records.number, fields, width)


def _ragged(
    name: str, number: int, fields: list[str], width: int, *, first: bool = False
) -> TriplesError:
    more = first and len(fields) > width
    return TriplesError(
        f"{name}:{number}: want {width} comma-separated fields, got {len(fields)}: "
        f"{shown(','.join(fields))}{'; the option columns chooses among more' if more else ''}"
    )


class _Records:
    """The records of a text, one after the other, by the letter of the grammar: slow.

    ``number`` is the line the last record began on, ``next_number`` that of the next one, and
    ``place`` where that begins in the text.
    """

    def __init__(self, name: str, text: str, first: int) -> None:
        self.name, self.text = name, text
        self.number, self.next_number, self.place = first, first, 0

    def __iter__(self) -> Iterator[list[str]]:
        while self.place < len(self.text):
            self.number = self.next_number
            begin = self.place
            record = self._record()
            self.next_number += self.text.count("\n", begin, self.place)
            yield record

    def _record(self) -> list[str]:
        fields = []
        begin = self.place
        while True:
            field = _FIELD.match(self.text, self.place)
            assert field is not None  # the empty field always matches
            raw = field[0]
            fields.append(raw[1:-1].replace('""', '"') if raw.startswith('"') else raw)
            self.place = field.end()
            if self.text.startswith(",", self.place):
                self.place += 1
                continue
            end = _END.match(self.text, self.place)
            if end is None:
                raise self._misplaced(begin)
            self.place = end.end()
            return fields

    def _misplaced(self, begin: int) -> TriplesError:
        number = self.number + self.text.count("\n", begin, self.place)
        if self.text.startswith("\r", self.place):
            found = "a carriage return without a line feed"
        elif self.text.startswith('"', self.place) and self.text[self.place - 1 : self.place] in (
            ",",
            "\n",
            "",
        ):
            found = "a quotation mark that is never closed"
        else:
            found = "a quotation mark inside a field, not doubled, or text after a quoted field"
        line = self.text[begin : begin + 80].split("\n")[0]
        return TriplesError(f"{self.name}:{number}: want CSV, got {found}: {shown(line)}")
