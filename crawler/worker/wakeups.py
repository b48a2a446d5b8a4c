"""Listens on the frontier's wake channel, so that an idle worker learns of new work without polling Redis."""

from __future__ import annotations

import asyncio
import random
import re
from typing import TYPE_CHECKING, NamedTuple

from crawler.plans.registry import SITES_CHANGED
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.turns import HostBackoff

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.events import Events

TURN_WAKE_SECONDS = 1.0  # turns are released all the time, so they wake a worker only once in this time
JITTER_SECONDS = 0.005  # most by which a wake-up is delayed, so that workers don't all try for the claim lock at once
BACKOFF = re.compile(rb"backoff (\d{1,9}) (\S+)")  # settle.lua publishes it: ms, host


class SitesChanged(NamedTuple):
    """Event: a site's definition in Redis has changed."""


class WakeUps:
    """Turns messages of other workers and of commands into wake-ups and events of this worker.

    Publishes `SitesChanged` and `HostBackoff`.

    Args:
        channel: The wake channel of the worker's frontier.
        wake: Set when a seed may have become claimable.
    """

    def __init__(self, redis: Redis, channel: str, wake: asyncio.Event, events: Events) -> None:
        self._redis = redis
        self._channel = channel
        self._wake = wake
        self._events = events
        self._turns_wake_from = 0.0  # from when a released turn wakes the worker again, by the event loop's clock
        self._turn_timer: asyncio.TimerHandle | None = None  # wakes the worker then, for turns released before

    async def listen(self) -> None:
        """Listens until cancelled, through every outage of Redis."""
        await until_redis_answers("wake-ups", self._subscribe)

    async def _subscribe(self) -> None:
        async with self._redis.pubsub() as subscription:
            await subscription.subscribe(self._channel)
            self._wake.set()  # for messages that were published before the subscription
            while True:
                message = await subscription.get_message(ignore_subscribe_messages=True, timeout=None)
                if message is not None and self._wakes(message["data"]):
                    await asyncio.sleep(random.uniform(0, JITTER_SECONDS))
                    self._wake.set()

    def _wakes(self, message: bytes) -> bool:
        """Publishes the event that a message stands for, if any; returns whether the message wakes the worker now."""
        if backoff := BACKOFF.fullmatch(message):
            self._events.publish(HostBackoff(backoff[2].decode("utf-8", "replace"), int(backoff[1]) / 1000))
            return False
        if message == SITES_CHANGED.encode():
            self._events.publish(SitesChanged())
        return message != b"turn" or self._turn_wakes()

    def _turn_wakes(self) -> bool:
        """Returns whether a released turn wakes the worker now; if not, a timer wakes it as soon as it may."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if now >= self._turns_wake_from:
            self._turns_wake_from = now + TURN_WAKE_SECONDS
            return True
        if self._turn_timer is None or self._turn_timer.when() < now:
            self._turn_timer = loop.call_at(self._turns_wake_from, self._wake.set)
        return False
