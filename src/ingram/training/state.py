"""All that a run is at one moment. A checkpoint holds it whole: nothing else is needed to go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import torch
from pydantic import ConfigDict, Field, TypeAdapter
from torch import Tensor

from ingram.io.tensors import Shapes
from ingram.models import InGram, InGramQ
from ingram.models.base import identified, weights_of
from ingram.training.optimizer import ClippedAdamW
from ingram.training.stability import CollapseWatch

Epoch = Annotated[int, Field(ge=0, le=10**9)]
Figures = dict[str, int | float | dict[str, float]]

MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What AdamW remembers of a parameter."""


@dataclass
class Progress:
    """Where a run stands, besides its tensors.

    ``best`` has at least an epoch and its MRR; ``start`` says where the first weights are from, if
    they were given.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    epoch: Epoch = 0
    learning_rate: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    loss_sum: float = 0.0
    loss_count: int = 0
    seconds: float = 0.0
    best: dict[str, Any] = field(default_factory=dict)
    stale: int = 0
    collapses: list[dict[str, Any]] = field(default_factory=list)
    watch: CollapseWatch = field(default_factory=CollapseWatch)
    start: dict[str, Any] | None = None
    validations: int = 0


@dataclass(frozen=True)
class Good:
    """Where to return to after a collapse; its tensors are named as :meth:`State.moment` does."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    epoch: Epoch
    watch: CollapseWatch
    tensors: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Best:
    """The best weights so far, and what their file says of them."""

    weights: dict[str, Tensor]
    origin: dict[str, Any]


class State:
    """Model, averaged model if any, optimiser, progress, and what is kept of earlier epochs.

    ``data`` describes the graphs of the run, by use.
    """

    def __init__(
        self,
        model: InGram | InGramQ,
        optimizer: ClippedAdamW,
        average: InGram | InGramQ | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.optimizer, self.average = model, optimizer, average
        self.data: dict[str, Any] = dict(data or {})
        self.progress = Progress()
        self.good: Good | None = None
        self.best: Best | None = None

    def moment(self) -> dict[str, Tensor]:
        """The tensors that the next epoch starts from, not copied."""
        tensors = dict(self._weights())
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimizer.state[parameter].items():
                tensors[f"optimizer.{key}.{name}"] = value
        return tensors

    def keep_as_good(self) -> None:
        """Return to this moment after a collapse."""
        tensors = {name: tensor.detach().clone() for name, tensor in self.moment().items()}
        self.good = Good(self.progress.epoch, copy(self.progress.watch), tensors)

    def keep_as_best(self, model: InGram | InGramQ, made: dict[str, Any]) -> None:
        """These weights are the best so far; ``made`` is what a test needs to know to repeat it."""
        weights = weights_of(model)
        origin = {"graphs": self.data.get("graphs", []), "valid": self.progress.best, **made}
        if self.progress.start is not None:
            origin["start"] = self.progress.start
        self.best = Best(weights, identified(weights, origin))

    def return_to_good(self) -> Epoch:
        """Weights, optimiser and watch as they were; the epoch they were at."""
        assert self.good is not None
        self._put(self.good.tensors)
        self.progress.watch = copy(self.good.watch)
        return self.good.epoch

    def pack(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and description. What is good is not written twice if it is this moment."""
        tensors = {name: tensor.detach() for name, tensor in self.moment().items()}
        about: dict[str, Any] = {"progress": asdict(self.progress), "data": self.data}
        if self.good is not None:
            about["good"] = {"epoch": self.good.epoch, "watch": asdict(self.good.watch)}
            if self.good.epoch != self.progress.epoch:
                tensors |= {f"good.{name}": t for name, t in self.good.tensors.items()}
        if self.best is not None:
            about["best"] = self.best.origin
            tensors |= {f"best.{name}": t for name, t in self.best.weights.items()}
        return tensors, about

    def shapes(self, about: dict[str, Any]) -> tuple[Shapes, Shapes]:
        """Of the tensors that a checkpoint with such a description must and may hold.

        An optimiser knows nothing of a parameter that no gradient has reached.
        """
        good, progress = about.get("good"), about["progress"]
        apart = good is not None and good["epoch"] != progress["epoch"]
        must = {name: p.shape for name, p in self._weights()}
        may = {
            f"optimizer.{key}.{name}": () if key == "step" else p.shape
            for name, p in self.model.named_parameters()
            for key in MOMENTS
        }
        for shapes in (must, may):
            shapes |= {f"good.{name}": s for name, s in shapes.items()} if apart else {}
        if about.get("best") is not None:
            must |= {f"best.{name}": p.shape for name, p in self.model.named_parameters()}
        return must, may

    def unpack(self, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
        """Be what :meth:`pack` packed. A description that cannot be read raises a ValueError."""
        progress = TypeAdapter(Progress).validate_python(about["progress"])
        if progress.best:
            TypeAdapter(Figures).validate_python(progress.best, strict=True)
            TypeAdapter(Epoch).validate_python(progress.best["epoch"], strict=True)
            TypeAdapter(float).validate_python(progress.best["mrr"], strict=True)
        good = TypeAdapter(Good | None).validate_python(about.get("good"))
        best = TypeAdapter(dict[str, Any] | None).validate_python(about.get("best"))
        self.data = TypeAdapter(dict[str, list[Any]]).validate_python(about["data"])
        self.progress = progress
        self._put(tensors)
        self.good = self.best = None
        if good is not None:
            apart = {n[len("good.") :]: t for n, t in tensors.items() if n.startswith("good.")}
            copies = {name: t.detach().clone() for name, t in (apart or self.moment()).items()}
            self.good = Good(good.epoch, good.watch, copies)
        if best is not None:
            names = [name for name, _ in self.model.named_parameters()]
            self.best = Best({name: tensors[f"best.{name}"].clone() for name in names}, best)

    def _weights(self) -> Iterator[tuple[str, Tensor]]:
        for what, model in (("model", self.model), ("average", self.average)):
            if model is not None:
                yield from ((f"{what}.{name}", p) for name, p in model.named_parameters())

    @torch.no_grad()
    def _put(self, tensors: Mapping[str, Tensor]) -> None:
        for name, weights in self._weights():
            weights.copy_(tensors[name])
        for name, parameter in self.model.named_parameters():
            self.optimizer.state.pop(parameter, None)
            names = {key: f"optimizer.{key}.{name}" for key in MOMENTS}
            if names["step"] in tensors:
                self.optimizer.state[parameter] = {
                    key: tensors[full].to(parameter.dtype, copy=True) for key, full in names.items()
                }
