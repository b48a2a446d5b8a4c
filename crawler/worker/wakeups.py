"""Listens on the frontier's wake channel, so that an idle worker hears of work without polling Redis."""

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

TURN_WAKE_SECONDS = 1.0  # turns are freed all the time: they wake a worker once in so long at most; offers always do
SPREAD_SECONDS = 0.005  # workers wake spread over this time, so that they don't all try for the claim lock at once
BACKOFF = re.compile(rb"leave (\d{1,9}) (\S+)")  # settle.lua publishes it: ms, host


class SitesChanged(NamedTuple):
    """Event: a site's definition in Redis has changed."""


class WakeUps:
    """Turns messages of other workers and of commands into events of this one.

    Args:
        channel: Of the worker's frontier.
        wake: Set when something may have become claimable.
        events: Where `SitesChanged` and `HostBackoff` are published.
    """

    def __init__(self, redis: Redis, channel: str, wake: asyncio.Event, events: Events) -> None:
        self._redis = redis
        self._channel = channel
        self._wake = wake
        self._events = events
        self._turns_wake_from = 0.0  # by the event loop's clock, as the following
        self._later: asyncio.TimerHandle | None = None  # wakes for turns that were freed before that

    async def listen(self) -> None:
        """Listens until cancelled, through every outage of Redis."""
        await until_redis_answers("wake-ups", self._subscribe)

    async def _subscribe(self) -> None:
        async with self._redis.pubsub() as subscription:
            await subscription.subscribe(self._channel)
            self._wake.set()  # for what was published while nobody listened
            while True:
                message = await subscription.get_message(ignore_subscribe_messages=True, timeout=None)
                if message is not None and self._wakes(message["data"]):
                    await asyncio.sleep(random.uniform(0, SPREAD_SECONDS))
                    self._wake.set()

    def _wakes(self, message: bytes) -> bool:
        """Publishes what a message says; returns whether it wakes the worker now."""
        if backoff := BACKOFF.fullmatch(message):
            self._events.publish(HostBackoff(backoff[2].decode("utf-8", "replace"), int(backoff[1]) / 1000))
            return False
        if message == SITES_CHANGED.encode():
            self._events.publish(SitesChanged())
        return message != b"turn" or self._turn_wakes()

    def _turn_wakes(self) -> bool:
        """Returns whether a freed turn wakes the worker now; else it does as soon as it may."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if now >= self._turns_wake_from:
            self._turns_wake_from = now + TURN_WAKE_SECONDS
            return True
        if self._later is None or self._later.when() < now:
            self._later = loop.call_at(self._turns_wake_from, self._wake.set)
        return False
