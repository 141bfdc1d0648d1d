"""Learning how to aggregate: section 5.4."""

from ingram.training.config import Config, QueryConfig, load_config
from ingram.training.fitting import config_from, fit
from ingram.training.listener import Listener, Outcome
from ingram.training.loop import train
from ingram.training.presets import PRESETS, preset_config

__all__ = [
    "PRESETS",
    "Config",
    "Listener",
    "Outcome",
    "QueryConfig",
    "config_from",
    "fit",
    "load_config",
    "preset_config",
    "train",
]
