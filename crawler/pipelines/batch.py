"""Joins single items into batches for a sink, and holds on to them while the sink is away."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from crawler.errors import SinkRejectedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

T = TypeVar("T")
RETRY_FIRST_SECONDS = 0.25  # a broker's restart takes seconds: the first tries may be close together
RETRY_SLICE_SECONDS = 1.0  # how late a stop may be noticed in a pause
IN_FLIGHT = 2  # one batch on the wire while the next one fills

logger = logging.getLogger(__name__)


class Hooks(NamedTuple):
    """Whom a batcher tells of outages, and whom it asks whether to go on.

    Attributes:
        on_down: Called with the sink's name when an outage begins; once, however many batches it hits.
        on_up: Called with the sink's name when no batch is waiting for the sink any more.
        stopping: True once the process ends: what the sink doesn't take then isn't tried again.
    """

    on_down: Callable[[str], None] = lambda _name: None
    on_up: Callable[[str], None] = lambda _name: None
    stopping: Callable[[], bool] = lambda: False


class Batcher(Generic[T]):
    """Collects items and sends them in batches; each `put` returns when its item's batch was acknowledged.

    Nothing is dropped: a batch that meets an outage is sent again until it succeeds, with pauses that double (plus
    jitter). What `send` refuses for good fails alone. Batches may overtake each other. Memory is bounded by the
    callers, who wait.

    Args:
        send: Delivers a batch. Returns the items that the sink will never take: position in the batch -> short reason;
            empty when it took all. Raises UnavailableError when the batch has to be sent again. An empty batch asks
            whether the sink works.
        size: Items in a batch, from 1.
        wait_s: Seconds that a batch waits to fill.
        retry_max_s: Longest pause between two tries, in seconds.
        name: The sink's name, for logs and hooks.
        in_flight: Batches on their way at once, from 1.
    """

    def __init__(
        self,
        send: Callable[[list[T]], Awaitable[Mapping[int, str]]],
        *,
        size: int,
        wait_s: float,
        retry_max_s: float,
        name: str,
        hooks: Hooks | None = None,
        in_flight: int = IN_FLIGHT,
    ) -> None:
        self._send = send
        self._size, self._wait_s, self._retry_max_s, self._in_flight = size, wait_s, retry_max_s, in_flight
        self._name = name
        self._hooks = hooks or Hooks()
        self._waiting: deque[tuple[T, asyncio.Future[None]]] = deque()
        self._sending: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._due = False  # what waits has waited long enough, however little it is
        self._failing = 0  # batches that met the outage and try again
        self._down = False  # what the hooks were told last
        self._closed = False

    async def put(self, item: T) -> None:
        """Delivers one item; returns when the sink has acknowledged it.

        Raises:
            SinkRejectedError: The sink will never take it.
            UnavailableError: The process ends and the sink is away. The item may or may not have arrived.
        """
        if self._closed:
            raise UnavailableError(f"{self._name}: closed")
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append((item, waiter))
        self._start()
        await waiter

    def probe(self) -> None:
        """Asks in the background, until the answer is yes, whether the sink works; an outage is told to the hooks."""
        self._spawn([])

    async def close(self, timeout_s: float) -> None:
        """Sends what waits and takes nothing more.

        What isn't acknowledged within `timeout_s` seconds raises UnavailableError at its `put`.
        """
        self._closed = True
        self._start()
        deadline = asyncio.get_running_loop().time() + timeout_s
        while self._sending and (left := deadline - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(self._sending, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if self._timer:
            self._timer.cancel()
        _fail(self._waiting, UnavailableError(f"{self._name}: closed before it was delivered"))
        self._waiting.clear()
        abandoned = tuple(self._sending)
        for task in abandoned:
            task.cancel()
        await asyncio.gather(*abandoned, return_exceptions=True)

    def _start(self) -> None:
        """Sends as many batches as are full, or due, and fit in flight; sees to it that the rest gets due."""
        while len(self._sending) < self._in_flight and (
            len(self._waiting) >= self._size or (self._waiting and (self._due or self._closed))
        ):
            self._spawn([self._waiting.popleft() for _ in range(min(self._size, len(self._waiting)))])
        if not self._waiting:
            self._due = False
            if self._timer:
                self._timer.cancel()
                self._timer = None
        elif not (self._timer or self._due or self._closed):
            self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._fall_due)

    def _fall_due(self) -> None:
        self._timer, self._due = None, True
        self._start()

    def _spawn(self, batch: list[tuple[T, asyncio.Future[None]]]) -> None:
        task = asyncio.get_running_loop().create_task(self._deliver(batch), name=f"{self._name} batch")
        self._sending.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._start()

    async def _deliver(self, batch: list[tuple[T, asyncio.Future[None]]]) -> None:
        """Sends one batch until it arrives, and tells its waiters."""
        try:
            refused = await self._send_until_taken([item for item, _ in batch])
        except asyncio.CancelledError:
            _fail(batch, UnavailableError(f"{self._name}: closed before it was delivered"))
            raise
        except UnavailableError as error:  # the process ends: no batch is worth a wait for the sink any more
            _fail([*batch, *self._waiting], error)
            self._waiting.clear()
            return
        except Exception as error:  # even a bug must reach the waiters, who would hang otherwise
            _fail(batch, error)
            if not batch:
                logger.exception("%s: the probe failed", self._name)
            return
        for position, (_, waiter) in enumerate(batch):
            if waiter.done():  # cancelled while it waited
                continue
            if position in refused:
                waiter.set_exception(SinkRejectedError(self._name, refused[position]))
            else:
                waiter.set_result(None)

    async def _send_until_taken(self, items: list[T]) -> Mapping[int, str]:
        pause_s, failing, over = RETRY_FIRST_SECONDS, False, True
        try:
            while True:
                try:
                    return await self._send(items)
                except UnavailableError as error:
                    if not failing:
                        failing = True
                        self._begin_outage(error)
                    await self._pause(pause_s * random.uniform(0.75, 1.25))
                    if self._hooks.stopping():
                        over = False
                        raise
                pause_s = min(pause_s * 2, self._retry_max_s)
        except asyncio.CancelledError:
            over = False
            raise
        finally:
            if failing:
                self._end_outage(over=over)

    async def _pause(self, seconds: float) -> None:
        """Sleeps, but wakes soon after the process begins to end."""
        while seconds > 0 and not self._hooks.stopping():
            await asyncio.sleep(min(seconds, RETRY_SLICE_SECONDS))
            seconds -= RETRY_SLICE_SECONDS

    def _begin_outage(self, error: UnavailableError) -> None:
        self._failing += 1
        if not self._down:
            self._down = True
            logger.warning("%s: down, its items wait: %s", self._name, error)
            self._hooks.on_down(self._name)

    def _end_outage(self, *, over: bool) -> None:
        self._failing -= 1
        if over and not self._failing:
            self._down = False
            logger.info("%s: up again", self._name)
            self._hooks.on_up(self._name)


def _fail(entries: Iterable[tuple[T, asyncio.Future[None]]], error: Exception) -> None:
    for _, waiter in entries:
        if not waiter.done():
            waiter.set_exception(error)
