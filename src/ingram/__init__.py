"""Inductive knowledge graph embedding: learn on one graph, apply to any other.

model = ingram.fit("path/to/dataset")
embeddings = model.embed(ingram.read_graph("new.tsv"), draws=8)
embeddings.predict(head="Nairobi", relation="capital_of", k=10)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ingram import process as process  # first: it must run before torch is loaded

if TYPE_CHECKING:
    from ingram.datasets import open_dataset as open_dataset
    from ingram.embeddings import Embeddings as Embeddings
    from ingram.errors import IngramError as IngramError
    from ingram.graph import Dataset as Dataset
    from ingram.graph import KnowledgeGraph as KnowledgeGraph
    from ingram.inference.applying import predict as predict
    from ingram.io.folder import read_dataset as read_dataset
    from ingram.io.options import ReadOptions as ReadOptions
    from ingram.io.reading import read_graph as read_graph
    from ingram.labels import Vocabulary as Vocabulary
    from ingram.models import InGram as InGram
    from ingram.models import InGramQ as InGramQ
    from ingram.models import ModelConfig as ModelConfig
    from ingram.models import QueryModelConfig as QueryModelConfig
    from ingram.models import load_model as load  # noqa: F401
    from ingram.training.config import Config as Config
    from ingram.training.config import QueryConfig as QueryConfig
    from ingram.training.fitting import fit as fit

HOMES = {
    "Config": "ingram.training.config",
    "Dataset": "ingram.graph",
    "Embeddings": "ingram.embeddings",
    "InGram": "ingram.models",
    "InGramQ": "ingram.models",
    "IngramError": "ingram.errors",
    "KnowledgeGraph": "ingram.graph",
    "ModelConfig": "ingram.models",
    "QueryConfig": "ingram.training.config",
    "QueryModelConfig": "ingram.models",
    "ReadOptions": "ingram.io.options",
    "Vocabulary": "ingram.labels",
    "fit": "ingram.training.fitting",
    "load": "ingram.models",
    "open_dataset": "ingram.datasets",
    "predict": "ingram.inference.applying",
    "read_dataset": "ingram.io.folder",
    "read_graph": "ingram.io.reading",
}
"""Where each public name is from. A name is loaded when it is first used: torch takes seconds."""

__all__ = [*HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'ingram' has no attribute {name!r}")
    value = getattr(import_module(HOMES[name]), "load_model" if name == "load" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
