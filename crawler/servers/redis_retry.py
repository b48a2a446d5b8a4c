"""Calls to Redis that are made again until Redis answers: the one loop for everything that must outlast an outage."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, TypeVar

from redis.exceptions import RedisError

from crawler.base import log_events
from crawler.base.seldom import Seldom

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.base.log_events import EventLogger

T = TypeVar("T")
logger: EventLogger = logging.getLogger(__name__)
# Seconds between two calls while Redis can't be reached. A restart or a failover takes a few of them, and one call a
# second from each worker is no load for a server that is just coming back.
RETRY_SECONDS = 1.0


async def until_redis_answers(what: str, call: Callable[[], Awaitable[T]]) -> T:
    """Calls until the call ends without an error of Redis, however long that takes; returns what it returned.

    Args:
        what: What waits for Redis meanwhile; begins the line that a failure logs.
        call: Must bear being made again after an error that may have come too late to undo its effect.
    """
    warn = Seldom(logger.warning)
    while True:
        try:
            return await call()
        except (RedisError, OSError) as error:
            warn(log_events.REDIS_WAITING, what, error)
            await asyncio.sleep(RETRY_SECONDS)
