"""Models hold parameters only: every graph is an argument."""

from pathlib import Path

from ingram.errors import RunError
from ingram.models.base import Model, model_name
from ingram.models.config import ModelConfig, QueryModelConfig
from ingram.models.ingram import InGram
from ingram.models.ingram_q import InGramQ
from ingram.models.shipped import names, run_path

MODELS: dict[str, type[InGram] | type[InGramQ]] = {"ingram": InGram, "ingram-q": InGramQ}


def load_model(path: str | Path) -> InGram | InGramQ:
    """The model of a run directory or weights file, whichever it is, or shipped, by its name."""
    path = run_path(path)
    if not path.exists():
        known = ", ".join(names())
        raise RunError(f"{path}: no such file; want a run directory, or one of {known}")
    name = model_name(path)
    if name not in MODELS:
        raise RunError(f"{path}: want a model of {', '.join(MODELS)}, got {name!r}")
    return MODELS[name].load(path)


__all__ = ["MODELS", "InGram", "InGramQ", "Model", "ModelConfig", "QueryModelConfig", "load_model"]
