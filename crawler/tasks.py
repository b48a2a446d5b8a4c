"""Ends asyncio tasks for sure."""

from __future__ import annotations

import asyncio

AGAIN_SECONDS = 0.5  # between two cancellations of a task that missed the first


async def cancel(*tasks: asyncio.Task[None]) -> None:
    """Cancels tasks and waits for their end, whatever it is.

    Once is not enough: `asyncio.wait_for` of Python 3.11, which redis-py sends with, forgets a cancellation that comes
    just as what it waits for is done. The task then runs on, and who waits for it waits for ever.
    """
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _done, waiting = await asyncio.wait(waiting, timeout=AGAIN_SECONDS)
