"""Ends asyncio tasks reliably."""

from __future__ import annotations

import asyncio

CANCEL_AGAIN_SECONDS = 0.5  # until a task that missed a cancellation is cancelled once more


async def cancel(*tasks: asyncio.Task[None]) -> None:
    """Cancels tasks and waits until each has ended, with whatever result.

    One cancellation is not enough: `asyncio.wait_for` of Python 3.11, with which redis-py sends, drops a cancellation
    that comes at the moment when the awaited operation is done. The task would run on, and waiting for it never end.
    """
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _done, waiting = await asyncio.wait(waiting, timeout=CANCEL_AGAIN_SECONDS)
