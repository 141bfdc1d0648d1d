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

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2"}


def format_of(path: str | Path, given: str | None = None) -> str:
    """The format of a file: the given one, else by its suffix, a compression's left aside."""
    if given is not None:
        name = given.lower().lstrip(".")
        for known, suffixes in FORMATS.items():
            if name == known or f".{name}" in suffixes:
                return known
        raise TriplesError(f"no format {given!r}; known are {', '.join(FORMATS)}")
    path = Path(path)
    suffix = (path.with_suffix("") if compression_of(path) else path).suffix.lower()
    for known, suffixes in FORMATS.items():
        if suffix in suffixes:
            return known
    return "tsv"


def compression_of(path: str | Path) -> str | None:
    """The compression that a file's last suffix names."""
    return COMPRESSIONS.get(Path(path).suffix.lower())
