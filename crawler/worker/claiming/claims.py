"""Claims seeds for a worker, from one partition after the other, and counts how many it carries."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.base import log_events
from crawler.base.tasks import cancel
from crawler.frontier.queue import ClaimAnswer
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.frontier.turn_answers import NO_TURN

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawler.base.log_events import EventLogger
    from crawler.frontier.queue import ClaimState, Queue
    from crawler.frontier.session import Lease, Session
    from crawler.servers.redis_full import RedisFull
    from crawler.worker.claiming.preference import Preference
    from crawler.worker.rendering.browser_at_hand import BrowserAtHand
    from crawler.worker.settling.settler import Settler

logger: EventLogger = logging.getLogger(__name__)
# How often the worker compares what it holds with what Redis says it holds. This bounds how long a seed waits that
# Redis believes wrongly to be held, and needn't agree with SESSION_SECONDS.
RECALL_SECONDS = 15.0
# How long a partition's answer is waited for before others are asked. A claim ends far sooner (lua/lib/budget.lua). A
# Redis that is frozen gives no answer until the call times out, and hosts of others would be asked nothing meanwhile.
ANSWER_SECONDS = 0.25


class Claims:
    """Asks the partitions for seeds, one after the other, each for the owner of the lease there.

    A partition that can't be reached is passed over, as long as others can, until its lease is renewed again. One that
    doesn't answer soon isn't waited for: its claim stays under way, and what it gives comes with a later answer.

    Args:
        settler: Sends all that it has before a quarantined seed is claimed, which may kill its worker.
        send_s: The longest wait for that, in seconds: SESSION_SECONDS.
        browser: Without one, pages that must be rendered are left to others.
        preference: Which hosts are claimed first.
        redis_full: Told whether claims are refused for want of memory.
        wake: Set when a claim that stayed under way has ended.

    Attributes:
        carrying: Number of seeds held and not yet settled.
        left_seeds_in: Partitions where the last claim has left seeds to workers with a browser.
    """

    def __init__(
        self,
        queue: Queue,
        session: Session,
        settler: Settler,
        *,
        browser: BrowserAtHand,
        preference: Preference,
        send_s: float,
        redis_full: RedisFull,
        wake: asyncio.Event,
        stats: StatsCollector,
    ) -> None:
        self._queue = queue
        self._session = session
        self._settler = settler
        self._browser = browser
        self._preference = preference
        self._send_s = send_s
        self._redis_full = redis_full
        self._wake = wake
        self._stats = stats
        self._number = 0  # claims so far; with the owner it makes a claim id that is never used twice
        self._partition = 0  # the partition that is asked next
        self._state: ClaimState | None = None  # the state in the last answer; None: no answer has come yet
        # By partition: when to compare next, by the monotonic clock.
        self._recall_at_s: dict[int, float] = defaultdict(float)
        self._under_way: dict[int, asyncio.Task[tuple[str, ClaimAnswer]]] = {}  # claims, by partition
        self.carrying = 0
        self.left_seeds_in: set[int] = set()

    async def claim(self, max_seeds: int) -> ClaimAnswer:
        """Claims up to `max_seeds` seeds from the first partition that has some; each is asked once at most.

        Raises:
            redis.exceptions.RedisError: Redis is away; the next call recalls seeds that it may have given.
        """
        if self._state in ("laden", "quarantined"):  # a quarantined seed goes only to an empty worker
            await self._settler.send_all(self._send_s)
        answer = await self._ask_partitions(max_seeds)
        self.carrying += len(answer.seeds)
        return answer

    def seed_ended(self) -> None:
        """Counts one seed less: it is settled, or others have claimed it."""
        self.carrying -= 1

    async def close(self) -> None:
        """Ends the claims that are under way, and hands back what they have brought.

        What one may have given whose answer isn't there yet is recalled like that of any lost answer.
        """
        await cancel(*self._under_way.values())
        for task in self._under_way.values():
            if not task.cancelled() and task.exception() is None:
                self._hand_back(*task.result())
        self._under_way.clear()

    async def _ask_partitions(self, max_seeds: int) -> ClaimAnswer:
        """Asks partition after partition, from where the last call ended, until one gives seeds."""
        waits_ms: list[int] = []
        answer: ClaimAnswer | None = None
        error: RedisError | None = None
        leases = self._session.leases
        none_reachable = not any(lease.alive and lease.reachable for lease in leases)
        for _ in leases:
            lease = leases[self._partition]
            if self._partition in self._under_way or (lease.alive and (lease.reachable or none_reachable)):
                try:
                    answer = await self._ask(lease, max_seeds)
                except RedisError as redis_error:
                    lease.reachable, error, self._state = False, redis_error, None
                else:
                    if (
                        answer.state == "laden"
                    ):  # stay with this partition, until the worker has ended what it holds there
                        return answer
                    if answer.wait_ms is not None:
                        waits_ms.append(answer.wait_ms)
            self._partition = (self._partition + 1) % len(leases)
            if answer is not None and answer.seeds:
                return answer
        if answer is None and error is not None:
            raise error
        return ClaimAnswer("lapsed" if answer is None else answer.state, min(waits_ms, default=None), [])

    async def _ask(self, lease: Lease, max_seeds: int) -> ClaimAnswer:
        """Claims seeds of one partition, or returns what a claim under way there has brought; `late`: nothing yet."""
        under_way = self._under_way.get(lease.partition)
        if under_way is None:
            under_way = asyncio.create_task(self._claim(lease.owner, lease.partition, max_seeds))
            self._under_way[lease.partition] = under_way
            _, late = await asyncio.wait([under_way], timeout=ANSWER_SECONDS)
            if late:
                under_way.add_done_callback(lambda _task: self._wake.set())
        if not under_way.done():
            return ClaimAnswer("late", None, [])
        del self._under_way[lease.partition]
        owner, answer = under_way.result()
        if owner != lease.owner:  # the lease was lost meanwhile, and with it the seeds of this claim
            answer = ClaimAnswer("lapsed", None, [])
        elif answer.state == "quarantined" and self.carrying:  # it came late, and others were claimed meanwhile
            self._hand_back(owner, answer)
            answer = ClaimAnswer("ok", None, [])
        self._state = answer.state
        return answer

    async def _claim(self, owner: str, partition: int, max_seeds: int) -> tuple[str, ClaimAnswer]:
        """Claims seeds of one partition; returns for whom, and the answer."""
        await self._recall(partition, owner)
        self._number += 1
        claim = f"{owner}#{self._number}"
        preferred = self._preference.next_hosts(partition, max_seeds)
        answer = await self._queue.claim(
            partition,
            owner,
            claim,
            max_seeds=max_seeds,
            carrying=self.carrying,
            has_browser=not self._browser.why_no_browser,
            preferred=preferred,
            line_length=self._preference.line_length(partition, preferred),
        )
        self._preference.heard(partition, preferred, answer)
        if answer.state == "ok":
            (self.left_seeds_in.add if answer.leaves_seeds else self.left_seeds_in.discard)(partition)
        self._count(partition, answer)
        return owner, answer

    def _hand_back(self, owner: str, answer: ClaimAnswer) -> None:
        """Releases seeds that nobody has begun to visit, and the turns that they were to run on."""
        for claimed in answer.seeds:
            self._settler.settle(owner, Settlement("release", claimed))
        turns = {(claimed.partition, claimed.seed.host, claimed.turn) for claimed in answer.seeds}
        for partition, host, turn in turns:
            if turn != NO_TURN:
                self._settler.release(owner, partition, TurnRelease(host, turn))

    async def _recall(self, partition: int, owner: str) -> None:
        """Every RECALL_SECONDS, releases seeds that this worker doesn't hold though Redis says so.

        That happens when Redis loses the last writes that it had acknowledged, in a failover or a power cut.
        """
        if time.monotonic() < self._recall_at_s[partition]:
            return
        if recalled := await self._queue.recall(partition, owner):
            logger.warning(log_events.SEEDS_RECALLED, recalled)
        self._recall_at_s[partition] = time.monotonic() + RECALL_SECONDS

    def _count(self, partition: int, answer: ClaimAnswer) -> None:
        self._redis_full.note(("claims", partition), refused=answer.state == "full")
        self._stats.inc_value(f"frontier/claims/{answer.state}")
        if answer.seeds:
            self._stats.inc_value("frontier/claimed", len(answer.seeds))
