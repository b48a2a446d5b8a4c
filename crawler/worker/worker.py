"""This process's share in the cluster: its connection, session, claims, offers and settles. A Scrapy extension.

Scheduler, delivery, middlewares, pipelines and spiders all reach the frontier through this one object:
`crawler.get_extension(Worker)`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError

from crawler.errors import FrontierError, HeadroomError
from crawler.frontier import durability
from crawler.frontier.preflight import wait_until_ready
from crawler.frontier.queue import ClaimAnswer
from crawler.frontier.session import Session
from crawler.plans.registry import Registry
from crawler.redaction import redacted_address
from crawler.servers.redis import redis_async, redis_sync
from crawler.servers.redis_full import RedisFull
from crawler.tasks import cancel
from crawler.worker import offers
from crawler.worker.borrowing import acquire_turn
from crawler.worker.claims import Claims
from crawler.worker.config import WorkerConfig
from crawler.worker.headroom import Rate, Sampler, batch_size
from crawler.worker.heartbeat import Heartbeat, of_load
from crawler.worker.settler import Settler
from crawler.worker.site_cache import SiteCache
from crawler.worker.wakeups import RECONNECT_SECONDS, listen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redis import Redis
    from scrapy.crawler import Crawler

    from crawler.frontier.settlement import Settlement
    from crawler.models import Frontier, Seed
    from crawler.worker.turn import Turn
    from crawler.worker.visits import Lane, Visit

logger = logging.getLogger(__name__)
BEAT_SECONDS = 1.0  # sample of the load, sign of life for the session


class Worker:
    """One Scrapy process's membership in the cluster.

    Attributes:
        wake: Set when a claim may succeed that couldn't before.
        carrying: Seeds held and not yet settled.
        borrowing: Visits that wait for a turn of another host.
        stopping: No more claims; what isn't begun is handed back.
    """

    def __init__(self, crawler: Crawler, settings: WorkerConfig) -> None:
        self.crawler = crawler
        self.config = settings
        self.keys = settings.frontier.keys
        self.wake = asyncio.Event()
        self.carrying = 0
        self.borrowing = 0
        self.stopping = False
        self.on_lost: list[Callable[[], None]] = []
        self.on_leave: Callable[[str, float], None] = lambda _host, _seconds: None
        self._open = False
        self._down: set[str] = set()
        self._full = RedisFull()
        self._rate = Rate()
        self._workers_here = 1
        self._sampler = Sampler()
        self._tasks: list[asyncio.Task[None]] = []
        self._figures = Heartbeat(self.keys)
        self._seen: dict[str, Any] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the extension; nothing is connected before `open`."""
        return cls(crawler, WorkerConfig.from_settings(crawler.settings))

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Returns the crawler's worker.

        Raises:
            HeadroomError: The extension isn't among EXTENSIONS.
        """
        worker = crawler.get_extension(cls)
        if worker is None:
            raise HeadroomError("setting EXTENSIONS: got none of ours, expected crawler.worker.worker.Worker in it")
        return worker

    # -- Life ---------------------------------------------------------------------------------------------------------

    async def open(self, frontier: Frontier) -> None:
        """Connects, checks the frontier's format, opens the session and listens for wake-ups.

        Raises:
            UnavailableError: Redis can't be reached for CONNECT_SECONDS.
            FrontierError: Redis holds something these settings can't work on.
        """
        self.frontier = frontier
        self.redis = redis_async(self.crawler.settings)
        self.queues = self.config.frontier.queues(self.redis)
        self.queue = self.queues[frontier]
        self.registry = Registry(self.redis, self.keys, self.config.frontier.partitions)
        self.sites = SiteCache(self.registry)
        where, patience_s = redacted_address(str(self.crawler.settings["REDIS_URL"])), self.config.connect_s
        await wait_until_ready(
            self.redis, self.keys, self.config.frontier.partitions, where=where, seconds=patience_s, say=logger.warning
        )
        await durability.log_advice(self.redis)
        loop = asyncio.get_running_loop()
        self.session = Session(
            redis_sync(self.crawler.settings),
            self.keys,
            partitions=self.config.frontier.partitions,
            seconds=self.config.frontier.session_s,
            on_lost=lambda: loop.call_soon_threadsafe(self._lost),  # from its thread
            beside=self._publish,
        )
        await asyncio.to_thread(self.session.open)
        size, wait_s = self.config.settle_batch, self.config.settle_wait_s
        self.settler = Settler(self.queue, size=size, wait_s=wait_s, on_settled=self._settled)
        self._claims = Claims(
            self.queue, self.settler, drain_s=self.config.frontier.session_s, on_answer=self._answered
        )
        self._open = True
        self._tasks = [
            asyncio.create_task(self._beat(), name="beat"),
            asyncio.create_task(
                listen(self.redis, self.keys.wake(frontier), self.wake, self.sites.clear, self.on_leave),
                name="wake-ups",
            ),
        ]
        logger.info("worker %s on frontier %s", self.session.owner, frontier)

    async def close(self) -> None:
        """Tells the frontier all there is to tell, ends the session and disconnects. Without `open`, does nothing."""
        if not self._open:
            return
        await cancel(*self._tasks)
        if not await self.settler.drain(self.config.frontier.session_s):
            logger.warning("Redis is away: what this worker held is claimed by others when its session lapses")
        await self.settler.close()
        with contextlib.suppress(RedisError):
            for partition in range(
                self.config.frontier.partitions
            ):  # takes back what a claim gave whose answer was lost
                await self.queue.settle(partition, self.session.owner, [])
        await asyncio.to_thread(self._leave)
        await self.redis.aclose()

    # -- Claims -------------------------------------------------------------------------------------------------------

    def room(self, stuck: int = 0) -> int:
        """Returns how many seeds may be claimed now, by the headroom and by what is finished in CLAIM_AHEAD_SECONDS.

        `stuck` of those carried are held up by slow hosts: FIRST_BATCH others find room beside them.
        """
        if self.stopping or self._down or not self.session.alive:
            return 0
        by_headroom = batch_size(self.config.limits, self._sampler.load, self.carrying, self._workers_here)
        soon = int(self._rate.per_second() * self.config.claim_ahead_s)
        ahead = max(self.config.limits.first_batch + stuck, soon) - self.carrying
        return max(0, min(by_headroom, ahead, self.config.batch_max))

    async def claim(self, most: int) -> ClaimAnswer:
        """Claims up to `most` seeds.

        Raises:
            redis.exceptions.RedisError: Redis is away; seeds it may have given are reclaimed when this session lapses.
        """
        owner = self.session.owner
        await self._claims.recall(owner)
        answer = await self._claims.claim(owner, most, self.carrying)
        if owner != self.session.owner:  # the session was lost meanwhile, and with it what this claim gave
            return ClaimAnswer("lapsed", None, [])
        self.carrying += len(answer.seeds)
        return answer

    def settle(self, settlement: Settlement) -> None:
        """Ends a claim; the frontier hears of it with the next batch."""
        self.carrying -= 1
        self._rate.count()
        what = f"{settlement.operation}/{settlement.reason}" if settlement.reason else settlement.operation
        self.crawler.stats.inc_value(f"frontier/{what}")
        self.settler.end(settlement.claimed.claim.partition("#")[0], settlement)

    def release_turn(self, turn: Turn) -> None:
        """Gives a turn back."""
        self.settler.release_turn(self.session.owner, turn.partition, turn.release())

    def tell(self, turn: Turn) -> None:
        """Says at once that a turn's host fails, or wants to be left alone: to our lanes, and to other workers."""
        self.on_leave(turn.host, turn.leave_s)
        self.settler.release_turn(self.session.owner, turn.partition, turn.news())

    def borrower(self) -> str:
        """Returns for whom turns are borrowed; raises FrontierError when the session was lost or the worker stops."""
        if self.stopping or not self.session.alive:
            raise FrontierError("no session to borrow a turn on")
        return self.session.owner

    async def acquire_turn(self, host: str, visit: Visit) -> Lane:
        """Waits for a turn of a host that no seed of ours stands for, as borrowing.py says."""
        self.borrowing += 1
        try:
            return await acquire_turn(self.queue, host, visit, self.borrower)
        finally:
            self.borrowing -= 1

    # -- Offers and sinks ---------------------------------------------------------------------------------------------

    async def offer(self, seeds: Iterable[Seed], frontier: Frontier = "content", *, budget: int = 0) -> int:
        """Offers seeds and returns how many were new; waits as long as Redis is away or full.

        Args:
            budget: Of followed links, for each host; see `Queue.offer`.

        Raises:
            UnavailableError: The worker stops meanwhile.
        """
        offered = list(seeds)
        fresh = await offers.offer(self.queues[frontier], offered, self._full, lambda: self.stopping, budget=budget)
        self.crawler.stats.inc_value("frontier/offered", len(offered))
        self.crawler.stats.inc_value("frontier/offered/new", fresh)
        return fresh

    def sink_down(self, name: str) -> None:
        """A sink can't be reached: no more claims until it is back."""
        self._down.add(name)

    def sink_up(self, name: str) -> None:
        """A sink works again."""
        self._down.discard(name)
        self.wake.set()

    # -- Inside -------------------------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        while True:
            self.session.loop_alive()
            try:
                await asyncio.to_thread(self._sampler.sample)
            except OSError as error:
                logger.warning("load unknown: %s", error)
            self._seen = self._look()
            await asyncio.sleep(BEAT_SECONDS)

    def _answered(self, partition: int, answer: ClaimAnswer) -> None:
        self._full.note(partition, refused=answer.state == "full")
        self.crawler.stats.inc_value(f"frontier/claims/{answer.state}")
        if answer.seeds:
            self.crawler.stats.inc_value("frontier/claimed", len(answer.seeds))

    def _settled(self, accepted: int, refused: int) -> None:
        self.crawler.stats.inc_value("frontier/settled", accepted)
        if refused:
            self.crawler.stats.inc_value("frontier/refused", refused)
            logger.warning("%d settlements were refused: the seeds had gone to others", refused)

    def _lost(self) -> None:
        logger.warning("session of %s was lost; its seeds go to others", self.session.owner)
        self.crawler.stats.inc_value("frontier/sessions_lost")
        self.settler.forget(self.session.owner)
        self.queue.forget(self.session.owner)
        for hook in self.on_lost:
            hook()
        self.carrying = 0
        self._tasks.append(asyncio.create_task(self._reopen(), name="reopen"))

    def _leave(self) -> None:
        with contextlib.suppress(RedisError), redis_sync(self.crawler.settings) as redis:
            self._figures.withdraw(redis, self.session.owner)
        self.session.close()

    def _look(self) -> dict[str, Any]:
        return {
            "frontier": self.frontier,
            "carrying": self.carrying,
            "pages_per_minute": round(self._rate.per_second() * 60),
            "room": self.room(),
            "sinks_down": sorted(self._down),
            "redis_full": self._full.now,
            **of_load(self._sampler.load),
        }

    def _publish(self, redis: Redis, now_s: int) -> None:
        self._workers_here = self._figures.publish(redis, self.session.owner, self._seen, now_s)

    async def _reopen(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self.session.reopen)
            except RedisError:
                await asyncio.sleep(RECONNECT_SECONDS)
            else:
                self.wake.set()
                return
