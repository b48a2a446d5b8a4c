"""Lets workers that hold no turn claim first, where the hosts have fewer turns than there are workers.

Otherwise who holds turns would come by more of them: a worker is the first to know that its own turn is free again, and
may hold the more seeds, the more pages it crawls. So a worker that holds no turn, and was given no seed, says on the
wake channel that it is starved. For STARVED_SECONDS after that, no worker that holds a turn claims. It loses nothing by
that: the starved one has just found that there is nothing to claim.

All who are starved ask for the turns that fall free. Who has been starved longest asks most often, so that turns go
round, and they don't all ask for the same one.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.base import tasks
from crawler.worker.life.wakeups import WorkerStarved

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.base.events import Events

# How long a worker that calls itself starved counts as such; it repeats that with each vain claim.
STARVED_SECONDS = 2.0
SAYING_SECONDS = 1.0  # how long no worker repeats that one is starved, once any has said so
# How long a worker leaves a turn of its own that is free again to whoever is starved.
PATIENCE_SECONDS = 0.25
# How long claims are vain before a worker is starved; hosts with many turns free one sooner.
STARVED_AFTER_SECONDS = 1.0
PAUSE_SECONDS = 2.0  # the pause between two claims of a worker that was starved just now; it shrinks with time
HALVING_SECONDS = 2.0  # how long after a worker was starved that pause is half as long


class FairShare:
    """Says when this worker is starved, and hears when others are.

    Args:
        channel: The wake channel of the worker's frontier.
        name: Of the worker.
    """

    def __init__(self, redis: Redis, channel: str, name: str, events: Events) -> None:
        self._redis = redis
        self._channel = channel
        self._name = name
        self._events = events
        self._vain_since: float | None = None  # by the event loop's clock, as all moments here
        self._say_from = 0.0
        self._saying: asyncio.Task[None] | None = None
        self._others_starve_until = 0.0
        self._patient_until = 0.0
        events.subscribe(WorkerStarved, self._heard)

    def lets_others_claim(self, *, holds_turns: bool) -> bool:
        """Returns whether this worker leaves what can be claimed to others, who are starved.

        Args:
            holds_turns: Whether this worker holds any.
        """
        now = _now()
        return now < self._others_starve_until and (holds_turns or now < self._patient_until)

    def released_turn(self, free_s: float) -> None:
        """Notes that this worker has released a turn, which is free again in `free_s` seconds."""
        self._patient_until = _now() + free_s + PATIENCE_SECONDS

    def end_starving(self) -> None:
        """Notes that nothing is kept from this worker: it was given seeds, or there are none."""
        self._vain_since = None

    def starve(self) -> float:
        """Notes that this worker, which holds no turn, has claimed in vain; tells those that hold some, if it is long.

        Returns:
            For how many seconds it should leave the next turns to others.
        """
        if self._vain_since is None:
            self._vain_since = _now()
        starved_s = _now() - self._vain_since
        if starved_s < STARVED_AFTER_SECONDS:
            return 0.0
        if _now() >= self._say_from and (self._saying is None or self._saying.done()):
            self._say_from = _now() + SAYING_SECONDS
            self._saying = tasks.start(self._say(), name="starved", died=self._events.publish)
        return random.uniform(0.5, 1.0) * PAUSE_SECONDS / (1 + starved_s / HALVING_SECONDS)

    async def close(self) -> None:
        """Stops what is being said."""
        if self._saying is not None:
            await tasks.cancel(self._saying)

    async def _say(self) -> None:
        """Says it, in a task of its own: claims don't wait for a part of Redis that is away, nor fail with it."""
        with contextlib.suppress(RedisError):
            await self._redis.publish(self._channel, f"starved {self._name}")

    def _heard(self, event: WorkerStarved) -> None:
        if event.name != self._name:
            self._others_starve_until = _now() + STARVED_SECONDS
            self._say_from = _now() + SAYING_SECONDS


def _now() -> float:
    return asyncio.get_running_loop().time()
