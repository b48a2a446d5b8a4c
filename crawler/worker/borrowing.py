"""Turns of hosts that no seed of ours stands for: media on other hosts, and what else a page needs from elsewhere."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.errors import LeftAloneError
from crawler.frontier.keys import partition_of
from crawler.frontier.queue import LEFT_ALONE
from crawler.worker.turn import PATIENCE_SECONDS
from crawler.worker.visits import Lane

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier.queue import Queue
    from crawler.worker.visits import Visit

logger = logging.getLogger(__name__)
LOOK_SECONDS = 1.0  # between two looks whether a turn is free, and between two tries while Redis is away


async def ask(queue: Queue, host: str, site: str, owner: str) -> tuple[Lane | None, float]:
    """Takes a turn of a host if one is free; returns it, or None and the seconds until it is worth asking again.

    Raises:
        LeftAloneError: The host wants to be left alone for longer than PATIENCE_SECONDS.
        redis.exceptions.RedisError: Redis is away.
    """
    turn, number_ms = await queue.acquire_turn(host, site, owner)
    if turn > 0:
        return Lane(host, turn, partition_of(host, queue.partitions), number_ms / 1000), 0.0
    if turn == LEFT_ALONE and number_ms > PATIENCE_SECONDS * 1000:
        raise LeftAloneError(host, number_ms / 1000)
    return None, number_ms / 1000


async def acquire_turn(queue: Queue, host: str, visit: Visit, owner: Callable[[], str]) -> Lane:
    """Waits for a turn of a host. Never call it while holding another host's: the two could be waited for crosswise.

    Args:
        visit: What the turn is for.
        owner: Says for whom; raises when nobody may borrow any more.

    Raises:
        FrontierError: What `owner` raised; or the visit has ended.
        PageTimeoutError: The visit's time is up.
        LeftAloneError: The host wants to be left alone for longer than PATIENCE_SECONDS.
    """
    while True:
        visit.check()
        name = owner()
        try:
            lane, wait_s = await ask(queue, host, visit.seed.site, name)
        except RedisError as error:
            logger.warning("a turn of %s waits for Redis: %s", host, error)
            lane, wait_s = None, LOOK_SECONDS
        if lane is not None:
            return lane
        await asyncio.sleep(min(wait_s, LOOK_SECONDS) + random.uniform(0.005, 0.05))  # not all at once
