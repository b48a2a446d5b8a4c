"""Listens on the frontier's wake channel, so that an idle worker learns of new work without polling Redis."""

from __future__ import annotations

import asyncio
import random
import re
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier.node_orders import NODES_CHANGED
from crawler.plans.registry import PLANS_CHANGED, SITES_CHANGED
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.turns.turns import CrawlDelay, HostBackoff

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.base.events import Events

TURN_WAKE_SECONDS = 1.0  # turns are released all the time, so they wake a worker only once in this time
PING_SECONDS = 15.0  # after how long a silence Redis is asked for a sign of life
SILENT_SECONDS = 40.0  # after how long a silence the connection is given up: two pings had time to be answered
# The most by which a wake-up is delayed, so that workers don't all try for the claim lock at once.
JITTER_SECONDS = 0.005
# Scripts say this of a host: a word, ms, and the host.
HOST_MESSAGE = re.compile(rb"(backoff|crawl-delay) (\d{1,9}) (\S+)")
PRIORITY_MESSAGE = re.compile(rb"priority (\S+) (\d)")
PLANS_MESSAGE = re.compile(PLANS_CHANGED.encode() + rb"(?: (\S+))?")
# A worker says the first of itself, an operator the second of a host.
NAMED_MESSAGE = re.compile(rb"(starved|politeness) (\S+)")


class WorkerStarved(NamedTuple):
    """Event: a worker, of this name, has claimed in vain and holds no turn."""

    name: str


class SitesChanged(NamedTuple):
    """Event: a site's definition in Redis has changed, or may have while nobody listened."""


class PlansChanged(NamedTuple):
    """Event: a plan's record in Redis has changed; '' stands for any, which may have while nobody listened."""

    plan: str = ""


class PriorityChanged(NamedTuple):
    """Event: an operator has given a plan another priority, from 0 to 9."""

    plan: str
    priority: int


class NodesChanged(NamedTuple):
    """Event: an operator wants something else of a node's workers, or may have wanted it while nobody listened."""


class PolitenessChanged(NamedTuple):
    """Event: operators want something else of a host."""

    host: str


class WakeUps:
    """Turns messages of other workers and of commands into wake-ups and events of this worker.

    Publishes `SitesChanged`, `PlansChanged`, `PriorityChanged`, `NodesChanged`, `PolitenessChanged`, `HostBackoff`,
    `CrawlDelay` and `WorkerStarved`.

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
            now = asyncio.get_running_loop().time
            heard_at = now()
            while True:
                message = await subscription.get_message(timeout=PING_SECONDS)
                if message is not None:
                    heard_at = now()
                    await self._take(message["type"], message["data"])
                elif now() - heard_at < SILENT_SECONDS:
                    await subscription.ping()
                else:  # as when a firewall has dropped an idle connection: it looks well for ever
                    raise RedisConnectionError("no sign of life on the connection")

    async def _take(self, message_type: str, data: bytes) -> None:
        """Acts on what was heard: a message; or that the subscription stands, also after redis-py made it anew."""
        if message_type == "subscribe":  # whatever was published before, nobody has heard
            for event in (SitesChanged(), PlansChanged(), NodesChanged()):
                self._events.publish(event)
            self._wake.set()
        elif message_type == "message" and self._wakes(data):
            await asyncio.sleep(random.uniform(0, JITTER_SECONDS))
            self._wake.set()

    def _wakes(self, message: bytes) -> bool:
        """Publishes the event that a message stands for, if any; returns whether the message wakes the worker now."""
        if of_host := HOST_MESSAGE.fullmatch(message):
            word, milliseconds, host = of_host.groups()
            host_event = HostBackoff if word == b"backoff" else CrawlDelay
            self._events.publish(host_event(host.decode("utf-8", "replace"), int(milliseconds) / 1000))
            return False
        if named := NAMED_MESSAGE.fullmatch(message):
            named_event = WorkerStarved if named[1] == b"starved" else PolitenessChanged
            self._events.publish(named_event(named[2].decode("utf-8", "replace")))
            return False
        if of_plan := PRIORITY_MESSAGE.fullmatch(message):
            self._events.publish(PriorityChanged(of_plan[1].decode("utf-8", "replace"), int(of_plan[2])))
        if changed := PLANS_MESSAGE.fullmatch(message):  # with more seeds, it is told of these
            self._events.publish(PlansChanged((changed[1] or b"").decode("utf-8", "replace")))
            return False
        if message == SITES_CHANGED.encode():
            self._events.publish(SitesChanged())
        if message == NODES_CHANGED.encode():
            self._events.publish(NodesChanged())
        return message != b"turn" or self._turn_wakes()

    def hold_turns(self, seconds: float) -> None:
        """Lets no released turn wake the worker for so long."""
        self._turns_wake_from = max(self._turns_wake_from, asyncio.get_running_loop().time() + seconds)

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
