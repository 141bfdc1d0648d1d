"""What every model is: parameters and a configuration, in one file that executes nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from pydantic import BaseModel
from torch import Tensor, nn

from ingram.errors import DivergedError, RunError
from ingram.io.tensors import Shapes, check_shapes, read_about, read_tensors, write_tensors

FORMAT = "ingram-model-1"


class Model(nn.Module):
    """Parameters only: every graph is an argument, so one set of weights serves any graph."""

    Config: ClassVar[type[BaseModel]]

    def __init__(self, config: BaseModel | None = None, *, seed: int = 0) -> None:
        super().__init__()
        self.config: Any = config or self.Config()
        self.origin: dict[str, Any] = {}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._create(self.config)

    def _create(self, c: Any) -> None:
        """Make the parameters."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """As configurations and the command line call it."""
        return str(self.config.name)

    def save(self, path: Path, origin: dict[str, Any]) -> None:
        """Weights and configuration in one file; ``origin`` says where they are from."""
        weights = weights_of(self)
        self.origin = identified(weights, origin)
        write_model(path, self.config, weights, self.origin)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The model of a run directory, or of a weights file.

        The parameters are made when the file is known to hold what its description promises.
        """
        path = weights_path(path)
        model: Self | None = None

        def check(about: dict[str, Any], found: Shapes) -> None:
            nonlocal model
            model = cls._described(path, about)
            check_shapes(path, found, {n: p.shape for n, p in model.named_parameters()})

        tensors, _ = read_tensors(path, FORMAT, check=check)
        assert model is not None
        # Copied: what is read lies anywhere in memory, and products may then differ in their bits.
        weights = {n: tensors[n].to(p.dtype, copy=True) for n, p in model.named_parameters()}
        model.load_state_dict(weights, assign=True)
        if bad := not_finite(model):
            raise DivergedError(f"{path}: {bad} holds NaN or infinity; train anew")
        return model

    @classmethod
    def _described(cls, path: Path, about: dict[str, Any]) -> Self:
        """A model without memory behind its parameters."""
        wanted = cls.Config.model_fields["name"].default
        try:
            found = about["config"]["name"]
            if found != wanted:
                raise RunError(f"{path}: want a run of {wanted}, got one of {str(found)[:60]}")
            with torch.device("meta"):
                model = cls(cls.Config.model_validate(about["config"]))
            model.origin = dict(about["origin"])
        except (KeyError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise RunError(f"{path}: its description cannot be read: {reason}") from error
        return model


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the parameters by name."""
    return {name: p.detach().cpu().clone() for name, p in model.named_parameters()}


def not_finite(model: nn.Module) -> str | None:
    """The first parameter with a NaN or infinity in it, if there is one."""
    return next((n for n, p in model.named_parameters() if not p.isfinite().all()), None)


def identified(weights: dict[str, Tensor], origin: dict[str, Any]) -> dict[str, Any]:
    """``origin`` with an id of the weights."""
    digest = hashlib.sha256(b"".join(t.contiguous().numpy().tobytes() for t in weights.values()))
    return {**origin, "id": digest.hexdigest()[:12]}


def write_model(
    path: Path, config: BaseModel, weights: dict[str, Tensor], origin: dict[str, Any]
) -> None:
    """Write what :meth:`Model.load` reads."""
    about = {"format": FORMAT, "config": config.model_dump(), "origin": origin}
    write_tensors(path, weights, about)


def weights_path(path: str | Path) -> Path:
    """The weights file of a run directory, or the file itself."""
    path = Path(path)
    return path / "model.safetensors" if path.is_dir() else path


def model_name(path: str | Path) -> str:
    """Which model a weights file or run directory holds."""
    path = weights_path(path)
    about = read_about(path, FORMAT)
    try:
        return str(about["config"]["name"])
    except (KeyError, TypeError) as error:
        raise RunError(f"{path}: its description names no model") from error
