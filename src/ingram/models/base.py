"""What every model is: parameters and a configuration, in one file that executes nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from pydantic import BaseModel
from torch import nn

from ingram.errors import RunError
from ingram.io.tensors import checked_tensor, read_tensors, write_tensors

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
        tensors = {name: p.detach().cpu().contiguous() for name, p in self.named_parameters()}
        digest = hashlib.sha256(b"".join(t.numpy().tobytes() for t in tensors.values()))
        self.origin = {**origin, "id": digest.hexdigest()[:12]}
        about = {"format": FORMAT, "config": self.config.model_dump(), "origin": self.origin}
        write_tensors(path, tensors, about)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The model of a run directory, or of a weights file."""
        path = weights_path(path)
        tensors, about = read_tensors(path, FORMAT)
        wanted = cls.Config.model_fields["name"].default
        try:
            found = about["config"]["name"]
            if found != wanted:
                raise RunError(f"{path}: want a run of {wanted}, got one of {found}")
            model = cls(cls.Config.model_validate(about["config"]))
            model.origin = dict(about["origin"])
        except (KeyError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise RunError(f"{path}: its description cannot be read: {reason}") from error
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(checked_tensor(path, tensors, name, parameter.shape))
        return model


def weights_path(path: str | Path) -> Path:
    """The weights file of a run directory, or the file itself."""
    path = Path(path)
    return path / "model.safetensors" if path.is_dir() else path


def model_name(path: str | Path) -> str:
    """Which model a weights file or run directory holds."""
    path = weights_path(path)
    _, about = read_tensors(path, FORMAT, tensors=False)
    try:
        return str(about["config"]["name"])
    except (KeyError, TypeError) as error:
        raise RunError(f"{path}: its description names no model") from error
