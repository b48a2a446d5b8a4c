"""A worker's offers: they wait for a Redis that is away or full, and are given up only when the worker stops."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from redis.exceptions import OutOfMemoryError, RedisError

from crawler.errors import UnavailableError
from crawler.frontier.queue import FULL_MILLISECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.frontier.queue import Queue
    from crawler.models import Seed
    from crawler.servers.redis_full import RedisFull

logger = logging.getLogger(__name__)
AGAIN_SECONDS = 1.0  # between two tries while Redis is away


async def offer(
    queue: Queue, seeds: Sequence[Seed], full: RedisFull, stopping: Callable[[], bool], *, budget: int = 0
) -> int:
    """Offers seeds and returns how many were new.

    What waits is bounded by what the worker carries: the seed whose page named them isn't ended before.

    Raises:
        UnavailableError: The worker stops and Redis doesn't take them, or not all. Who visits the page again offers
            them again.
    """
    while True:
        try:
            fresh = sum(await queue.offer(seeds, budget=budget))
        except RedisError as error:
            if is_full := isinstance(error, OutOfMemoryError):
                full.note("offers", refused=True)
            else:
                logger.warning("%d offers wait for Redis: %s", len(seeds), error)
            if stopping():
                raise UnavailableError(f"{len(seeds)} offers are left to another visit: {error}") from error
            await asyncio.sleep(FULL_MILLISECONDS / 1000 if is_full else AGAIN_SECONDS)
        else:
            full.note("offers", refused=False)
            return fresh
