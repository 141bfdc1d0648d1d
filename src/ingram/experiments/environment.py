"""What a run was made with: versions, machine, command."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from importlib.metadata import version

import torch

PACKAGES = ("ingram", "torch", "numpy", "numba", "polars", "scipy")


def environment() -> dict[str, str]:
    """Versions and machine, by name."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "threads": f"{torch.get_num_threads()} of {os.cpu_count()} cores",
    }


def command_line() -> str:
    """The command that this process was started with, as one could type it again."""
    return shlex.join(["ingram", *sys.argv[1:]])
