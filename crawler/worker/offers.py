"""Offers seeds to the frontier; an offer waits while Redis is away or full, until the worker stops."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from redis.exceptions import OutOfMemoryError, RedisError

from crawler.errors import UnavailableError
from crawler.frontier.keys import partition_of
from crawler.frontier.queue import FULL_MILLISECONDS
from crawler.seldom import Seldom
from crawler.servers.redis_retry import RETRY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.queue import Queue
    from crawler.models import Frontier, Seed
    from crawler.servers.redis_full import RedisFull

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Offers:
    """Offers the seeds that pages lead to.

    Args:
        redis_full: Told whether offers are refused for want of memory.
        stopping: Set when the worker stops.
        stats: Counts the seeds offered, and those of them that were new.
    """

    def __init__(
        self,
        queues: Mapping[Frontier, Queue],
        *,
        redis_full: RedisFull,
        stopping: asyncio.Event,
        stats: StatsCollector,
    ) -> None:
        self._queues = queues
        self._redis_full = redis_full
        self._stopping = stopping
        self._stats = stats
        self._warn = Seldom(logger.warning)

    async def offer(
        self, seeds: Iterable[Seed], frontier: Frontier = "content", *, edition: int = 0, budget: int = 0
    ) -> int:
        """Offers seeds and returns how many were new; waits as long as Redis is away or full.

        The seeds that wait here are those of visits under way, because a visit doesn't end before its offers.

        Args:
            edition: Of the page that led to them; see `Queue.offer`.
            budget: How many followed links each host may have; see `Queue.offer`.

        Raises:
            UnavailableError: The worker stops, and Redis has taken some of the seeds at most. The next visit of the
                page offers them again.
        """
        offered = list(seeds)
        queue = self._queues[frontier]
        by_partition: dict[int, list[Seed]] = defaultdict(list)
        for seed in offered:
            by_partition[partition_of(seed.host, queue.partitions)].append(seed)
        # Side by side: seeds of a partition that is away hold up no other's.
        news = await asyncio.gather(
            *(
                self._until_taken(partial(queue.offer, part, edition=edition, budget=budget, confirmed=True), len(part))
                for part in by_partition.values()
            ),
            return_exceptions=True,
        )
        fresh = 0
        for new in news:
            if isinstance(new, BaseException):
                raise new
            fresh += sum(new)
        self._stats.inc_value("frontier/offered", len(offered))
        self._stats.inc_value("frontier/offered/new", fresh)
        return fresh

    async def refuse(self, seed: Seed, reason: str, number: int) -> None:
        """Counts pages that can't be offered, as `Queue.refuse`; waits as `offer` does.

        Raises:
            UnavailableError: As `offer`.
        """
        await self._until_taken(partial(self._queues[seed.frontier].refuse, seed, reason, number), number)

    async def _until_taken(self, tell: Callable[[], Awaitable[T]], number: int) -> T:
        """Tells one partition of so many offers until Redis takes it.

        A loop of its own: it must note a full Redis, and end when the worker stops.
        """
        while True:
            try:
                answer = await tell()
            except RedisError as error:
                is_full = isinstance(error, OutOfMemoryError)
                if is_full:
                    self._redis_full.note("offers", refused=True)
                else:
                    self._warn("%d offers: waiting for Redis: %s", number, error)
                if self._stopping.is_set():
                    raise UnavailableError(f"{number} offers are left to the next visit: {error}") from error
                await asyncio.sleep(FULL_MILLISECONDS / 1000 if is_full else RETRY_SECONDS)
            else:
                self._redis_full.note("offers", refused=False)
                return answer
