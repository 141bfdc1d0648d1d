"""Settings of the tasks that training cuts out of a graph."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ingram.models.config import Count

Share = Annotated[float, Field(ge=0, le=1)]
T = TypeVar("T", int, float)


def _ascending(pair: tuple[T, T]) -> tuple[T, T]:
    if pair[0] > pair[1]:
        raise ValueError("the first of a pair must not be above the second")
    return pair


Pair = Annotated[tuple[Count, Count], AfterValidator(_ascending)]
Shares = Annotated[tuple[Share, Share], AfterValidator(_ascending)]


class TaskConfig(BaseModel):
    """Tasks cut out of the training graph; a pair is drawn between, anew for each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cut: bool = Field(True, description="false: every epoch sees the whole training graph")
    entities: Pair = Field(
        (400, 5_000), description="entities reached; at most twice as many as there are"
    )
    neighbours: Pair = Field((8, 50), description="most neighbours followed of an entity")
    relations: Shares = Field((0.4, 1.0), description="part of the relations kept")
    density: Shares = Field((0.4, 1.0), description="part of the triples kept")
    least_triples: Count = Field(300, description="fewer are not worth a task")
    most_triples: Count = Field(20_000, description="of more, so many are drawn")

    def largest(self, num_entities: int, num_triples: int) -> tuple[int, int]:
        """Entities and triples of a task out of a graph of so many, at most."""
        if not self.cut:
            return num_entities, num_triples
        return min(num_entities, self.entities[1]), min(num_triples, self.most_triples)
