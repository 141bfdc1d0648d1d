"""Files of vectors with their labels: Parquet, NumPy, safetensors, word2vec's text.

The suffix chooses the format. Vectors come back with the bits they had. All but the text also keep
how the vectors were made, and what an update of them starts from.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import polars as pl
import torch
from polars.exceptions import PanicException, PolarsError

from ingram.errors import EmbeddingsError, RunError
from ingram.io.atomic import replacing
from ingram.io.lines import short
from ingram.io.parquet import muted
from ingram.io.tensors import read_tensors, write_tensors
from ingram.io.vector_checks import (
    FIRST_LINE,
    announced,
    check_numpy,
    check_parquet,
    want_tables,
    words,
)

FORMAT = "ingram-embeddings-1"
KINDS = ("entity", "relation")
INVERSE = "inverse"
"""Of a relation: asks for heads, where that is done with a vector of its own."""
LABEL_BUDGET = 2**31
"""Bytes that labels may take as a NumPy array, where each takes as many as the longest."""
ESCAPES = {c: quote(c) for c in "%\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u2028\u2029"}
"""What would end a word in word2vec's text."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Labels and vectors (n, width), and of each row what else is known under some name."""

    labels: pl.Series
    vectors: Floats
    more: dict[str, npt.NDArray[Any]] = field(default_factory=dict)


Tables = tuple[VectorTable, VectorTable]
"""Of entities and of relations."""


def write_vectors(path: str | Path, tables: Tables, about: dict[str, Any]) -> None:
    """Write entity and relation vectors; ``about`` says how they were made."""
    path = Path(path)
    write = want_vectors_path(path)
    try:
        write(path, tables, {"format": FORMAT, **about})
    except OSError as error:
        raise EmbeddingsError(f"{path}: cannot be written: {error.strerror or error}") from error


def want_vectors_path(path: Path) -> Writer:
    """Refuse a place that vectors cannot be written to; ask this before long work."""
    write, _ = _format_of(path)
    if not path.parent.is_dir():
        raise EmbeddingsError(f"{path}: no folder {path.parent} to write into")
    return write


def read_vectors(path: str | Path) -> tuple[Tables, dict[str, Any]]:
    """What :func:`write_vectors` wrote."""
    path = Path(path)
    _, read = _format_of(path)
    if not path.is_file():
        raise EmbeddingsError(f"{path}: no such file")
    try:
        with muted():
            tables, about = read(path)
        if about.get("format") != FORMAT:
            raise ValueError(f"format {str(about.get('format'))[:60]!r} and not {FORMAT!r}")
        want_tables([table.labels for table in tables], [table.vectors for table in tables])
    except (
        PolarsError, PanicException, RunError, zipfile.BadZipFile, zlib.error, LookupError,
        TypeError, ValueError, AttributeError, OSError, EOFError, RecursionError, OverflowError,
        NotImplementedError, SyntaxError, MemoryError, RuntimeError,
    ) as error:  # fmt: skip
        reason = short(str(error)) or type(error).__name__
        raise EmbeddingsError(f"{path}: want embeddings, got {reason}") from error
    return tables, about


def _write_parquet(path: Path, tables: Tables, about: dict[str, Any]) -> None:
    """One table: kind, label, vector, and a column for whatever else there is.

    Inverses are rows: a column would be as wide for every entity, which has none.
    """
    more = dict(tables[1].more)
    inverses = more.pop(INVERSE, None)
    rows = [(KINDS[0], tables[0]), (KINDS[1], replace(tables[1], more=more))]
    if inverses is not None:
        rows.append((INVERSE, VectorTable(tables[1].labels, inverses)))
    frames = [
        pl.DataFrame(
            {
                "kind": pl.Series([kind] * len(table.labels), dtype=pl.String),
                "label": table.labels,
                "vector": _column(table.vectors),
                **{name: _column(values) for name, values in table.more.items()},
            }
        )
        for kind, table in rows
    ]
    with replacing(path) as temporary:
        pl.concat(frames, how="diagonal").write_parquet(
            temporary, metadata={"ingram": json.dumps(about)}
        )


def _column(values: npt.NDArray[Any]) -> pl.Series:
    if values.ndim == 1:
        return pl.Series(values)
    return pl.Series(values, dtype=pl.Array(pl.Float32, values.shape[1]))


def _read_parquet(path: Path) -> tuple[Tables, dict[str, Any]]:
    about = json.loads(pl.read_parquet_metadata(path)["ingram"])
    lazy = pl.scan_parquet(path, glob=False)
    check_parquet(path, lazy)
    whole = lazy.collect()
    tables = []
    for kind in KINDS:
        part = whole.filter(kind=kind)
        others = part.drop("kind", "label", "vector")
        more = {
            name: others[name].to_numpy().copy()
            for name in others.columns
            if len(part) and not others[name].null_count()
        }
        tables.append(VectorTable(part["label"], part["vector"].to_numpy().copy(), more))
    inverses = whole.filter(kind=INVERSE)
    if len(inverses):
        _with_inverses(tables[1], inverses["label"], inverses["vector"].to_numpy().copy())
    return (tables[0], tables[1]), about


def _with_inverses(relations: VectorTable, labels: pl.Series, vectors: Floats) -> None:
    if not labels.equals(relations.labels):
        raise ValueError("inverses of other relations")
    relations.more[INVERSE] = vectors


def _write_numpy(path: Path, tables: Tables, about: dict[str, Any]) -> None:
    """Arrays KIND_labels, KIND_vectors and KIND_whatever; ``about`` is JSON in an array."""
    arrays = {"about": np.array(json.dumps(about))}
    for kind, table in zip(KINDS, tables, strict=True):
        longest = int(table.labels.str.len_chars().max() or 1)  # type: ignore[arg-type]
        if 4 * longest * len(table.labels) > LABEL_BUDGET:
            raise EmbeddingsError(
                f"{path}: {len(table.labels):,} labels of up to {longest:,} characters each would "
                "all be stored as long as the longest; take .parquet or .safetensors"
            )
        if table.labels.str.ends_with("\0").any():
            raise EmbeddingsError(
                f"{path}: NumPy drops a zero character at the end of a label; take .parquet"
            )
        arrays[f"{kind}_labels"] = np.array(table.labels.to_list(), dtype=f"U{longest}")
        arrays[f"{kind}_vectors"] = table.vectors
        arrays |= {f"{kind}_{name}": values for name, values in table.more.items()}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _read_numpy(path: Path) -> tuple[Tables, dict[str, Any]]:
    check_numpy(path)
    with path.open("rb") as file, np.load(file) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    about = json.loads(str(held.pop("about")))
    labels = {
        kind: pl.Series(held.pop(f"{kind}_labels").tolist(), dtype=pl.String) for kind in KINDS
    }
    return _tables(labels, held), about


def _write_safetensors(path: Path, tables: Tables, about: dict[str, Any]) -> None:
    """Tensors KIND_vectors and KIND_whatever; labels as UTF-8 bytes and where each one ends."""
    tensors = {}
    for kind, table in zip(KINDS, tables, strict=True):
        text = "".join(table.labels.to_list()).encode()
        ends = np.cumsum(table.labels.str.len_bytes().to_numpy(), dtype=np.int64)
        held = {"labels": np.frombuffer(text, np.uint8), "ends": ends, "vectors": table.vectors}
        for name, values in {**held, **table.more}.items():
            tensors[f"{kind}_{name}"] = torch.from_numpy(np.array(values))
    write_tensors(path, tensors, about)


def _read_safetensors(path: Path) -> tuple[Tables, dict[str, Any]]:
    tensors, about = read_tensors(path, FORMAT)
    held = {name: tensor.numpy() for name, tensor in tensors.items()}
    labels = {}
    for kind in KINDS:
        text, ends = held.pop(f"{kind}_labels").tobytes(), held.pop(f"{kind}_ends")
        labels[kind] = pl.Series(words(text, ends), dtype=pl.String)
    return _tables(labels, held), about


def _tables(labels: dict[str, pl.Series], held: dict[str, npt.NDArray[Any]]) -> Tables:
    """Of arrays named KIND_NAME."""
    made = []
    for kind in KINDS:
        vectors = held.pop(f"{kind}_vectors")
        begin = f"{kind}_"
        more = {n.removeprefix(begin): v for n, v in held.items() if n.startswith(begin)}
        made.append(VectorTable(labels[kind].rename("label"), vectors, more))
    return made[0], made[1]


def beside(path: Path, what: str) -> Path:
    """Where word2vec's text keeps the relations: vectors.relations.vec beside vectors.vec."""
    return path.with_name(f"{path.stem}.{what}{path.suffix}")


def _write_text(path: Path, tables: Tables, about: dict[str, Any]) -> None:
    """A file each, as a line has no place to say what a word is; inverses have one if they have
    vectors of their own; what else there is is left out.
    """
    del about
    files = dict(zip((path, beside(path, "relations")), tables, strict=True))
    inverses = tables[1].more.get(INVERSE)
    if inverses is None:
        beside(path, "inverses").unlink(missing_ok=True)
    else:
        files[beside(path, "inverses")] = VectorTable(tables[1].labels, inverses)
    for place, table in files.items():
        words = table.labels.str.replace_many(ESCAPES)
        lines = pl.DataFrame(table.vectors).insert_column(0, words.rename("word"))
        with replacing(place) as temporary, temporary.open("wb") as file:
            file.write(f"{table.vectors.shape[0]} {table.vectors.shape[1]}\n".encode())
            lines.write_csv(file, include_header=False, separator=" ", quote_style="never")


def _read_text(path: Path) -> tuple[Tables, dict[str, Any]]:
    tables = []
    inverses = beside(path, "inverses")
    for place in (path, beside(path, "relations"), *([inverses] if inverses.is_file() else [])):
        with place.open("rb") as file:
            count, width = announced(place, file.readline(FIRST_LINE))
        schema = {"word": pl.String} | {f"{i}": pl.Float32 for i in range(width)}
        lines = pl.DataFrame(schema=schema)
        if count:
            lines = pl.read_csv(
                place, skip_rows=1, has_header=False, separator=" ", quote_char=None, schema=schema
            )
        if len(lines) != count:
            raise ValueError(f"{len(lines)} vectors where {count} are announced")
        if any(lines.null_count().row(0)):
            raise ValueError("a line with fewer numbers than announced")
        labels = lines["word"].str.replace_many({v: k for k, v in ESCAPES.items()})
        tables.append(VectorTable(labels.rename("label"), lines.drop("word").to_numpy().copy()))
    for table in tables[2:]:
        _with_inverses(tables[1], table.labels, table.vectors)
    return (tables[0], tables[1]), {"format": FORMAT, "made": {}}


Writer = Callable[[Path, Tables, dict[str, Any]], None]
Reader = Callable[[Path], tuple[Tables, dict[str, Any]]]
TEXT: tuple[Writer, Reader] = (_write_text, _read_text)
FORMATS: dict[str, tuple[Writer, Reader]] = {
    ".parquet": (_write_parquet, _read_parquet),
    ".npz": (_write_numpy, _read_numpy),
    ".safetensors": (_write_safetensors, _read_safetensors),
    ".vec": TEXT,
    ".txt": TEXT,
}


def _format_of(path: Path) -> tuple[Writer, Reader]:
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise EmbeddingsError(
            f"{path}: want a name that ends in {', '.join(FORMATS)}, got {path.suffix or 'none'!r}"
        )
    return found
