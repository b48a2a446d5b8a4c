"""No background task ends unseen."""

from __future__ import annotations

import asyncio
import threading

import pytest

from crawler.base.tasks import cancel, start, start_thread


@pytest.fixture
def deaths():
    return []


async def forever():
    await asyncio.Event().wait()


async def test_a_task_that_dies_is_told(deaths):
    async def dies():
        raise KeyError("no such figure")

    await asyncio.wait({start(dies(), name="beat", died=deaths.append)})
    assert [(death.name, type(death.error)) for death in deaths] == [("beat", KeyError)]


async def test_a_task_that_somebody_cancelled_unasked_is_told(deaths):
    task = start(forever(), name="beat", died=deaths.append)
    task.cancel()
    await asyncio.wait({task})
    assert [(death.name, type(death.error)) for death in deaths] == [("beat", asyncio.CancelledError)]


async def test_a_task_that_ends_as_it_should_is_not(deaths):
    tasks = [start(wait, name="beat", died=deaths.append) for wait in (forever(), asyncio.sleep(0))]
    await asyncio.wait({tasks[1]})
    await cancel(*tasks)
    assert deaths == []


def test_a_thread_that_dies_is_told(deaths):
    def dies():
        raise SystemExit

    start_thread(dies, name="session", died=deaths.append).join()
    assert [(death.name, type(death.error)) for death in deaths] == [("session", SystemExit)]
    start_thread(threading.Event, name="session", died=deaths.append).join()
    assert len(deaths) == 1
