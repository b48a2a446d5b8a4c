"""Starts and ends background tasks reliably: none of them ends unseen.

A background task is one that nobody waits for, such as a loop that renews or sends something. Should it die of an
exception that it doesn't handle, its worker would look idle for ever. So all are started here, and a death is told.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

CANCEL_AGAIN_SECONDS = 0.5  # when a task that missed a cancellation is cancelled once more

_to_be_cancelled: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()  # the tasks that `cancel` has cancelled


class TaskDied(NamedTuple):
    """Event: a background task or thread has ended by an error, and what it did for the worker is done no more."""

    name: str
    error: BaseException


def start(
    coroutine: Coroutine[object, object, None], *, name: str, died: Callable[[TaskDied], object]
) -> asyncio.Task[None]:
    """Starts a background task; whoever started it ends it with `cancel`.

    Args:
        died: Called on the event loop if the task ends by an exception; a cancellation counts as one, unless `cancel`
            asked for it.
    """
    task = asyncio.create_task(coroutine, name=name)
    task.add_done_callback(partial(_report, died))
    return task


def start_thread(target: Callable[[], None], *, name: str, died: Callable[[TaskDied], object]) -> threading.Thread:
    """Starts a background thread; it doesn't keep the process from ending.

    Args:
        died: Called in the thread if it ends by an exception.
    """

    def run() -> None:
        try:
            target()
        except BaseException as error:  # noqa: BLE001 -- whatever it is, the thread is gone
            died(TaskDied(name, error))

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


async def cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancels tasks and waits until each has ended, with whatever result.

    One cancellation is not enough: `asyncio.wait_for` of Python 3.11, with which redis-py sends, drops a cancellation
    that comes at the moment when the awaited operation is done. The task would run on, and waiting for it never end.
    """
    waiting = set(tasks)
    _to_be_cancelled.update(waiting)
    while waiting:
        for task in waiting:
            task.cancel()
        _done, waiting = await asyncio.wait(waiting, timeout=CANCEL_AGAIN_SECONDS)


def _report(died: Callable[[TaskDied], object], task: asyncio.Task[None]) -> None:
    if task.cancelled():
        if task not in _to_be_cancelled:
            died(TaskDied(task.get_name(), asyncio.CancelledError("nobody asked for it")))
    elif (error := task.exception()) is not None:
        died(TaskDied(task.get_name(), error))
