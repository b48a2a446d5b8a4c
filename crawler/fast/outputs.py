"""What a callback yields, on its way to the scheduler and the item pipelines, in Scrapy's order and within its limits.

A callback runs ahead of what becomes of its outputs: of a page's outputs CONCURRENT_ITEMS are processed at once, twice
as many wait, and only then the callback itself has to. So a long list of outputs is taken in slices, between which the
event loop runs, and a callback that waits for its own item goes on.

Scrapy starts CONCURRENT_ITEMS tasks and one more for each page. Here a page whose callback yields a single item, or
requests alone, without waiting in between, needs none.
"""

from __future__ import annotations

import asyncio
from types import coroutine
from typing import TYPE_CHECKING, Any

from scrapy.http import Request

from crawler.fast.cancellation import is_being_cancelled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Generator

_END = object()  # tells a task that no more outputs come


async def process_outputs(
    outputs: AsyncIterator[Any],
    schedule: Callable[[Request], None],
    process: Callable[[Any], Awaitable[None]],
    *,
    at_once: int,
    failed: Callable[[], None],
) -> None:
    """Has all outputs of a callback processed.

    Args:
        outputs: What the callback yields, all of it in the task that calls this.
        schedule: Schedules a request, and raises nothing.
        process: Processes any other output, and raises nothing.
        at_once: How many outputs are processed at the same time, at least 1.
        failed: Called while an exception of `outputs` is handled.
    """
    line = _Line(schedule, process, at_once)
    try:
        while True:
            step = anext(outputs).__await__()
            try:
                waits_for = step.send(None)
            except StopIteration as stepped:
                output = stepped.value
            else:  # the callback waits, perhaps for what becomes of its own outputs
                line.start()
                output = await _resumed(step, waits_for)
            if not line.keep(output):
                await line.put(output)
    except StopAsyncIteration:
        pass
    except Exception:  # noqa: BLE001 -- any exception of a callback is a spider error
        failed()
    except asyncio.CancelledError:
        if is_being_cancelled():
            raise
        failed()
    await line.finish()


class _Line:
    """Outputs in the order in which they were yielded. Tasks process them as soon as one might wait beside another."""

    __slots__ = ("_at_once", "_has_item", "_kept", "_needs_tasks", "_process", "_queue", "_schedule", "_tasks")

    def __init__(
        self, schedule: Callable[[Request], None], process: Callable[[Any], Awaitable[None]], at_once: int
    ) -> None:
        self._schedule = schedule
        self._process = process
        self._at_once = at_once
        self._kept: list[Any] = []  # outputs, until tasks are started for them
        self._has_item = False  # among those kept
        self._needs_tasks = False  # something was kept after an item, beside which it is processed
        self._queue: asyncio.Queue[Any] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def keep(self, output: Any) -> bool:
        """Keeps an output until tasks are started, or all have been yielded; returns False where it has to be put."""
        if self._queue is not None or len(self._kept) >= 2 * self._at_once:
            return False
        self._kept.append(output)
        self._needs_tasks = self._has_item
        self._has_item = self._has_item or not isinstance(output, Request)
        return True

    def start(self) -> None:
        """Has the outputs so far processed from now on, even if none is added for a while."""
        if self._queue is None and self._kept:
            self._queue = asyncio.Queue(2 * self._at_once)
            for output in self._kept:
                self._queue.put_nowait(output)
            self._tasks = [asyncio.create_task(self._work(self._queue)) for _ in self._kept[: self._at_once]]

    async def put(self, output: Any) -> None:
        """Has an output processed by the tasks; waits while too many wait already."""
        self.start()
        assert self._queue is not None
        if len(self._tasks) < self._at_once:
            self._tasks.append(asyncio.create_task(self._work(self._queue)))
        await self._queue.put(output)

    async def finish(self) -> None:
        """Returns when all outputs are processed."""
        if self._queue is None and not self._needs_tasks:
            for output in self._kept:  # only the last may wait
                if isinstance(output, Request):
                    self._schedule(output)
                else:
                    await self._process(output)
            return
        self.start()
        assert self._queue is not None
        for _ in self._tasks:
            await self._queue.put(_END)
        await asyncio.wait(self._tasks)

    async def _work(self, queue: asyncio.Queue[Any]) -> None:
        while (output := await queue.get()) is not _END:
            if isinstance(output, Request):
                self._schedule(output)
            else:
                await self._process(output)
                await asyncio.sleep(0)  # as in Scrapy, more outputs come before a request behind this item is scheduled


@coroutine
def _resumed(step: Generator[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    """Goes on with a step that has been run up to its first wait; returns the step's result.

    Args:
        step: What an awaitable's `__await__` returned.
        waits_for: What it yielded; for asyncio's tasks a future, or None.
    """
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # noqa: BLE001 -- whatever the task throws is the step's to handle
                waits_for = step.throw(error)
            else:
                waits_for = step.send(sent)
    except StopIteration as stepped:
        return stepped.value
