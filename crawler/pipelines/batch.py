"""Joins single items into batches for a sink, and keeps them while the sink is away."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from crawler import config
from crawler.base import log_events, reasons
from crawler.base.errors import SinkRejectedError, UnavailableError
from crawler.base.seldom import Seldom

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from crawler.base.log_events import EventLogger
    from crawler.base.reasons import Reason
    from crawler.pipelines.crawl_process import CrawlProcess

T = TypeVar("T")
R = TypeVar("R")
# The pause before the second try: a broker restarts within seconds, so the first tries may be close.
FIRST_PAUSE_SECONDS = 0.25
ALONE_TRIES = 3  # how often an item is tried by itself, while the sink takes others, before it is refused for good
ALONE_PAUSE_FACTOR = 4  # how the pauses between those tries grow: they span 5 s, longer than a server's change of mind
HAND_BACK_SECONDS = 60.0  # how long a node's own sink may be away before its items are left to other nodes
STOP_CHECK_SECONDS = 1.0  # how late at most a pause notices that the process ends

logger: EventLogger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BatchConfig:
    """How items are joined into batches.

    Attributes:
        size: Items in a batch, from 1.
        wait_s: Seconds that a batch waits to fill.
        retry_max_s: Longest pause between two tries of a sink that is away, in seconds.
    """

    size: int
    wait_s: float
    retry_max_s: float

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads SINK_BATCH, SINK_WAIT_SECONDS and SINK_RETRY_MAX_SECONDS.

        Raises:
            ConfigError: One is out of range.
        """
        return cls(
            size=config.SINK_BATCH.of(settings),
            wait_s=config.SINK_WAIT_SECONDS.of(settings),
            retry_max_s=config.SINK_RETRY_MAX_SECONDS.of(settings),
        )


class Batcher(Generic[T]):
    """Collects items and sends them in batches; each `put` returns when its item's batch was acknowledged.

    Nothing is dropped: a batch that meets an outage is sent again until it arrives, with pauses that double (plus
    jitter). What a sink refuses, for whatever reason, may be the item's fault or the sink's. So each refused item is
    sent alone, and a refusal counts only if the sink takes something else meanwhile: another item, or what `prove`
    writes. After `ALONE_TRIES` such refusals the item fails, and nothing else does. A sink that takes nothing else
    either is down, and asked for both until it takes one. Batches may overtake each other. Memory is bounded by the
    callers, since each waits for its item.

    Where the sink is this node's own, such as a disk, and stays away for HAND_BACK_SECONDS, its callers wait no longer,
    so that other nodes may deliver what they hand back. What was sent is sent again all the same, which shows when the
    sink is up; so an item may arrive twice.

    Args:
        name: The sink's name.
        send: Delivers a batch, as `Sink.send`. Any error of it but UnavailableError refuses the whole batch.
        prove: Shows that the sink takes writes, as `Sink.prove`.
        in_flight: Batches on their way at once, from 1.
        is_nodes_own: Whether other nodes may reach theirs while this one is away.
        process: Is told when the sink goes down and when it is up again, and tells when the process ends: what the sink
            doesn't take then isn't sent again.
    """

    def __init__(
        self,
        name: str,
        send: Callable[[list[T]], Awaitable[Mapping[int, Reason]]],
        prove: Callable[[], Awaitable[None]],
        config: BatchConfig,
        *,
        in_flight: int,
        is_nodes_own: bool = False,
        process: CrawlProcess,
    ) -> None:
        self._name, self._send, self._prove, self._config = name, send, prove, config
        self._in_flight, self._is_nodes_own, self._process = in_flight, is_nodes_own, process
        self._waiting: deque[tuple[T, asyncio.Future[None]]] = deque()
        self._undelivered: set[asyncio.Future[None]] = set()  # what callers wait for
        self._sending: set[asyncio.Task[None]] = set()
        self._isolated: set[asyncio.Task[None]] = set()  # the tasks of refused items, for which batches don't wait
        self._alone = asyncio.Lock()  # held while one of those items is sent
        self._timer: asyncio.TimerHandle | None = None
        self._overdue = False  # the items that wait have waited for `wait_s`: they go, however few they are
        self._taken = 0  # items that the sink has acknowledged
        self._outages = 0  # how often the sink couldn't be asked
        self._retrying = 0  # batches that met the outage and are sent again
        self._down = False  # whether the process was told of an outage, and not yet of its end
        self._down_since = 0.0  # by the event loop's clock
        self._is_left_to_others = False  # whether the outage lasts for so long that callers don't wait for its end
        self._closed = False
        self._warn, self._complain = Seldom(logger.warning), Seldom(logger.error)

    async def put(self, item: T) -> None:
        """Delivers one item; returns when the sink has acknowledged it.

        Raises:
            SinkRejectedError: The sink will never take it.
            UnavailableError: The process ends and the sink is away, or other nodes shall deliver the item. It may or
                may not have arrived.
        """
        if self._closed:
            raise UnavailableError(f"{self._name}: closed")
        if self._is_left_to_others:
            raise self._left_to_others()
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append((item, waiter))
        self._undelivered.add(waiter)
        self._send_what_is_ready()
        try:
            await waiter
        finally:
            self._undelivered.discard(waiter)

    def probe(self) -> None:
        """Asks the sink in the background, until it says yes, whether it works; an outage is reported as any other."""
        self._start([])

    async def close(self, timeout_s: float) -> None:
        """Sends the items that wait, and takes no more.

        The `put` of an item that isn't acknowledged within `timeout_s` seconds raises UnavailableError.
        """
        self._closed = True
        self._send_what_is_ready()
        deadline = asyncio.get_running_loop().time() + timeout_s
        while (tasks := self._sending | self._isolated) and (
            left_s := deadline - asyncio.get_running_loop().time()
        ) > 0:
            await asyncio.wait(tasks, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        if self._timer:
            self._timer.cancel()
        _fail(self._waiting, self._closing())
        self._waiting.clear()
        abandoned = (*self._sending, *self._isolated)
        for task in abandoned:
            task.cancel()
        await asyncio.gather(*abandoned, return_exceptions=True)

    def _send_what_is_ready(self) -> None:
        """Starts as many batches as are full, or overdue, and may be in flight; sets the timer for the other items."""
        while len(self._sending) < self._in_flight and (
            len(self._waiting) >= self._config.size or (self._waiting and (self._overdue or self._closed))
        ):
            self._start([self._waiting.popleft() for _ in range(min(self._config.size, len(self._waiting)))])
        if not self._waiting:
            self._overdue = False
            if self._timer:
                self._timer.cancel()
                self._timer = None
        elif not (self._timer or self._overdue or self._closed):
            self._timer = asyncio.get_running_loop().call_later(self._config.wait_s, self._wait_ended)

    def _wait_ended(self) -> None:
        self._timer, self._overdue = None, True
        self._send_what_is_ready()

    def _start(self, batch: list[tuple[T, asyncio.Future[None]]]) -> None:
        task = asyncio.get_running_loop().create_task(self._deliver(batch), name=f"{self._name} batch")
        self._sending.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._send_what_is_ready()

    async def _deliver(self, batch: list[tuple[T, asyncio.Future[None]]]) -> None:
        """Sends one batch until the sink answers, and ends the waits of the items that it took."""
        taken = self._taken
        try:
            refused = await self._until_answered(partial(self._offer, [item for item, _ in batch]))
        except asyncio.CancelledError:
            _fail(batch, self._closing())
            raise
        except UnavailableError as error:  # the process ends: the items that wait aren't worth another try either
            _fail([*batch, *self._waiting], error)
            self._waiting.clear()
            return
        except Exception as error:  # nobody must wait for a task that has died
            logger.exception(log_events.SINK_BATCH_ERROR, self._name)
            _fail(batch, error)
            return
        self._taken += len(batch) - len(refused)
        for position, (item, waiter) in enumerate(batch):
            if waiter.done():  # its caller was cancelled
                continue
            if position in refused:
                task = asyncio.get_running_loop().create_task(
                    self._deliver_alone(item, waiter, taken), name=f"{self._name} item"
                )
                self._isolated.add(task)
                task.add_done_callback(self._isolated.discard)
            else:
                waiter.set_result(None)

    async def _deliver_alone(self, item: T, waiter: asyncio.Future[None], taken: int) -> None:
        """Sends an item that was refused by itself, and ends its wait; `taken` is that of `_refusal`."""
        try:
            reason = await self._refusal(item, taken)
        except asyncio.CancelledError:
            _fail([(item, waiter)], self._closing())
            raise
        except UnavailableError as error:
            _fail([(item, waiter)], error)
            return
        except Exception as error:  # the item's waiter is told, as those of a batch are
            logger.exception(log_events.SINK_ITEM_ERROR, self._name)
            _fail([(item, waiter)], error)
            return
        if reason:
            self._warn(log_events.ITEM_REFUSED, self._name, reason)
            _fail([(item, waiter)], SinkRejectedError(self._name, reason))
        elif not waiter.done():
            waiter.set_result(None)

    async def _refusal(self, item: T, taken: int) -> Reason | None:
        """Sends an item alone until it is taken, or its refusal is shown to be its own fault.

        Args:
            taken: Items that the sink had acknowledged before it was first asked for this one.

        Returns:
            Why it is refused for good; None when it was taken.

        Raises:
            UnavailableError: The process ends.
        """
        refusals, pause_s = 0, FIRST_PAUSE_SECONDS
        while True:
            await self._pause(pause_s * random.uniform(0.75, 1.25))
            if self._process.stopping:
                raise self._closing()
            async with self._alone:
                refused = await self._until_answered(partial(self._offer, [item]))
                if not refused:
                    self._taken += 1
                    return None
                outages = self._outages
                if self._taken == taken and await self._until_answered(partial(self._takes_after_all, item)):
                    self._taken += 1
                    return None
                if self._taken > taken or outages == self._outages:
                    refusals += 1
                    pause_s *= ALONE_PAUSE_FACTOR
                taken = self._taken
            if refusals == ALONE_TRIES:
                return refused[0]

    async def _offer(self, items: list[T]) -> Mapping[int, Reason]:
        """Sends items once; returns those that the sink refused this time.

        Raises:
            UnavailableError: The sink can't be asked.
        """
        reason = reasons.REFUSED_BY_SINK
        try:
            refused: object = await self._send(items)
        except UnavailableError:
            raise
        except SinkRejectedError as error:
            reason = error.reason
        except Exception as error:
            if not items:  # a probe has no item that could have spoilt it
                raise UnavailableError(f"{self._name}: {type(error).__name__}") from error
            self._complain(log_events.SINK_SEND_ERROR, self._name, exc_info=error)
        else:
            if isinstance(refused, Mapping):
                return refused
            self._complain(log_events.SINK_ANSWER_WRONG, self._name, type(refused).__name__)
        return dict.fromkeys(range(len(items)), reason)

    async def _takes_after_all(self, item: T) -> bool:
        """Has the sink take what it has no reason to refuse; where it doesn't, the refused item once more.

        Returns:
            Whether it took the item.

        Raises:
            UnavailableError: It takes neither, or can't be asked.
        """
        try:
            await self._prove()
        except Exception as error:  # an unknown one, too: the sink counts as down until it goes
            if not await self._offer([item]):
                return True
            if isinstance(error, UnavailableError):
                raise
            raise UnavailableError(f"{self._name}: {type(error).__name__}") from error
        return False

    async def _until_answered(self, ask: Callable[[], Awaitable[R]]) -> R:
        """Asks the sink until it answers.

        Raises:
            UnavailableError: The process ends and the sink is away.
        """
        try:
            return await ask()
        except UnavailableError as error:
            self._outage_began(error)
            reason = error
        answered = True
        try:
            return await self._ask_again(ask, reason)
        except (UnavailableError, asyncio.CancelledError):
            answered = False
            raise
        finally:
            self._outage_ended(answered=answered)

    async def _ask_again(self, ask: Callable[[], Awaitable[R]], error: UnavailableError) -> R:
        """Asks a sink that is away, with longer and longer pauses; `error` is why it didn't answer."""
        pause_s = FIRST_PAUSE_SECONDS
        while True:
            await self._pause(pause_s * random.uniform(0.75, 1.25))
            if self._process.stopping:
                raise error
            try:
                return await ask()
            except UnavailableError as latest:
                if str(latest) != str(error):
                    self._process.sink_down(self._name, str(latest))
                error = latest
            pause_s = min(pause_s * 2, self._config.retry_max_s)
            await self._leave_to_others_in_time()

    async def _leave_to_others_in_time(self) -> None:
        """Ends all waits where the outage of this node's own sink has lasted, and there are other nodes."""
        lasted_s = asyncio.get_running_loop().time() - self._down_since
        if (
            self._is_nodes_own
            and not self._is_left_to_others
            and lasted_s >= HAND_BACK_SECONDS
            and await self._process.has_other_nodes()
        ):
            logger.warning(log_events.SINK_LEFT_TO_OTHERS, self._name, lasted_s)
            self._is_left_to_others = True
            self._waiting.clear()
            for waiter in self._undelivered:
                if not waiter.done():
                    waiter.set_exception(self._left_to_others())

    async def _pause(self, pause_s: float) -> None:
        """Sleeps, but wakes soon after the process begins to end."""
        while pause_s > 0 and not self._process.stopping:
            await asyncio.sleep(min(pause_s, STOP_CHECK_SECONDS))
            pause_s -= STOP_CHECK_SECONDS

    def _outage_began(self, error: UnavailableError) -> None:
        """Counts a batch that met the outage; the first one reports it."""
        self._outages += 1
        self._retrying += 1
        if not self._down:
            self._down, self._down_since = True, asyncio.get_running_loop().time()
            logger.warning(log_events.SINK_DOWN, self._name, error)
            self._process.sink_down(self._name, str(error))

    def _outage_ended(self, *, answered: bool) -> None:
        """Counts a batch that isn't sent again; the last one reports the outage's end.

        Args:
            answered: Whether the sink answered at last. A batch that was given up says nothing about the sink.
        """
        self._retrying -= 1
        if answered and not self._retrying:
            self._down = self._is_left_to_others = False
            logger.info(log_events.SINK_UP, self._name)
            self._process.sink_up(self._name)

    def _left_to_others(self) -> UnavailableError:
        return UnavailableError(f"{self._name}: away for so long that other nodes shall deliver its items")

    def _closing(self) -> UnavailableError:
        return UnavailableError(f"{self._name}: closed before it was delivered")


def _fail(entries: Iterable[tuple[T, asyncio.Future[None]]], error: Exception) -> None:
    for _, waiter in entries:
        if not waiter.done():
            waiter.set_exception(error)
