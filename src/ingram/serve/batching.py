"""Questions that wait at the same time are answered together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

from ingram.serve.refusals import Refusal

Q = TypeVar("Q")
A = TypeVar("A")


class Batcher(Generic[Q, A]):
    """Collects questions while earlier ones are being answered, then answers them in one pass.

    Nothing waits for company: a question that comes alone is answered at once. ``answer`` runs on
    ``pool``; it gets at most ``together`` questions. A question whose asker is gone is dropped, if
    it still waits. More than ``waiting`` are refused.
    """

    def __init__(
        self,
        answer: Callable[[list[Q]], list[A]],
        pool: Executor,
        *,
        together: int,
        waiting: int,
        answered: Callable[[int], None] = lambda count: None,
    ) -> None:
        self._answer, self._pool, self._answered = answer, pool, answered
        self._together, self._most = together, waiting
        self._waiting: deque[tuple[Q, asyncio.Future[A]]] = deque()
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, questions: Sequence[Q]) -> list[A]:
        """The answers, in the order of the questions."""
        if len(self._waiting) + len(questions) > self._most:
            raise Refusal(429, f"{len(self._waiting):,} questions wait already; try again soon")
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[A]] = [loop.create_future() for _ in questions]
        self._waiting.extend(zip(questions, futures, strict=True))
        if self._worker is None and futures:
            self._worker = loop.create_task(self._work())
        return await asyncio.gather(*futures)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while batch := self._next():
                questions = [question for question, _ in batch]
                self._answered(len(batch))
                try:
                    answers = await loop.run_in_executor(self._pool, self._answer, questions)
                except Exception as error:
                    for _, future in batch:
                        if not future.done():
                            future.set_exception(error)
                else:
                    for (_, future), answer in zip(batch, answers, strict=True):
                        if not future.done():
                            future.set_result(answer)
        finally:
            self._worker = None

    def _next(self) -> list[tuple[Q, asyncio.Future[A]]]:
        batch: list[tuple[Q, asyncio.Future[A]]] = []
        while self._waiting and len(batch) < self._together:
            question, future = self._waiting.popleft()
            if not future.cancelled():
                batch.append((question, future))
        return batch
