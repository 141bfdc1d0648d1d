"""RDF terms as labels, by pyoxigraph.

The label of an IRI is the whole IRI; of a blank node ``_:`` and its name; of a literal, where
literals are kept, its form in N-Triples, such as ``"chat"@fr``. No two of them can look alike: an
IRI begins with a scheme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
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


class Labels:
    """Labels of quads, one after the other, and how many were left out and why.

    Outside of N-Triples and N-Quads blank nodes may be nameless: the parser makes names up for
    them, at random, and here they are numbered, so that a file always gives the same labels.
    """

    def __init__(self, name: str, kind: str, *, keep_literals: bool = False) -> None:
        self.name = name
        self.keep_literals = keep_literals
        self.literals = 0
        self.quoted = 0
        self._by_line = kind in ("nt", "nq")
        self._numbers: dict[str, str] = {}

    def __call__(self, quad: Any) -> tuple[str, str, str] | None:
        """Head, relation and tail; None if the object is no node. The graph's name is left out."""
        tail = quad.object
        kind = type(tail).__name__
        if kind == "NamedNode":
            end = self._iri(tail.value)
        elif kind == "BlankNode":
            end = self._blank(tail.value)
        elif kind == "Literal":
            if not self.keep_literals:
                self.literals += 1
                return None
            end = str(tail)
        else:
            self.quoted += 1
            return None
        head = quad.subject
        is_blank = type(head).__name__ == "BlankNode"
        start = self._blank(head.value) if is_blank else self._iri(head.value)
        return start, self._iri(quad.predicate.value), end

    def _iri(self, value: str) -> str:
        if not _SCHEME.match(value):
            hint = "" if self._by_line else "; say with the option base what it is relative to"
            raise TriplesError(
                f"{self.name}: want whole IRIs, got the relative {short(value)!r}{hint}"
            )
        return value

    def _blank(self, name: str) -> str:
        if self._by_line or not _MADE_UP.fullmatch(name):
            return "_:" + name
        return self._numbers.setdefault(name, f"_:anon{len(self._numbers) + 1}")


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
