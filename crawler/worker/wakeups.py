"""Listens on the frontier's wake channel, so that an idle worker needs no polling."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.plans.registry import SITES_CHANGED

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.asyncio import Redis

logger = logging.getLogger(__name__)
TURN_WAKE_SECONDS = 1.0  # freed turns are news at most so often; offers always are
RECONNECT_SECONDS = 1.0
LEAVE = re.compile(rb"leave (\d{1,9}) (\S+)")  # settle.lua says it: ms, host
HERD_SECONDS = 0.005  # workers wake spread over that time, so that they don't all meet at the lock


async def listen(
    redis: Redis,
    channel: str,
    wake: asyncio.Event,
    on_sites_changed: Callable[[], None],
    on_leave: Callable[[str, float], None],
) -> None:
    """Sets `wake` when something may have become claimable; runs until cancelled, through every outage of Redis.

    It also sets it once after each subscription: what was offered before nobody has told us.

    Args:
        on_leave: Called with a host and the seconds that it is to be left alone.
    """
    loop = asyncio.get_running_loop()
    turns_from = 0.0
    later: asyncio.TimerHandle | None = None  # news of freed turns that came too early
    while True:
        try:
            async with redis.pubsub() as subscription:
                await subscription.subscribe(channel)
                wake.set()
                while True:
                    message = await subscription.get_message(ignore_subscribe_messages=True, timeout=None)
                    if message is None:
                        continue
                    if message["data"] == SITES_CHANGED.encode():
                        on_sites_changed()
                    elif leave := LEAVE.fullmatch(message["data"]):
                        on_leave(leave[2].decode("utf-8", "replace"), int(leave[1]) / 1000)
                        continue
                    elif message["data"] == b"turn":
                        now = loop.time()
                        if now < turns_from:
                            if later is None or later.when() < now:
                                later = loop.call_at(turns_from, wake.set)
                            continue
                        turns_from = now + TURN_WAKE_SECONDS
                    await asyncio.sleep(random.uniform(0, HERD_SECONDS))
                    wake.set()
        except (RedisError, OSError) as error:
            logger.warning("no wake-ups: %s", error)
            await asyncio.sleep(RECONNECT_SECONDS)
