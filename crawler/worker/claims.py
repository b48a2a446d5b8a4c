"""Claims seeds for a worker, from one partition after the other, and counts how many it carries."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from crawler.frontier.queue import ClaimAnswer

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.queue import ClaimState, Queue
    from crawler.frontier.session import Session
    from crawler.servers.redis_full import RedisFull
    from crawler.worker.settler import Settler

logger = logging.getLogger(__name__)
# Between two comparisons with what Redis says this worker holds. It bounds how long a seed
# that Redis believes wrongly to be held waits, and needn't agree with SESSION_SECONDS.
RECALL_SECONDS = 15.0


class Claims:
    """Asks the partitions for seeds, one after the other, for the session's owner.

    Args:
        settler: Flushed before a quarantined seed is claimed, which may kill its worker.
        drain_s: The longest wait for that, in seconds: SESSION_SECONDS.
        redis_full: Told whether claims are refused for want of memory.

    Attributes:
        carrying: Number of seeds held and not yet settled. Whoever settles one subtracts it.
    """

    def __init__(
        self,
        queue: Queue,
        session: Session,
        settler: Settler,
        *,
        drain_s: float,
        redis_full: RedisFull,
        stats: StatsCollector,
    ) -> None:
        self._queue = queue
        self._session = session
        self._settler = settler
        self._drain_s = drain_s
        self._redis_full = redis_full
        self._stats = stats
        self._number = 0  # claims so far; with the owner it makes a claim id that is never used twice
        self._partition = 0  # the one to be asked next
        self._state: ClaimState | None = None  # of the last answer; None: there is none yet
        self._recall_at_s = 0.0  # by the monotonic clock
        self.carrying = 0

    async def claim(self, max_seeds: int) -> ClaimAnswer:
        """Claims up to `max_seeds` seeds from the first partition that has some; each is asked once at most.

        Raises:
            redis.exceptions.RedisError: Redis is away; the next call recalls seeds that it may have given.
        """
        owner = self._session.owner
        await self._recall(owner)
        if self._state in ("drain", "quarantined"):  # a quarantined seed goes only to an empty worker
            await self._settler.drain(self._drain_s)
        answer = await self._ask_partitions(owner, max_seeds)
        if owner != self._session.owner:  # the session was lost meanwhile, and with it the seeds of this claim
            return ClaimAnswer("lapsed", None, [])
        self.carrying += len(answer.seeds)
        return answer

    async def _ask_partitions(self, owner: str, max_seeds: int) -> ClaimAnswer:
        waits_ms: list[int] = []
        answer = ClaimAnswer("ok", None, [])
        for _ in range(1 if self._state == "drain" else self._queue.partitions):
            self._number += 1
            claim = f"{owner}#{self._number}"
            answer = await self._queue.claim(self._partition, owner, claim, max_seeds=max_seeds, carrying=self.carrying)
            self._count(answer)
            self._state = answer.state
            if answer.state == "drain":  # stay with this partition: else the worker would never drain
                return answer
            self._partition = (self._partition + 1) % self._queue.partitions
            if answer.seeds:
                return answer
            if answer.wait_ms is not None:
                waits_ms.append(answer.wait_ms)
        return ClaimAnswer(answer.state, min(waits_ms, default=None), [])

    async def _recall(self, owner: str) -> None:
        """Every RECALL_SECONDS, releases seeds that this worker doesn't hold though Redis says so.

        That happens when Redis loses the last writes that it had acknowledged, in a fail-over or a power cut.
        """
        if time.monotonic() < self._recall_at_s:
            return
        if recalled := await self._queue.recall(owner):
            logger.warning("Redis had forgotten how %d seeds of this worker ended; they are ready again", recalled)
        self._recall_at_s = time.monotonic() + RECALL_SECONDS

    def _count(self, answer: ClaimAnswer) -> None:
        self._redis_full.note(("claims", self._partition), refused=answer.state == "full")
        self._stats.inc_value(f"frontier/claims/{answer.state}")
        if answer.seeds:
            self._stats.inc_value("frontier/claimed", len(answer.seeds))
