"""Offers seeds to the frontier; an offer waits while Redis is away or full, until the worker stops."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from redis.exceptions import OutOfMemoryError, RedisError

from crawler.errors import UnavailableError
from crawler.frontier.queue import FULL_MILLISECONDS
from crawler.servers.redis_retry import RETRY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.queue import Queue
    from crawler.models import Frontier, Seed
    from crawler.servers.redis_full import RedisFull

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

    async def offer(self, seeds: Iterable[Seed], frontier: Frontier = "content", *, budget: int = 0) -> int:
        """Offers seeds and returns how many were new; waits as long as Redis is away or full.

        The seeds that wait here are those of visits under way, because a visit doesn't end before its offers.

        Args:
            budget: How many followed links each host may have; see `Queue.offer`.

        Raises:
            UnavailableError: The worker stops, and Redis has taken some of the seeds at most. The next visit of the
                page offers them again.
        """
        offered = list(seeds)
        fresh = await self._offer(self._queues[frontier], offered, budget)
        self._stats.inc_value("frontier/offered", len(offered))
        self._stats.inc_value("frontier/offered/new", fresh)
        return fresh

    async def _offer(self, queue: Queue, seeds: list[Seed], budget: int) -> int:
        """Offers until Redis takes it. A loop of its own: it must note a full Redis, and end when the worker stops."""
        while True:
            try:
                fresh = sum(await queue.offer(seeds, budget=budget))
            except RedisError as error:
                is_full = isinstance(error, OutOfMemoryError)
                if is_full:
                    self._redis_full.note("offers", refused=True)
                else:
                    logger.warning("%d offers: waiting for Redis: %s", len(seeds), error)
                if self._stopping.is_set():
                    raise UnavailableError(f"{len(seeds)} offers are left to the next visit: {error}") from error

                await asyncio.sleep(FULL_MILLISECONDS / 1000 if is_full else RETRY_SECONDS)
            else:
                self._redis_full.note("offers", refused=False)
                return fresh
