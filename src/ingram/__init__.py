"""Inductive knowledge graph embedding: learn on one graph, apply to any other.

model = ingram.fit("path/to/dataset")
embeddings = model.embed(ingram.read_graph("new.tsv"), draws=8)
embeddings.predict(head="Nairobi", relation="capital_of", k=10)
"""

from ingram import process as process  # first: it must run before torch is loaded
from ingram.datasets import open_dataset
from ingram.embeddings import Embeddings
from ingram.errors import IngramError
from ingram.graph import Dataset, KnowledgeGraph
from ingram.inference.applying import predict
from ingram.io.folder import read_dataset
from ingram.io.options import ReadOptions
from ingram.io.reading import read_graph
from ingram.labels import Vocabulary
from ingram.models import InGram, InGramQ, ModelConfig, QueryModelConfig
from ingram.models import load_model as load
from ingram.training.config import Config, QueryConfig
from ingram.training.fitting import fit

__all__ = [
    "Config",
    "Dataset",
    "Embeddings",
    "InGram",
    "InGramQ",
    "IngramError",
    "KnowledgeGraph",
    "ModelConfig",
    "QueryConfig",
    "QueryModelConfig",
    "ReadOptions",
    "Vocabulary",
    "fit",
    "load",
    "open_dataset",
    "predict",
    "read_dataset",
    "read_graph",
]
