"""Every setting of a run, with its default and what it means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingram.errors import ConfigError
from ingram.models.config import Count, ModelConfig

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class TrainingConfig(BaseModel):
    """Section 5.4."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(0, ge=0, lt=2**63, description="of weights, splits, features, negatives")
    epochs: int = Field(4_000, ge=1, le=10**9, description="passes; one optimiser step each")
    learning_rate: Positive = Field(5e-4, description="Adam's")
    margin: Positive = Field(2.0, description="between a true triple's score and a false one's")
    negatives: Count = Field(10, description="false triples for each true one")
    clip_norm: Positive = Field(0.1, description="largest norm of the gradient")
    message_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.75, description="part of the training triples that are facts; the rest is predicted"
    )
    dynamic_split: bool = Field(True, description="false: one split for the whole run")
    validate_every: Count = Field(200, description="epochs between validations and checkpoints")
    patience: Count | None = Field(
        None, description="stop after so many validations without a better one"
    )
    on_collapse: Literal["recover", "report"] = Field(
        "recover", description="go back to the last good checkpoint with a lower rate, or only say"
    )
    recovery_rate: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.5, description="factor on the learning rate at each recovery"
    )


class EvaluationConfig(BaseModel):
    """How embeddings are drawn and ranked, for validation and for test alike."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    draws: Annotated[int, Field(ge=1, le=1_000)] = Field(
        8, description="random feature sets averaged over"
    )
    features: Literal["fresh", "chosen"] = Field(
        "fresh",
        description="test with features of their own, or with those of the best validation",
    )
    ties: Literal["realistic", "optimistic", "pessimistic", "official"] = Field(
        "realistic", description="the place of an answer among equal scores"
    )


class Config(BaseModel):
    """A whole run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    def with_settings(self, settings: dict[str, Any]) -> Config:
        """A copy with ``{"section.key": value}`` replaced; values may be text as in YAML."""
        data = self.model_dump()
        for name, value in settings.items():
            section, _, key = name.partition(".")
            if key not in data.get(section, {}):
                known = [f"{s}.{k}" for s, values in data.items() for k in values]
                near = [k for k in known if k.split(".")[1] == (key or section)]
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                raise ConfigError(f"no setting {name!r}; {hint}")
            data[section][key] = _parsed(name, value) if isinstance(value, str) else value
        return _validated(data, "settings")


PRESETS = {
    "default": Config(),
    "paper": Config(
        training=TrainingConfig(epochs=10_000, on_collapse="report"),
        evaluation=EvaluationConfig(draws=1, features="chosen", ties="official"),
    ),
}
"""``default`` is stable: several draws, and a collapse is recovered from. ``paper`` follows the
published defaults and protocol: one draw, tested with the weights and draw chosen on validation."""


def load_config(path: Path) -> Config:
    """A configuration from a YAML file."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: want YAML, got {' '.join(str(error).split())}") from error
    return _validated(data or {}, str(path))


def dump_config(config: Config) -> str:
    """The configuration as YAML."""
    return yaml.safe_dump(config.model_dump(), sort_keys=False)


def _parsed(name: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{name}: want a YAML value, got {text!r}") from error


def _validated(data: Any, where: str) -> Config:
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        got = f", got {first['input']!r}" if not isinstance(first["input"], dict) else ""
        raise ConfigError(f"{where}: {name}: {first['msg']}{got}".replace(": :", ":")) from error
