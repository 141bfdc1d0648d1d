"""Ctrl-C, and the signals that end a process, wait for a good moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

REASONS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    **({signal.SIGHUP: "terminated"} if hasattr(signal, "SIGHUP") else {}),
}
"""Signals that are noted, and what a run that ends by them is called."""


class Interrupts:
    """While open, a signal is only noted, so that no epoch is left half done.

    A Ctrl-C after that raises KeyboardInterrupt at once; the other signals are sent twice by some
    schedulers and stay noted. A signal that was ignored stays so. Outside the main thread nothing
    is changed: signals do not arrive there.
    """

    def __init__(self) -> None:
        self.noted: str | None = None
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in REASONS:
                before = signal.getsignal(number)
                if before not in (signal.SIG_IGN, None):
                    self._before[number] = before
                    signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.noted = REASONS[signal.Signals(number)]
        if signal.SIGINT in self._before:
            signal.signal(signal.SIGINT, self._before[signal.SIGINT])
