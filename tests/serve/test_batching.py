"""Questions that wait are answered together, and nobody's trouble is another's."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingram.serve.batching import Batcher
from ingram.serve.refusals import Refusal


class Slow:
    """Answers with the double, once it is let; remembers what came together."""

    def __init__(self):
        self.batches, self.go = [], threading.Event()

    def __call__(self, questions):
        self.batches.append(questions)
        assert self.go.wait(20)
        if "bad" in questions:
            raise ValueError("bad")
        return [2 * q for q in questions]


def tried(scenario, **rules):
    """Run a scenario with a batcher and what it asks."""
    slow = Slow()

    async def scene():
        with ThreadPoolExecutor(1) as pool:
            batcher = Batcher(slow, pool, **{"together": 3, "waiting": 10, **rules})
            return await scenario(batcher, slow)

    return asyncio.run(scene()), slow.batches


async def begun(batcher, questions):
    task = asyncio.create_task(batcher.ask(questions))
    await asyncio.sleep(0.05)
    return task


def test_what_waits_is_answered_in_one_pass_and_in_order():
    async def scenario(batcher, slow):
        first = await begun(batcher, [1])
        others = [await begun(batcher, [q, q + 1]) for q in (2, 4)]
        slow.go.set()
        return [await task for task in (first, *others)]

    answers, batches = tried(scenario)
    assert answers == [[2], [4, 6], [8, 10]]
    assert batches == [[1], [2, 3, 4], [5]]


def test_a_question_whose_asker_is_gone_is_dropped():
    async def scenario(batcher, slow):
        first = await begun(batcher, [1])
        gone, stays = await begun(batcher, [2]), await begun(batcher, [3])
        gone.cancel()
        slow.go.set()
        return await first, await stays

    answers, batches = tried(scenario)
    assert answers == ([2], [6])
    assert batches == [[1], [3]]


def test_more_than_may_wait_is_refused_and_the_rest_goes_on():
    async def scenario(batcher, slow):
        first = await begun(batcher, [1])
        waits = await begun(batcher, [2] * 9)
        with pytest.raises(Refusal) as refusal:
            await batcher.ask([3, 3])
        slow.go.set()
        return refusal.value.status_code, await first, await waits

    answers, _ = tried(scenario)
    assert answers == (429, [2], [4] * 9)


def test_an_error_reaches_those_who_asked_and_the_next_ones_are_answered():
    async def scenario(batcher, slow):
        slow.go.set()
        with pytest.raises(ValueError, match="bad"):
            await batcher.ask(["bad", "good"])
        return await batcher.ask([5])

    answers, _ = tried(scenario)
    assert answers == [10]


def test_nothing_asked_is_nothing_answered():
    async def scenario(batcher, slow):
        return await batcher.ask([])

    assert tried(scenario) == ([], [])
