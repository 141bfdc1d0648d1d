"""Labels: what entities and relations are called, and frames of labelled triples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from rapidfuzz import fuzz, process

from ingram.errors import TriplesError, UnknownLabelError

FIELDS = ("head", "relation", "tail")
"""The columns of a frame of labelled triples, in the order of their ids."""
WEIGHT = "weight"
"""The column beside them, where there is one: how often a triple counts."""


def visible(text: str, most: int = 1_000) -> str:
    """Text that can do no harm on a screen or a page: characters that control it, turn its
    direction or cannot be seen are spelled out, and of a long text the beginning is given.
    """
    cut = text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else _spelled(c) for c in cut)


def _spelled(character: str) -> str:
    code = ord(character)
    return (
        f"\\x{code:02x}" if code < 2**8 else f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"
    )


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Labels in id order: the label of id ``i`` is ``labels[i]``. Labels are unique."""

    labels: pl.Series
    what: str = "label"

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: str) -> bool:
        return label in self._index

    @cached_property
    def _index(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    def id(self, label: str) -> int:
        """The id of one label; an unknown one is an error that offers the nearest known ones."""
        found = self._index.get(label)
        if found is None:
            near = process.extract(
                label[:99], [*self._index], scorer=fuzz.ratio, processor=str.lower, score_cutoff=60
            )[:3]
            hint = f"; did you mean {' or '.join(repr(n[0]) for n in near)}?" if near else ""
            raise UnknownLabelError(f"no {self.what} {label[:99]!r} in this graph{hint}")
        return found

    def ids(self, labels: pl.Series) -> pl.Series:
        """Ids of many labels at once; null where a label is unknown."""
        table = pl.DataFrame({"label": self.labels, "id": pl.int_range(len(self), eager=True)})
        query = pl.DataFrame({"label": labels.cast(pl.String)})
        return query.join(table, on="label", how="left", maintain_order="left")["id"]

    def take(self, ids: Iterable[int] | npt.NDArray[np.int64]) -> list[str]:
        """Labels of the given ids."""
        return self.labels.gather(np.asarray(list(ids), dtype=np.int64)).to_list()


def label_frame(triples: pl.DataFrame | Iterable[tuple[str, str, str]]) -> pl.DataFrame:
    """Labelled triples as a frame of three text columns without empty labels.

    A column ``weight`` is kept, as floats.
    """
    if isinstance(triples, pl.DataFrame):
        if not set(FIELDS) <= set(triples.columns):
            raise TriplesError(
                f"want columns head, relation, tail, got {', '.join(triples.columns) or 'none'}"
            )
        labels, weight = pl.col(FIELDS).cast(pl.String), pl.col(f"^{WEIGHT}$").cast(pl.Float64)
        table = triples.select(labels, weight)
    else:
        schema = dict.fromkeys(FIELDS, pl.String)
        table = pl.DataFrame(list(triples), schema=schema, orient="row")
    empty = pl.any_horizontal(pl.col(FIELDS).fill_null("") == "")
    bad = table.with_row_index().filter(empty)
    if len(bad):
        row = bad.row(0)
        raise TriplesError(f"triple {row[0] + 1}: want three non-empty labels, got {row[1:4]}")
    return table


def numbered(columns: Iterable[pl.Series]) -> tuple[npt.NDArray[np.int64], pl.Series]:
    """Each label's id, by first appearance, and the labels in id order."""
    labels = pl.concat([column.rename("label") for column in columns])
    rows = labels.to_frame().with_row_index("row")
    # One grouping is faster than finding the distinct labels and then looking each one up.
    first = rows.select(pl.col("row").min().over("label")).to_series().to_numpy()
    is_new = first == np.arange(len(first))
    ids: npt.NDArray[np.int64] = (np.cumsum(is_new) - 1)[first]
    return ids, labels.filter(pl.Series(is_new))
