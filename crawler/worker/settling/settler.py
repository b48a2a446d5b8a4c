"""Sends settlements and released turns to the frontier in batches: a call for each page would cost 14 times more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict, deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import RedisError

from crawler.base import log_events, tasks
from crawler.base.seldom import Seldom
from crawler.servers.redis_retry import RETRY_SECONDS

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger
    from crawler.frontier.queue import Queue
    from crawler.frontier.settlement import Settlement, TurnRelease

logger: EventLogger = logging.getLogger(__name__)


class BudgetsUsed(NamedTuple):
    """Event: Redis has taken settlements of a partition by which pages used something of their plans' budgets."""

    partition: int


class Settler:
    """Holds settlements and released turns until Redis has taken them.

    While Redis is away they wait here. Claims fail then, too, so there are never more than this worker carried.
    Publishes `BudgetsUsed`.

    Args:
        batch: The most settlements in one call, from 1.
        wait_s: Seconds that the first of a batch waits for others.
        stats: Counts accepted and refused settlements.
    """

    def __init__(self, queue: Queue, *, batch: int, wait_s: float, events: Events, stats: StatsCollector) -> None:
        self._queue = queue
        self._batch = batch
        self._wait_s = wait_s
        self._events = events
        self._stats = stats
        self._warn = Seldom(logger.warning)
        # By partition and owner: after a lost session those of the old owner may still be here, beside the new one's.
        self._settlements: dict[tuple[int, str], deque[Settlement]] = defaultdict(deque)
        self._turns: dict[tuple[int, str], deque[TurnRelease]] = defaultdict(deque)
        self._count = 0  # how many settlements and turns wait, together
        self._work = asyncio.Event()  # set: there is something to send
        self._full = asyncio.Event()  # set: there is a whole batch, or `send_all` wants no wait for one
        self._all_sent = asyncio.Event()  # set: there is nothing left
        self._all_sent.set()
        self._task: asyncio.Task[None] | None = None
        self._sending: dict[tuple[int, str], asyncio.Task[None]] = {}

    def start(self) -> None:
        """Starts the task that sends."""
        self._task = tasks.start(self._run(), name="settler", died=self._events.publish)

    def settle(self, owner: str, settlement: Settlement) -> None:
        """Queues a settlement."""
        self._settlements[settlement.claimed.partition, owner].append(settlement)
        self._added()

    def release(self, owner: str, partition: int, turn: TurnRelease) -> None:
        """Queues a released turn."""
        self._turns[partition, owner].append(turn)
        self._added()

    def forget(self, partition: int, owner: str) -> None:
        """Drops what is queued for the owner of a lost lease; the frontier would refuse it."""
        key = (partition, owner)
        self._subtract(len(self._settlements.pop(key, ())) + len(self._turns.pop(key, ())))

    async def send_all(self, timeout_s: float) -> bool:
        """Sends at once, and waits until nothing is left; returns False when `timeout_s` was too short."""
        if self._task is None or self._task.done():
            return self._all_sent.is_set()
        self._full.set()
        try:
            await asyncio.wait_for(self._all_sent.wait(), timeout_s)
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """Stops the tasks; seeds whose settlements weren't sent are reclaimed when the session lapses."""
        if self._task is not None:
            await tasks.cancel(self._task, *self._sending.values())

    def _added(self) -> None:
        self._count += 1
        self._all_sent.clear()
        self._work.set()
        if self._count >= self._batch:
            self._full.set()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            if self._wait_s:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self._wait_s)
            self._work.clear()
            self._full.clear()
            for key in {*self._settlements, *self._turns} - self._sending.keys():
                # Each partition has a task of its own: one that is away holds up no other.
                name = f"settler of partition {key[0]}"
                self._sending[key] = tasks.start(self._flush(*key), name=name, died=self._events.publish)
                self._sending[key].add_done_callback(partial(self._sent, key))

    async def _flush(self, partition: int, owner: str) -> None:
        """Sends all that is queued for one owner in one partition; tries again as long as Redis is away.

        A loop of its own: between two tries `forget` may drop what is being sent.
        """
        key = (partition, owner)
        while self._settlements.get(key) or self._turns.get(key):
            settlements_left, turns_left = self._settlements[key], self._turns[key]
            settlements = [settlements_left.popleft() for _ in range(min(self._batch, len(settlements_left)))]
            turns = [turns_left.popleft() for _ in range(min(self._batch, len(turns_left)))]
            try:
                accepted, refused = await self._queue.settle(partition, owner, settlements, turns)
            except RedisError as error:
                if self._settlements.get(key) is not settlements_left:  # `forget` was called meanwhile
                    self._subtract(len(settlements) + len(turns))
                    return
                settlements_left.extendleft(reversed(settlements))
                turns_left.extendleft(reversed(turns))
                self._warn(log_events.SETTLEMENTS_WAITING, len(settlements_left), error)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._subtract(len(settlements) + len(turns))
                self._report(accepted, refused)
                if any(settlement.use for settlement in settlements):
                    self._events.publish(BudgetsUsed(partition))
        self._settlements.pop(key, None)
        self._turns.pop(key, None)

    def _sent(self, key: tuple[int, str], _task: asyncio.Task[None]) -> None:
        del self._sending[key]
        if self._settlements.get(key) or self._turns.get(key):  # queued since its last look
            self._work.set()

    def _subtract(self, number: int) -> None:
        self._count -= number
        if not self._count:
            self._all_sent.set()

    def _report(self, accepted: int, refused: int) -> None:
        self._stats.inc_value("frontier/settled", accepted)
        if refused:
            self._stats.inc_value("frontier/refused", refused)
            self._warn(log_events.SETTLEMENTS_REFUSED, refused)
