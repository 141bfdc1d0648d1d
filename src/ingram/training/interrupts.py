"""Ctrl-C that waits for a good moment."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """While open, a first Ctrl-C is only noted, so that no epoch is left half done.

    A second one raises KeyboardInterrupt at once. Outside the main thread nothing is changed:
    signals do not arrive there.
    """

    def __init__(self) -> None:
        self.noted = False

    def __enter__(self) -> Interrupts:
        self._before = signal.getsignal(signal.SIGINT)
        self._catching = threading.current_thread() is threading.main_thread() and callable(
            self._before
        )
        if self._catching:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._catching:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.noted = True
        signal.signal(signal.SIGINT, self._before)
