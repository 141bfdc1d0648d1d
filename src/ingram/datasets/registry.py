"""The benchmarks known by name: what they are, where they live, how they are told genuine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from hashlib import file_digest
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType

from ingram.errors import DatasetError

PUBLIC_HOME = "https://github.com/bdi-lab/InGram/tree/master/data"
BASE_ADDRESS = (
    "https://raw.githubusercontent.com/bdi-lab/InGram/300c905d0679f08bae7075cec2db4ff393c23899/data"
)
"""A commit, so that what is fetched never changes; NAME/train.txt and so on follow."""
LICENCE = "CC BY-NC-SA 4.0"
LICENCE_ADDRESS = "https://creativecommons.org/licenses/by-nc-sa/4.0/"
LICENCE_MEANING = "give credit, no commercial use, share changes under the same licence"
CITATION = (
    "Lee, Chung and Whang: InGram: Inductive Knowledge Graph Embedding via Relation Graphs, "
    "ICML 2023"
)
EMBEDDED = ("world",)
FILES = ("train.txt", "msg.txt", "valid.txt", "test.txt")


@dataclass(frozen=True)
class Size:
    """Entities, relations and triples of a graph; of an inference graph, facts and held-out."""

    entities: int
    relations: int
    triples: int


@dataclass(frozen=True)
class Benchmark:
    """A published dataset. new: the share, in percent, of inference triples with a new relation.

    train, inference: sizes as published (table 5), or counted from the files where the paper gives
    none; ``published`` says which. sums: file to SHA-256.
    """

    name: str
    source: str
    new: int
    train: Size
    inference: Size
    published: bool
    sums: Mapping[str, str]

    @property
    def folder(self) -> Path:
        """Where the files are, or would be, in the cache."""
        return cache_folder() / "datasets" / self.name

    @property
    def cached(self) -> bool:
        """Whether every file is there. Each is put there whole or not at all."""
        return all((self.folder / file).is_file() for file in self.sums)


_SIZES = {
    "NL-0": (1814, 134, 7796, 2026, 112, 3813),
    "NL-25": (4396, 106, 17578, 2146, 120, 3717),
    "NL-50": (4396, 106, 17578, 2335, 119, 4294),
    "NL-75": (2607, 96, 11058, 1578, 116, 3031),
    "NL-100": (1258, 55, 7832, 1709, 53, 3964),
    "WK-25": (12659, 47, 41873, 3228, 74, 5652),
    "WK-50": (12022, 72, 82481, 9328, 93, 16121),
    "WK-75": (6853, 52, 28741, 2722, 65, 5717),
    "WK-100": (9784, 67, 49875, 12136, 37, 22479),
    "FB-25": (5190, 163, 91571, 4097, 216, 28579),
    "FB-50": (5190, 153, 85375, 4445, 205, 19394),
    "FB-75": (4659, 134, 62809, 2792, 186, 15528),
    "FB-100": (4659, 134, 62809, 2624, 77, 11645),
    "NELL-995-v1": (3103, 14, 4687, 225, 14, 1034),
}
_COUNTED = ("NL-0", "NELL-995-v1")
_SOURCES = {
    "NL": "NELL-995",
    "WK": "Wikidata68K",
    "FB": "FB15k-237",
    "NELL": "NELL-995 (GraIL)",
}
NAMES = tuple(_SIZES)


@cache
def checksums() -> Mapping[str, str]:
    """``NAME/file`` to the SHA-256 of what was published."""
    text = (files("ingram.datasets") / "SHA256SUMS").read_text(encoding="utf-8")
    pairs = (line.split() for line in text.splitlines() if line.strip())
    return MappingProxyType({file: total for total, file in pairs})


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name; an unknown one is an error that offers the nearest."""
    if name not in _SIZES:
        raise DatasetError(f"no dataset named {name!r}{suggestion(name)}")
    family, _, share = name.partition("-")
    sizes = _SIZES[name]
    return Benchmark(
        name,
        _SOURCES[family],
        int(share) if share.isdecimal() else 0,
        Size(*sizes[:3]),
        Size(*sizes[3:]),
        name not in _COUNTED,
        {file: checksums()[f"{name}/{file}"] for file in FILES},
    )


def suggestion(name: str) -> str:
    """The end of a message about a name that is not known."""
    known = {known.casefold(): known for known in (*NAMES, *EMBEDDED)}
    near = get_close_matches(name.casefold(), known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(known[n] for n in near)}?"
    return "; `ingram data list` lists those that are"


def cache_folder() -> Path:
    """``INGRAM_HOME``, or the platform's folder for caches."""
    if home := os.environ.get("INGRAM_HOME"):
        return Path(home).expanduser()
    import pooch

    return Path(pooch.os_cache("ingram"))


@contextmanager
def located(name: str | Path) -> Iterator[Path]:
    """The file or folder of a dataset named by its path, or ``world``, or a benchmark's name.

    A path of that name wins; ``-`` is standard input. A benchmark must be in the cache, and what
    is there must be genuine.
    """
    path, word = Path(name), str(name)
    if path.exists() or word == "-":
        yield path
    elif word in EMBEDDED:
        with as_file(files("ingram.datasets") / word) as folder:
            yield folder
    elif word in NAMES:
        yield _cached_folder(benchmark(word))
    elif path.name == word and not path.suffix:
        raise DatasetError(f"{word}: no such file or folder, and no dataset{suggestion(word)}")
    else:
        raise DatasetError(f"{path}: no such file or folder")


def _cached_folder(found: Benchmark) -> Path:
    command = f"get it with: ingram data download {found.name}"
    if not found.cached:
        raise DatasetError(f"{found.name} is not in the cache ({cache_folder()}); {command}")
    for file, wanted in found.sums.items():
        with (found.folder / file).open("rb") as stream:
            got = file_digest(stream, "sha256").hexdigest()
        if got != wanted:
            raise DatasetError(
                f"{found.folder / file}: want SHA-256 {wanted[:12]}…, got {got[:12]}…: "
                f"the file was changed; {command}"
            )
    return found.folder
