"""Files to graphs and back."""

from ingram.io.folder import read_dataset
from ingram.io.options import ReadOptions
from ingram.io.prefixes import shorten
from ingram.io.rdf import read_prefixes
from ingram.io.reading import read_graph, read_triples
from ingram.io.writing import write_graph, write_triples

__all__ = [
    "ReadOptions",
    "read_dataset",
    "read_graph",
    "read_prefixes",
    "read_triples",
    "shorten",
    "write_graph",
    "write_triples",
]
