"""A deadline passes once, in its time, and not while it is paused."""

from __future__ import annotations

import asyncio

import pytest

from crawler.worker.deadline import Deadline


class Passed:
    """A deadline, and an event for when it has passed."""

    def __init__(self):
        self.event = asyncio.Event()
        self.deadline = Deadline(self.event.set)

    async def soon(self, seconds=1.0):
        async with asyncio.timeout(seconds):
            await self.event.wait()

    async def never(self):
        with pytest.raises(TimeoutError):
            await self.soon(0.05)
        assert not self.deadline.passed


@pytest.fixture
async def passed():
    return Passed()


async def test_a_deadline_passes(passed):
    passed.deadline.start(0.01)
    assert not passed.deadline.passed
    await passed.soon()
    assert passed.deadline.passed


async def test_a_deadline_never_passes_before_it_is_started(passed):
    with passed.deadline.paused():
        pass
    await passed.never()


async def test_a_deadline_never_passes_after_it_is_stopped(passed):
    passed.deadline.start(0.01)
    with passed.deadline.paused():
        passed.deadline.stop()
    await passed.never()
    passed.deadline.stop()


async def test_a_paused_deadline_goes_on_with_the_time_left(passed):
    loop = asyncio.get_running_loop()
    passed.deadline.start(0.05)
    with passed.deadline.paused():
        with passed.deadline.paused():
            await asyncio.sleep(0.03)
        await asyncio.sleep(0.03)
        assert not passed.deadline.passed
    left = loop.time()
    await passed.soon()
    assert 0.03 < loop.time() - left < 0.5


async def test_a_deadline_started_while_paused_runs_afterwards(passed):
    with passed.deadline.paused():
        passed.deadline.start(0.0)
        await passed.never()
    await passed.soon()


async def test_a_pause_after_it_passed_doesn_t_start_it_again(passed):
    passed.deadline.start(0.0)
    await passed.soon()
    passed.event.clear()
    with passed.deadline.paused():
        pass
    with pytest.raises(TimeoutError):
        await passed.soon(0.05)
