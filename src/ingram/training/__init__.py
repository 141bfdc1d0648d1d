"""Learning how to aggregate: section 5.4."""

from ingram.training.config import PRESETS, Config, load_config
from ingram.training.loop import Listener, Outcome, fit, train

__all__ = ["PRESETS", "Config", "Listener", "Outcome", "fit", "load_config", "train"]
