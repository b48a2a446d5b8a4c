"""Pages share a browser, but for those in whose company one has died."""

from __future__ import annotations

import asyncio

from crawler.worker.rendering.render_slots import RenderSlots


async def started(*waiting):
    """Returns which of the waiting have got their slot."""
    for _ in range(5):
        await asyncio.sleep(0)
    return [task.done() for task in waiting]


async def test_no_more_pages_are_open_than_there_are_slots():
    slots = RenderSlots(2)
    tasks = [asyncio.ensure_future(slots.acquire(b"%d" % number)) for number in range(3)]
    assert await started(*tasks) == [True, True, False]
    slots.release()
    assert await started(*tasks) == [True, True, True]
    assert [task.result() for task in tasks] == [False] * 3


async def test_a_suspected_page_is_alone_and_does_not_wait_for_ever():
    slots = RenderSlots(2)
    await slots.acquire(b"1")
    slots.suspect(b"bad")
    bad, later = (asyncio.ensure_future(slots.acquire(name)) for name in (b"bad", b"2"))
    assert await started(bad, later) == [False, False]  # others that come don't go before it
    slots.release()
    assert await started(bad, later) == [True, False]
    assert bad.result() is True
    slots.release()
    assert await started(later) == [True]
    slots.clear(b"bad")
    assert await slots.acquire(b"bad") is False


async def test_a_suspected_page_that_waits_no_more_holds_nobody_up():
    slots = RenderSlots(2)
    await slots.acquire(b"1")
    slots.suspect(b"bad")
    bad, later = (asyncio.ensure_future(slots.acquire(name)) for name in (b"bad", b"2"))
    await started(bad, later)
    bad.cancel()
    assert await started(later) == [True]
