"""One process at a time in a run directory.

The lock is the kernel's, on a file that names its owner: it ends with the process, however that
ends, so a file that was left behind is known to be stale and is taken over.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ingram.errors import InUseError, WriteError

log = logging.getLogger(__name__)

UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; while another process does, an error that says which."""
    path = folder / ".lock"
    try:
        descriptor = _acquire(path)
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        with suppress(OSError):  # a full disk: it locks all the same
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps(_ourselves()).encode())
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # before it is let go of, so that nobody removes another's
        os.close(descriptor)


def _acquire(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            _lock(path, descriptor)
            # Whoever held it may have removed the file that we opened: then it locks nothing.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(descriptor)):  # noqa: PTH116
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock(path: Path, descriptor: int) -> None:
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        log.warning("%s: this system has no locks; use the run from one process only", path.parent)
    except BlockingIOError as error:
        raise InUseError(
            f"{path.parent}: in use by {_owner(descriptor)}; wait for it to end, or choose "
            "another directory"
        ) from error
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        log.warning("%s: this disk has no locks; use the run from one process only", path.parent)


def _ourselves() -> dict[str, str | int]:
    return {
        "pid": os.getpid(),
        "host": platform.node(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.argv)[:200],
    }


def _owner(descriptor: int) -> str:
    """What the lock says of its owner, as far as it can be read."""
    try:
        said = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {said['pid']} on {said['host']} since {said['since']} ({said['command']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
