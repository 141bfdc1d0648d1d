"""Every setting of a run, with its default and what it means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ingram.errors import ConfigError
from ingram.models.config import Count, ModelConfig, QueryModelConfig
from ingram.training.plain_yaml import plain_yaml
from ingram.training.task_config import Share, TaskConfig

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
LARGEST = 2**16
"""Bytes of a configuration file, at most; ours have two thousand."""
C = TypeVar("C", bound="RunConfig")


class TrainingConfig(BaseModel):
    """What both models' training has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(0, ge=0, lt=2**63, description="of weights and everything drawn in training")
    epochs: int = Field(4_000, ge=1, le=10**9, description="fresh splits of the training graph")
    learning_rate: Positive = Field(5e-4, description="AdamW's; the highest, if it has a schedule")
    warmup: Share = Field(0.0, description="part of the epochs over which the rate rises")
    decay: Share = Field(0.0, description="part of the epochs over which it falls, as a cosine")
    weight_decay: Annotated[float, Field(ge=0, lt=1)] = Field(0.0, description="AdamW's")
    averaging: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="of weights over steps: the part that stays at each; 0 for none"
    )
    clip_norm: Positive = Field(0.1, description="largest norm of the gradient")
    message_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.75, description="part of the training triples that are facts; the rest is predicted"
    )
    dynamic_split: bool = Field(True, description="false: one split for the whole run")
    validate_every: Count = Field(200, description="epochs between validations and checkpoints")
    sources: Literal["alike", "triples"] = Field(
        "alike", description="how often each of several graphs is taken: alike, or by its triples"
    )
    keep: Literal["best", "last"] = Field(
        "best", description="the weights of the best validation, or of the last: no choice at all"
    )
    patience: Count | None = Field(
        None, description="stop after so many validations without a better one"
    )
    on_collapse: Literal["recover", "report"] = Field(
        "recover", description="go back to the last good checkpoint with a lower rate, or only say"
    )
    recovery_rate: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.5, description="factor on the learning rate at each recovery"
    )

    @model_validator(mode="after")
    def _rate_rises_before_it_falls(self) -> Self:
        if self.warmup + self.decay > 1 + 1e-9:
            raise ValueError(
                f"warmup and decay are parts of one run: {self.warmup} and {self.decay} are more "
                "than 1 together"
            )
        return self


class EmbeddingTraining(TrainingConfig):
    """Section 5.4: one optimiser step an epoch."""

    objective: Literal["margin", "cross-entropy"] = Field(
        "margin", description="the paper's, or over all entities with other true answers left out"
    )
    margin: Positive = Field(2.0, description="margin: between a true and a false triple's score")
    negatives: Count = Field(10, description="margin: false triples for each true one")
    queries: Annotated[int, Field(ge=2, le=100_000)] = Field(
        2_048, description="cross-entropy: questions a step, at most; half as many triples"
    )
    draws: Annotated[int, Field(ge=1, le=1_000)] = Field(
        1, description="random feature sets embedded together in a step"
    )


class QueryTraining(TrainingConfig):
    """Cross-entropy over all entities, several optimiser steps on each split."""

    epochs: int = Field(200, ge=1, le=10**9, description="fresh splits of the training graph")
    steps: Count = Field(5, description="optimiser steps on each split")
    queries: Annotated[int, Field(ge=2, le=100_000)] = Field(
        32, description="questions a step: half as many triples, each asked from both sides"
    )
    power: Share = Field(
        0.0, description="a question counts by its answer's probability to this; 0: cross-entropy"
    )
    learning_rate: Positive = Field(2e-3, description="AdamW's, at its highest")
    warmup: Share = Field(0.05, description="part of the epochs over which the rate rises")
    decay: Share = Field(0.95, description="part of the epochs over which it falls, as a cosine")
    weight_decay: Annotated[float, Field(ge=0, lt=1)] = Field(0.01, description="AdamW's")
    clip_norm: Positive = Field(1.0, description="largest norm of the gradient")
    message_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.75, description="part of the training triples that are facts; the rest is predicted"
    )
    validate_every: Count = Field(20, description="epochs between validations and checkpoints")


class EvaluationConfig(BaseModel):
    """How a model is ranked, for validation and for test alike."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ties: Literal["realistic", "optimistic", "pessimistic", "official"] = Field(
        "realistic", description="the place of an answer among equal scores"
    )
    sample: Count | None = Field(
        None, description="validation triples ranked while training, at most; the test is whole"
    )


class EmbeddingEvaluation(EvaluationConfig):
    """The same with random features."""

    draws: Annotated[int, Field(ge=1, le=1_000)] = Field(
        32, description="random feature sets averaged over"
    )
    features: Literal["fresh", "chosen"] = Field(
        "fresh",
        description="test with features of their own, or with those of the best validation",
    )


class RunConfig(BaseModel):
    """A whole run, of either model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelConfig | QueryModelConfig
    training: TrainingConfig
    tasks: TaskConfig
    evaluation: EvaluationConfig

    @model_validator(mode="after")
    def _a_fixed_split_is_of_one_graph(self) -> Self:
        if self.tasks.cut and not self.training.dynamic_split:
            raise ValueError(
                "training.dynamic_split=false wants tasks.cut=false: every task differs"
            )
        return self

    def with_settings(self, settings: dict[str, Any]) -> Self:
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
        changed = _validated(type(self), data, "settings")
        for name in settings:
            if name in changed.unread:
                raise ConfigError(f"{name}: nothing reads it where {changed.unread[name]}")
        return changed

    @property
    def unread(self) -> dict[str, str]:
        """Settings that change nothing, each with the other setting that makes it so."""
        found = {}
        if not self.tasks.cut:
            names = [name for name in TaskConfig.model_fields if name != "cut"]
            found = {f"tasks.{name}": "tasks.cut=false" for name in names}
        if self.training.on_collapse == "report":
            found["training.recovery_rate"] = "training.on_collapse=report"
        return found

    def with_model(self, model: ModelConfig | QueryModelConfig) -> Self:
        """A copy for another model of the same kind; refused if it cannot be trained like this."""
        data = {**self.model_dump(), "model": model.model_dump()}
        return _validated(type(self), data, "settings")


class Config(RunConfig):
    """A run of the embedding model."""

    model: ModelConfig = ModelConfig()
    training: EmbeddingTraining = EmbeddingTraining()
    tasks: TaskConfig = TaskConfig(cut=False)
    evaluation: EmbeddingEvaluation = EmbeddingEvaluation()

    @model_validator(mode="after")
    def _a_margin_is_between_triples(self) -> Self:
        if self.model.head_questions == "inverse" and self.training.objective == "margin":
            raise ValueError(
                "model.head_questions=inverse wants training.objective=cross-entropy: a margin is "
                "between triples, which are no questions"
            )
        return self

    @property
    def unread(self) -> dict[str, str]:
        """The same, and of the other objective."""
        objective, model = self.training.objective, self.model
        of_other = ["queries"] if objective == "margin" else ["margin", "negatives"]
        found = {f"training.{name}": f"training.objective={objective}" for name in of_other}
        if model.aggregator != "attention":
            idle: tuple[str, ...] = ("bins", "relation_heads", "entity_heads")
            found |= {f"model.{name}": f"model.aggregator={model.aggregator}" for name in idle}
        if not model.relation_update:
            idle = ("relation_layers", "relation_heads", "bins", "sides")
            found |= {f"model.{name}": "model.relation_update=false" for name in idle}
        if not model.sketch_width:
            found["model.sketch_parts"] = "model.sketch_width=0"
        return {**super().unread, **found}


class QueryConfig(RunConfig):
    """A run of the query-conditioned model."""

    model: QueryModelConfig = QueryModelConfig()
    training: QueryTraining = QueryTraining()
    tasks: TaskConfig = TaskConfig()
    evaluation: EvaluationConfig = EvaluationConfig(sample=500)


def load_config(path: Path) -> Config | QueryConfig:
    """A configuration from a YAML file."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(text) > LARGEST:
        raise ConfigError(f"{path}: want at most {LARGEST:,} bytes of settings, got more")
    return parse_config(text, str(path))


def parse_config(text: bytes, where: str) -> Config | QueryConfig:
    """A configuration from YAML; ``where`` it stands is for errors."""
    try:
        data = plain_yaml(text.decode())
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(f"{where}: want YAML, got {reason}") from error
    model = data.get("model") if isinstance(data, dict) else None
    if isinstance(model, dict) and model.get("name") == "ingram-q":
        return _validated(QueryConfig, data, where)
    return _validated(Config, data or {}, where)


def dump_config(config: RunConfig) -> str:
    """The configuration as YAML."""
    return yaml.safe_dump(config.model_dump(), sort_keys=False)


def _parsed(name: str, text: str) -> Any:
    try:
        return plain_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: want a YAML value, got {text[:200]!r}") from error


def _validated(kind: type[C], data: Any, where: str) -> C:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part)[:80] for part in first["loc"])
        got = "" if isinstance(first["input"], dict) else f", got {_shown(first['input'])}"
        raise ConfigError(f"{where}: {name}: {first['msg']}{got}".replace(": :", ":")) from error


def _shown(value: Any) -> str:
    try:
        return repr(value)[:80]
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of thousands of digits"
