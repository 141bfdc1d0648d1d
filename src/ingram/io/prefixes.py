"""IRIs shortened for the eye: ``http://www.wikidata.org/entity/Q64`` as ``wd:Q64``.

Only what is shown is shortened. The labels of a graph stay whole IRIs: two files may mean different
things by one prefix, and whether a relation of one graph is known in another is decided by its
label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import polars as pl

from ingram.labels import Vocabulary

WELL_KNOWN = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "prov": "http://www.w3.org/ns/prov#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "sh": "http://www.w3.org/ns/shacl#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "org": "http://www.w3.org/ns/org#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "time": "http://www.w3.org/2006/time#",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "void": "http://rdfs.org/ns/void#",
    "schema": "http://schema.org/",
    "sdo": "https://schema.org/",
    "dbr": "http://dbpedia.org/resource/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "wd": "http://www.wikidata.org/entity/",
    "wds": "http://www.wikidata.org/entity/statement/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "wikibase": "http://wikiba.se/ontology#",
    "yago": "http://yago-knowledge.org/resource/",
    "fb": "http://rdf.freebase.com/ns/",
    "gn": "http://www.geonames.org/ontology#",
    "obo": "http://purl.obolibrary.org/obo/",
    "up": "http://purl.uniprot.org/core/",
    "uniprot": "http://purl.uniprot.org/uniprot/",
    "bibo": "http://purl.org/ontology/bibo/",
}
"""Prefixes that everyone writes the same way; a file's own come before them."""

_LOCAL = re.compile(r"[^/#]+")


def shorten(label: str, prefixes: Mapping[str, str] | None = None) -> str:
    """One label as it is shown: by the longest namespace that fits, else as it is.

    ``prefixes`` (such as :func:`ingram.io.rdf.read_prefixes` finds) come before the well-known
    ones. What is left after a namespace may hold no further ``/`` or ``#``.
    """
    found, form = "", label
    for prefix, namespace in _known(prefixes).items():
        if len(namespace) > len(found) and label.startswith(namespace):
            rest = label[len(namespace) :]
            if _LOCAL.fullmatch(rest):
                found, form = namespace, f"{prefix}:{rest}"
    return form


def expand(short: str, prefixes: Mapping[str, str] | None = None) -> str:
    """The label that :func:`shorten` shows so; what has no known prefix stays as it is."""
    prefix, colon, rest = short.partition(":")
    namespace = _known(prefixes).get(prefix) if colon and _LOCAL.fullmatch(rest) else None
    return short if namespace is None else namespace + rest


def meant(word: str, vocabulary: Vocabulary, prefixes: Mapping[str, str] | None = None) -> str:
    """The label that was typed: the word itself, or the IRI that it is short for."""
    whole = word if word in vocabulary else expand(word, prefixes)
    return whole if whole in vocabulary else word


def used_prefixes(
    labels: Iterable[pl.Series], prefixes: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Of all known prefixes, those whose namespace some label begins with."""
    columns = list(labels)
    return {
        prefix: namespace
        for prefix, namespace in _known(prefixes).items()
        if any(column.str.starts_with(namespace).any() for column in columns)
    }


def _known(prefixes: Mapping[str, str] | None) -> dict[str, str]:
    return {**WELL_KNOWN, **(prefixes or {})}
