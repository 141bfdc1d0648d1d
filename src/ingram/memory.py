"""How much memory is free, and a word before a task that needs more.

What a task needs is estimated by a formula beside the code that allocates it; ``benchmarks.memory``
holds the estimates against measured peaks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ingram.errors import ConfigError, MemoryNeedError

VARIABLE = "INGRAM_MEMORY"
"""In the environment: gibibytes that count as free, whatever the system says."""
OVERHEAD = 100 * 2**20
"""Bytes that any task takes once: compiled loops, thread pools and libraries as they are loaded."""
UNLIMITED = 2**60
"""Limits from here on are none."""

ROOT = Path("/")
"""Where the system's books are."""


def ensure(need: int, task: str, remedy: str) -> None:
    """Refuse a task that needs more bytes than are free; ``remedy`` says what would make it less.

    Where the system does not tell what is free, nothing is refused.
    """
    free = free_bytes()
    need += OVERHEAD
    if free is not None and need > free:
        raise MemoryNeedError(
            f"{task} needs about {_size(need)} of memory, and {_size(free)} are free; {remedy}"
        )


def free_bytes() -> int | None:
    """The least of what the system, the control groups and the process's own limit leave."""
    told = os.environ.get(VARIABLE)
    if told:
        try:
            return int(float(told) * 2**30)
        except (ValueError, OverflowError) as error:
            raise ConfigError(f"{VARIABLE} wants a number of gibibytes, got {told!r}") from error
    limits = [value for value in (_system(), *_groups(), _process()) if value is not None]
    return max(0, min(limits)) if limits else None


def _system() -> int | None:
    return _field(ROOT / "proc/meminfo", "MemAvailable", 1024)


def _process() -> int | None:
    """What ``ulimit -v`` leaves."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError, ValueError):
        return None
    used = _field(ROOT / "proc/self/status", "VmSize", 1024)
    return None if used is None or not 0 <= limit < UNLIMITED else limit - used


def _groups() -> Iterator[int]:
    """What each control group around this process leaves, of version 1 or 2."""
    for line in _text(ROOT / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        top = ROOT / "sys/fs/cgroup"
        if controllers == "":
            names = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            top /= "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        folder = top / path.lstrip("/")
        for group in (folder, *folder.parents):
            if group.is_relative_to(top):
                limit, used = (_text(group / name).strip() for name in names[:2])
                if limit.isdecimal() and used.isdecimal() and int(limit) < UNLIMITED:
                    # Files read before are dropped when memory is asked for.
                    cached = _field(group / "memory.stat", names[2], 1) or 0
                    yield int(limit) - int(used) + cached


def _field(path: Path, name: str, unit: int) -> int | None:
    for line in _text(path).splitlines():
        words = line.replace(":", " ").split()
        if len(words) >= 2 and words[0] == name and words[1].isdecimal():
            return unit * int(words[1])
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""


def _size(count: int) -> str:
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.0f} MiB"
