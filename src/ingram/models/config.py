"""The shape of the models: what must be known to read their weights back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Count = Annotated[int, Field(ge=1, le=100_000)]
Layers = Annotated[int, Field(ge=1, le=100)]
Loops = Literal["any", "stated"]
LOOPS = "stated: an entity answers about itself only where the relation has such a fact"
SIDES = 2
"""Ways in which relations are near: they share heads, or tails."""
SKETCH_BLOCKS = 3
"""What a sketch tells: neighbours, roles, links."""


class ModelConfig(BaseModel):
    """InGram's sizes and the switches of table 4. Symbols in brackets are the paper's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["ingram"] = "ingram"
    relation_width: Count = Field(32, description="width of relation features and embeddings [d]")
    entity_width: Count = Field(32, description="width of entity features and embeddings [d-hat]")
    relation_hidden: Count = Field(128, description="width between relation layers [d']")
    entity_hidden: Count = Field(256, description="width between entity layers [d-hat']")
    relation_layers: Layers = Field(2, description="relation layers [L]")
    entity_layers: Layers = Field(2, description="entity layers [L-hat]")
    relation_heads: Count = Field(8, description="attention heads of relation layers [K]")
    entity_heads: Count = Field(8, description="attention heads of entity layers [K-hat]")
    bins: Count = Field(10, description="affinity bins [B]; 1 ignores the affinities")
    aggregator: Literal["attention", "mean", "sum"] = Field(
        "attention", description="how neighbours are summed"
    )
    self_loop: Literal["mean-relation", "learned"] = Field(
        "mean-relation", description="the relation vector of an entity's self-loop"
    )
    relation_update: bool = Field(True, description="false: relations keep their first vectors")
    sides: Literal["together", "apart"] = Field(
        "together", description="sharing heads and sharing tails: one affinity [A], or two"
    )
    head_questions: Literal["relation", "inverse"] = Field(
        "relation", description="which vector asks for a head: the paper's, or the inverse's own"
    )
    readout: Literal["last", "all"] = Field(
        "last", description="entity layers that its vector is made of: the paper's last, or all"
    )
    sketch_width: Annotated[int, Field(ge=0, le=100_000)] = Field(
        0, description="of three further blocks of a vector: its neighbours, roles and links"
    )
    sketch_parts: Count = Field(
        16, description="parts of a block that a relation weighs apart from each other"
    )
    loops: Loops = Field("any", description=LOOPS)

    @property
    def vector_width(self) -> int:
        """Of what one draw gives of an entity: d-hat, and the three blocks of its sketch."""
        return self.entity_width + SKETCH_BLOCKS * self.sketch_width

    @property
    def neighbour_kinds(self) -> int:
        """Of edges between relations: a bin, on one side or the other where they are apart."""
        return self.bins * (SIDES if self.sides == "apart" else 1)

    @model_validator(mode="after")
    def _parts_divide_widths(self) -> ModelConfig:
        for what in ("relation", "entity"):
            hidden, heads = getattr(self, f"{what}_hidden"), getattr(self, f"{what}_heads")
            if hidden % heads:
                raise ValueError(
                    f"{what}_hidden must be a multiple of {what}_heads, got {hidden} and {heads}"
                )
        if self.sketch_width % self.sketch_parts:
            raise ValueError(
                "sketch_width must be a multiple of sketch_parts, got "
                f"{self.sketch_width} and {self.sketch_parts}"
            )
        return self


class QueryModelConfig(BaseModel):
    """The sizes of the query-conditioned model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["ingram-q"] = "ingram-q"
    width: Count = Field(32, description="width of relation and entity states")
    relation_layers: Layers = Field(3, description="layers over the relation graph")
    entity_layers: Layers = Field(5, description="layers over the graph: how far a query reaches")
    bins: Count = Field(10, description="affinity bins on each side; 1 ignores the affinities")
    maxima: bool = Field(
        False, description="an entity gets the largest of its messages beside their sum"
    )
    loops: Loops = Field("any", description=LOOPS)
