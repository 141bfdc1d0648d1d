"""Which format and which compression a file is in, by its name."""

from __future__ import annotations

from pathlib import Path

from ingram.errors import TriplesError

STDIN = "-"

FORMATS = {
    "tsv": (".tsv", ".txt", ".tab"),
    "csv": (".csv",),
    "parquet": (".parquet", ".pq"),
    "jsonl": (".jsonl", ".ndjson"),
    "nt": (".nt", ".ntriples"),
    "nq": (".nq", ".nquads"),
    "ttl": (".ttl", ".turtle"),
    "rdfxml": (".rdf", ".xml", ".owl", ".rdfxml"),
    "trig": (".trig",),
}
"""Formats and the suffixes that mean them; any other suffix, or none, means TSV."""

RDF = ("nt", "nq", "ttl", "rdfxml", "trig")
WITH_PREFIXES = ("ttl", "rdfxml", "trig")
"""Formats in which IRIs may be short or relative."""
TABLES = tuple(name for name in FORMATS if name not in RDF)

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2"}


def name_of(path: str | Path) -> str:
    """What a file is called on the screen: its name without the folders."""
    return "standard input" if str(path) == STDIN else Path(path).name


def named_format(name: str) -> str:
    """The format of that name, or of that suffix."""
    word = name.lower().lstrip(".")
    for known, suffixes in FORMATS.items():
        if word == known or f".{word}" in suffixes:
            return known
    raise TriplesError(f"no format {name!r}; known are {', '.join(FORMATS)}")


def format_of(path: str | Path, given: str | None = None) -> str:
    """The format of a file: the given one, else by its suffix, a compression's left aside."""
    if given is not None:
        return named_format(given)
    path = Path(path)
    suffix = (path.with_suffix("") if compression_of(path) else path).suffix.lower()
    for known, suffixes in FORMATS.items():
        if suffix in suffixes:
            return known
    return "tsv"


def compression_of(path: str | Path) -> str | None:
    """The compression that a file's last suffix names."""
    return COMPRESSIONS.get(Path(path).suffix.lower())
