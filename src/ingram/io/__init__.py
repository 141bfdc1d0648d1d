"""Files to graphs and back."""

from ingram.io.folder import read_dataset
from ingram.io.tabular import read_graph

__all__ = ["read_dataset", "read_graph"]
