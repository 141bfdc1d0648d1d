"""Models hold parameters only: every graph is an argument."""

from ingram.models.config import ModelConfig
from ingram.models.ingram import InGram

__all__ = ["InGram", "ModelConfig"]
