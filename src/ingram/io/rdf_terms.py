"""RDF terms as labels, by pyoxigraph.

The label of an IRI is the whole IRI; of a blank node ``_:`` and its name; of a literal, where
literals are kept, its form in N-Triples, such as ``"chat"@fr``. No two of them can look alike: an
IRI begins with a scheme.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingram.errors import MissingPackageError, TriplesError
from ingram.io.lines import short

if TYPE_CHECKING:
    from types import ModuleType

NAMES = {
    "nt": "N-Triples",
    "nq": "N-Quads",
    "ttl": "Turtle",
    "rdfxml": "RDF/XML",
    "trig": "TriG",
}

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PLACE = re.compile(r"^Parser error at line \d+ (.*?): (.*)$", re.DOTALL)
_MADE_UP = re.compile(r"[a-f][0-9a-f]{20,31}|anon[0-9]+")
"""Names that the parser makes up for nodes without one, at random, and those we give instead."""


@dataclass
class Skipped:
    """How many triples were left out, and why."""

    keep_literals: bool = False
    literals: int = 0
    quoted: int = 0


@dataclass
class Names:
    """Labels of blank nodes. Made-up names are numbered: a file always gives the same labels."""

    renumber: bool
    given: dict[str, str] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        if not (self.renumber and _MADE_UP.fullmatch(name)):
            return "_:" + name
        return self.given.setdefault(name, f"_:anon{len(self.given) + 1}")


def pyoxigraph() -> ModuleType:
    """The parser, which is an extra."""
    try:
        import pyoxigraph as module
    except ImportError as error:
        raise MissingPackageError(
            'reading RDF needs pyoxigraph, which is not installed: pip install "ingram[rdf]"'
        ) from error
    return module


def parser(data: Any, kind: str, base: str | None = None) -> Any:
    """An iterator of the quads in bytes or a stream, which also knows their ``prefixes``.

    IRIs are not checked letter by letter: real dumps are full of spaces and brackets.
    """
    module = pyoxigraph()
    formats = module.RdfFormat
    by_kind = {
        "nt": formats.N_TRIPLES,
        "nq": formats.N_QUADS,
        "ttl": formats.TURTLE,
        "rdfxml": formats.RDF_XML,
        "trig": formats.TRIG,
    }
    return module.parse(data, by_kind[kind], base_iri=base, lenient=True)


@contextmanager
def faults(name: str, kind: str, first: int = 1) -> Iterator[None]:
    """The parser's errors as ours; ``first`` is the number of the first line it sees."""
    try:
        yield
    except SyntaxError as error:
        line = f":{first - 1 + error.lineno}" if error.lineno else ""
        said = short(_PLACE.sub(r"\2 (\1)", str(error.msg), count=1))
        raise TriplesError(f"{name}{line}: want {NAMES[kind]}, got {said}") from error
    except (ValueError, MemoryError) as error:  # the parser's buffer for one token is bounded
        raise TriplesError(f"{name}: want {NAMES[kind]}, got {short(str(error))}") from error


def parsed_line(
    name: str, number: int, line: str, kind: str, skipped: Skipped
) -> list[tuple[str, str, str]]:
    """The triples of one line: one or none, unless a bare carriage return parts it."""
    with faults(name, kind, number):
        quads = parser(line.encode(), kind)
        return list(labelled(name, quads, skipped, Names(renumber=False)))


def labelled(
    name: str, quads: Iterable[Any], skipped: Skipped, blank: Names
) -> Iterator[tuple[str, str, str]]:
    """Labels of quads; graph names are left out, as are literals unless they are kept."""
    module = pyoxigraph()
    named, blanks, literal = module.NamedNode, module.BlankNode, module.Literal

    def iri(value: str) -> str:
        if not _SCHEME.match(value):
            raise TriplesError(
                f"{name}: want whole IRIs, got the relative {short(value)!r}; "
                "say with base= what it is relative to"
            )
        return value

    for quad in quads:
        tail = quad.object
        kind = type(tail)
        if kind is named:
            end = iri(tail.value)
        elif kind is blanks:
            end = blank(tail.value)
        elif kind is literal:
            if not skipped.keep_literals:
                skipped.literals += 1
                continue
            end = str(tail)
        else:
            skipped.quoted += 1
            continue
        head = quad.subject
        start = iri(head.value) if type(head) is named else blank(head.value)
        yield start, iri(quad.predicate.value), end
