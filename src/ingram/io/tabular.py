"""The readers under their first names; see :mod:`ingram.io.reading`."""

from ingram.io.reading import read_graph, read_triples

__all__ = ["read_graph", "read_triples"]
