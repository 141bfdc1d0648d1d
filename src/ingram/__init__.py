"""Inductive knowledge graph embedding: learn on one graph, apply to any other.

model = ingram.fit("path/to/dataset")
embeddings = model.embed(ingram.read_graph("new.tsv"), draws=8)
embeddings.predict(head="Nairobi", relation="capital_of", k=10)
"""

from ingram import process as process  # first: it must run before torch is loaded
from ingram.datasets import open_dataset
from ingram.embeddings import Embeddings
from ingram.errors import IngramError
from ingram.graph import Dataset, KnowledgeGraph, Vocabulary
from ingram.io.folder import read_dataset
from ingram.io.reading import read_graph
from ingram.models.config import ModelConfig
from ingram.models.ingram import InGram
from ingram.training.config import Config
from ingram.training.loop import fit

__all__ = [
    "Config",
    "Dataset",
    "Embeddings",
    "InGram",
    "IngramError",
    "KnowledgeGraph",
    "ModelConfig",
    "Vocabulary",
    "fit",
    "open_dataset",
    "read_dataset",
    "read_graph",
]
