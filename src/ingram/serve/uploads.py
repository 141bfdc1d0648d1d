"""Graphs that clients send: spooled to a file, read with limits, and only then embedded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ingram.errors import IngramError
from ingram.graph import KnowledgeGraph
from ingram.io.folder import declared_prefixes
from ingram.io.formats import FORMATS, format_of
from ingram.io.options import ReadOptions
from ingram.io.reading import read_graph
from ingram.serve.graphs import ServedGraph, Shelf
from ingram.serve.limits import Limits
from ingram.serve.refusals import Refusal


async def upload(
    shelf: Shelf, name: str, body: AsyncIterator[bytes], options: ReadOptions
) -> ServedGraph:
    """Read a graph from a request's body and serve it under a name."""
    shelf.want_room(name)
    with TemporaryDirectory(prefix="ingram-upload-") as folder:
        # The suffix says the format; a compression is found by the first bytes.
        path = Path(folder) / f"{name}{FORMATS[format_of('', options.format)][0]}"
        with path.open("wb") as file:
            async for piece in body:
                file.write(piece)

        def make() -> ServedGraph:
            with _by_name(path, name):
                graph = read_graph(path, options)
                check(graph, shelf.limits)
                prefixes = declared_prefixes(path, options)
            return shelf.prepared(name, graph, uploaded=True, prefixes=prefixes)

        return await shelf.take_in(name, make)


@contextmanager
def _by_name(path: Path, name: str) -> Iterator[None]:
    """Errors speak of the graph by the name the client gave it, not of a file here."""
    try:
        yield
    except IngramError as error:
        raise type(error)(str(error).replace(str(path), name)) from error


def check(graph: KnowledgeGraph, limits: Limits) -> None:
    """Refuse a graph that is larger than clients may send."""
    longest = max(
        int(vocabulary.labels.str.len_chars().to_numpy().max(initial=0))
        for vocabulary in (graph.entities, graph.relations)
    )
    for what, found in (
        ("triples", graph.num_triples),
        ("entities", graph.num_entities),
        ("relations", graph.num_relations),
        ("label", longest),
    ):
        most = getattr(limits, what)
        if found > most:
            size = f"a label of {found:,} characters" if what == "label" else f"{found:,} {what}"
            raise Refusal(413, f"want at most {most:,}, the limit `{what}`, got {size}")
