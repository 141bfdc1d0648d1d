"""The relation graph as a file for other tools: GraphML, JSON or Parquet, by the suffix."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

from ingram.errors import ConfigError
from ingram.io.atomic import replacing, write_text
from ingram.labels import Vocabulary

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="inverse" for="edge" attr.name="inverse" attr.type="boolean"/>
<key id="affinity" for="edge" attr.name="affinity" attr.type="double"/>
<graph id="relations" edgedefault="undirected">
"""


def write_relation_graph(path: Path, relations: Vocabulary, table: pl.DataFrame) -> None:
    """Write relations and the table of their affinities: relation, other, inverse, affinity."""
    write = want_relations_path(path)
    try:
        write(path, relations, table)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write_graphml(path: Path, relations: Vocabulary, table: pl.DataFrame) -> None:
    parts = [GRAPHML]
    for i, label in enumerate(relations.labels):
        parts.append(f'<node id="r{i}"><data key="label">{_xml(label)}</data></node>\n')
    ends = [relations.ids(table[name]).to_list() for name in ("relation", "other")]
    rows = zip(*ends, table["inverse"].to_list(), table["affinity"].to_list(), strict=True)
    for i, (source, target, inverse, affinity) in enumerate(rows):
        parts.append(
            f'<edge id="e{i}" source="r{source}" target="r{target}">'
            f'<data key="inverse">{str(inverse).lower()}</data>'
            f'<data key="affinity">{affinity!r}</data></edge>\n'
        )
    write_text(path, "".join([*parts, "</graph>\n</graphml>\n"]))


def _xml(label: str) -> str:
    """Characters that XML cannot hold are replaced by the sign for such."""
    kept = (c if c in "\t\n" or " " <= c < "\ufffe" or c > "\uffff" else "\ufffd" for c in label)
    return escape("".join(kept))


def _write_json(path: Path, relations: Vocabulary, table: pl.DataFrame) -> None:
    whole = {"relations": relations.labels.to_list(), "affinities": table.to_dicts()}
    write_text(path, json.dumps(whole, ensure_ascii=False) + "\n")


def _write_parquet(path: Path, relations: Vocabulary, table: pl.DataFrame) -> None:
    del relations  # one that meets no other is in no row
    with replacing(path) as temporary:
        table.write_parquet(temporary)


Writer = Callable[[Path, Vocabulary, pl.DataFrame], None]
FORMATS: dict[str, Writer] = {
    ".graphml": _write_graphml,
    ".json": _write_json,
    ".parquet": _write_parquet,
}


def want_relations_path(path: Path) -> Writer:
    """Refuse a place that a relation graph cannot be written to."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(
            f"{path}: want a name that ends in {', '.join(FORMATS)}, got {path.suffix or 'none'!r}"
        )
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: no folder {path.parent} to write into")
    return FORMATS[path.suffix.lower()]
