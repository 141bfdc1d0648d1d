"""Labels as terms of N-Triples and back.

A label that is an IRI stands as it is, ``_:x`` is a blank node, and any other text becomes the IRI
``urn:ingram:`` and the text, with what an IRI cannot hold percent-encoded: ``New York`` is
``<urn:ingram:New%20York>``. Reading turns such an IRI back into the text it stands for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, unquote

import polars as pl

SCHEME = "urn:ingram:"

_CHARACTER = r"(?:[\p{L}\p{N}._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
SURE_IRI = (
    rf"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://[A-Za-z0-9._~-]+(?::[0-9]+)?(?:/{_CHARACTER}*)*|{_CHARACTER}+(?:/{_CHARACTER}*)*)"
    rf"(?:\?(?:{_CHARACTER}|[/?])*)?(?:#(?:{_CHARACTER}|[/?])*)?"
)
"""A pattern that only IRIs match, though not all of them do: the host is plain, and so on."""
SURE_BLANK = r"_:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?"

_PLAIN = r"[A-Za-z0-9_.~!$'()*+,;=@/-]"
"""Of text that stands as it is after our scheme, and can be neither an IRI nor a blank node."""
_UNSAFE = re.compile(r"[^\w.~!$'()*+,;=:@/-]")


def terms(labels: pl.Series, *, blanks: bool = True) -> pl.Series:
    """The term that each label is written as. A relation cannot be a blank node."""
    is_iri = labels.str.contains(f"^{SURE_IRI}$") & ~labels.str.starts_with(SCHEME)
    is_blank = labels.str.contains(f"^{SURE_BLANK}$") & blanks
    other = (~is_iri & ~is_blank).arg_true()
    coded = pl.Series([encoded(label) for label in labels.gather(other)], dtype=pl.String)
    text = labels.clone().scatter(other, coded)
    return pl.select(pl.when(is_blank).then(text).otherwise("<" + text + ">")).to_series()


def labels_of(iris: pl.Series, *, blanks: bool = True) -> pl.Series:
    """The labels that IRIs and blank nodes are read as: the inverse of :func:`terms`."""
    ours = iris.str.starts_with(SCHEME)
    if not ours.any():
        return iris
    plain = iris.str.contains(f"^{SCHEME}{_PLAIN}+$")
    coded = iris.filter(ours & ~plain).unique()
    texts = pl.Series([decoded(iri) for iri in coded], dtype=pl.String)
    # An IRI that we would not have written may not be read as a label that it never was.
    made_here = (texts != "") & (terms(texts, blanks=blanks) == "<" + coded + ">")
    labels = iris.zip_with(~plain, iris.str.slice(len(SCHEME)))
    return labels.replace(coded.filter(made_here), texts.filter(made_here))


def encoded(label: str) -> str:
    """The IRI that stands for a text."""
    return SCHEME + _UNSAFE.sub(lambda found: _percent(found[0]), label)


@lru_cache(maxsize=2**12)
def _percent(characters: str) -> str:
    return quote(characters, safe="")


def decoded(iri: str) -> str:
    """The text in an IRI that :func:`encoded` made; whatever else it was given, if it did not."""
    return unquote(iri.removeprefix(SCHEME), errors="replace")
