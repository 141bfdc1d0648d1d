"""How a dataset was cut, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ingram.datasets.presets import GeneratorConfig
from ingram.datasets.sizes import Sizes


@dataclass(frozen=True)
class GeneratorReport:
    """How a dataset came about. Its sizes are those of table 5: of E_tr, and of the whole E_inf.

    known_candidates, new_candidates: |X| and |Y| before they were mixed. asked_share is p_tri,
    mixed_share what the mixing reached, final_share what the last giant component left: the shares
    of the inference graph's triples that have new relations. notes: what a user should know.
    """

    config: GeneratorConfig
    seed: int
    source: Sizes
    giant: Sizes
    train: Sizes
    inference: Sizes
    facts: int
    valid: int
    test: int
    new_relations: int
    known_candidates: int
    new_candidates: int
    mixed: int
    asked_share: float
    mixed_share: float
    final_share: float
    notes: tuple[str, ...] = ()

    @property
    def sizes(self) -> dict[str, Sizes]:
        return {"train": self.train, "inference": self.inference}

    def about(self, source: str) -> str:
        """What a reader of the dataset should know, in words."""
        config = self.config
        return (
            f"An inductive dataset cut from {source} by Algorithm 2 of the InGram paper, with n_tr "
            f"{config.n_train}, n_inf {config.n_inference}, p_rel {config.p_rel}, p_tri "
            f"{config.p_tri} and seed {self.seed}. The training and the inference graph share no "
            f"entities; {self.new_relations:,} of the inference graph's "
            f"{self.inference.relations:,} relations, and {self.final_share:.1%} of its triples, "
            f"are of relations that the training graph lacks."
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)
