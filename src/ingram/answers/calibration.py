"""What a score means: from scores to probabilities, with parameters that stand in plain JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from scipy.special import expit

from ingram.errors import CalibrationError
from ingram.io.atomic import write_text
from ingram.io.lines import short

Floats = npt.NDArray[np.float64]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Platt(_Frozen):
    """p = 1 / (1 + exp(-(slope * score + intercept)))."""

    slope: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    intercept: Finite

    def probability(self, scores: npt.ArrayLike) -> Floats:
        return np.asarray(expit(self.slope * np.asarray(scores, np.float64) + self.intercept))


class Isotonic(_Frozen):
    """Straight lines between points that never fall; level beyond the first and the last."""

    scores: tuple[Finite, ...] = Field(min_length=1)
    probabilities: tuple[Probability, ...]

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if len(self.scores) != len(self.probabilities):
            raise ValueError("want as many probabilities as scores")
        if (np.diff(self.scores) < 0).any() or (np.diff(self.probabilities) < 0).any():
            raise ValueError("want scores and probabilities that never fall")
        return self

    def probability(self, scores: npt.ArrayLike) -> Floats:
        return np.interp(np.asarray(scores, np.float64), self.scores, self.probabilities)


class Bin(_Frozen):
    """Answers of one range of probability: how many, what was said of them, what was right."""

    answers: int
    said: Probability
    right: Probability


class Reliability(_Frozen):
    """How far to trust one method, on questions it was not fitted to.

    ece: expected calibration error, the mean distance of what was said from what was right.
    brier: the mean square of the error of each probability.
    """

    ece: Probability
    brier: Probability
    bins: tuple[Bin, ...]


class Calibration(_Frozen):
    """Both methods fitted to one dataset's validation, the one that is used, and how good it is.

    ``model`` and ``draws`` say whose scores these are. ``threshold``: triples that score at least
    this are called true; ``accuracy`` is how often that is right of as many true as false ones.
    """

    format: Literal["ingram-calibration-1"] = "ingram-calibration-1"
    model: str | None
    draws: int | None
    dataset: str
    questions: int
    method: Literal["platt", "isotonic"]
    platt: Platt
    isotonic: Isotonic
    reliability: dict[Literal["platt", "isotonic"], Reliability]
    threshold: Finite
    accuracy: Probability

    def probability(self, scores: npt.ArrayLike) -> Floats:
        """The probabilities of scores, by the method that is used."""
        fitted = self.platt if self.method == "platt" else self.isotonic
        return fitted.probability(scores)

    def save(self, path: Path) -> None:
        write_text(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read back what :meth:`save` wrote; anything else is refused."""
        try:
            return cls.model_validate(json.loads(path.read_text(encoding="utf-8")))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part)[:80] for part in first["loc"])
            raise CalibrationError(f"{path}: {where}: {first['msg']}; calibrate anew") from error
        except (OSError, ValueError, RecursionError) as error:
            reason = short(str(error))
            raise CalibrationError(f"{path}: want a calibration in JSON, got {reason}") from error
