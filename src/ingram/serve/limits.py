"""What a client may ask for at most. Every limit can be set where the service is started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingram.errors import ConfigError

Count = Annotated[int, Field(ge=1, le=2**53)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class Limits(BaseModel):
    """Each refusal names the limit, so that whoever runs the service knows what to set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: Count = Field(1_000, description="answers to one question")
    reasons: Count = Field(20, description="paths of one explanation")
    batch: Count = Field(256, description="questions or triples in one request")
    answers: Count = Field(20_000, description="answers to all questions of one request")
    waiting: Count = Field(2_048, description="questions that wait for one graph at a time")
    together: Count = Field(64, description="waiting questions that are answered in one pass")
    seconds: Seconds = Field(30, description="from a request's first byte to its answer")
    upload_seconds: Seconds = Field(600, description="the same for an upload")
    header_seconds: Seconds = Field(10, description="for the head of a request to arrive")
    body: Count = Field(2**20, description="bytes in the body of a question")
    upload: Count = Field(64 * 2**20, description="bytes in the body of an upload")
    unpacked: Count = Field(256 * 2**20, description="bytes that an upload may unpack to")
    graphs: Count = Field(8, description="uploaded graphs held at a time")
    triples: Count = Field(1_000_000, description="triples in an uploaded graph")
    entities: Count = Field(200_000, description="entities in an uploaded graph")
    relations: Count = Field(1_000, description="relations in an uploaded graph")
    label: Count = Field(2_000, description="characters in a label of an uploaded graph")
    connections: Count = Field(512, description="open connections")

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> Limits:
        """The defaults with some limits set, as the command line gives them."""
        for name in settings:
            if name not in cls.model_fields:
                known = ", ".join(cls.model_fields)
                raise ConfigError(f"no limit {name!r}; known are {known}")
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigError(
                f"limit {first['loc'][0]}: {first['msg']}, got {first['input']!r}"
            ) from error
