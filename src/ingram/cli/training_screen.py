"""What is seen of a training run while it goes on."""

from __future__ import annotations

from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ingram.cli.screen import error_console
from ingram.labels import visible
from ingram.training.listener import Listener


class _Readings(ProgressColumn):
    """Loss and validation MRR beside the bar."""

    def render(self, task: Task) -> Text:
        return Text(task.fields.get("readings", ""), style="cyan")


class TrainingScreen(Listener):
    """A progress bar with loss, validation MRR and the time that remains."""

    def __init__(self, *, quiet: bool = False, title: str = "training") -> None:
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _Readings(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=error_console,
            disable=quiet,
        )
        self.task = self.progress.add_task(title, total=None, readings="")
        self.mrr: float | None = None
        self.best = 0.0
        self.said = ""

    def __enter__(self) -> TrainingScreen:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def started(self, epoch: int, epochs: int) -> None:
        self.progress.update(self.task, total=epochs, completed=epoch)

    def epoch(self, number: int, loss: float) -> None:
        readings = f"loss {loss:.3f}"
        if self.mrr is not None:
            readings += f"  valid MRR {self.mrr:.3f} (best {self.best:.3f})"
        self.progress.update(self.task, completed=number, readings=readings)

    def validated(self, record: dict[str, Any]) -> None:
        self.mrr = record.get("mrr", 0.0)
        self.best = max(self.best, self.mrr or 0.0)

    def collapsed(self, record: dict[str, Any]) -> None:
        text = f"epoch {record['epoch']}: training collapsed: {record['why']}"
        if record["returned_to"] is not None:
            text += (
                f"; went back to epoch {record['returned_to']} "
                f"with learning rate {record['learning_rate']:.2g}"
            )
        self._say(text)

    def save_failed(self, why: str) -> None:
        if why != self.said:
            self._say(f"{why}; trying again until it works, Ctrl-C twice gives up")
        self.said = why

    def _say(self, text: str) -> None:
        self.progress.console.print(visible(text), markup=False, highlight=False, soft_wrap=True)
