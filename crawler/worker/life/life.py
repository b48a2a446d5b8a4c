"""A worker's life: how it joins the cluster and leaves it, what its node can carry, and what operators want of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from crawler.base import log_events
from crawler.base.errors import HeadroomError
from crawler.base.tasks import TaskDied
from crawler.frontier import durability, preflight, scripts
from crawler.frontier.node_orders import NodeOrders
from crawler.frontier.owners import owner_node
from crawler.frontier.session import Session
from crawler.worker.life.egress import Egress
from crawler.worker.life.headroom import NodeHeadroom
from crawler.worker.life.heartbeat_file import HeartbeatFile
from crawler.worker.life.orders import Orders
from crawler.worker.life.second_opinions import SecondOpinions
from crawler.worker.life.service_manager import ServiceManager
from crawler.worker.life.wakeups import WakeUps

if TYPE_CHECKING:
    from redis import Redis
    from redis.asyncio import Redis as AsyncRedis

    from crawler.base.events import Events
    from crawler.base.models import Frontier
    from crawler.worker.config import WorkerConfig
    from crawler.worker.duties import Duties

logger = logging.getLogger(__name__)
BEAT_SECONDS = 1.0  # how often the worker gives a sign of life
SAMPLE_SECONDS = 1.0  # how often the load is sampled
LOOK_SECONDS = 1.0  # how often it is looked at whether other workers should hear that hosts answer this one


class Life:
    """The session and the load of one worker.

    Args:
        session_redis: For the session's thread, without `decode_responses`.

    Attributes:
        wake: Set when a claim may succeed that couldn't before.
        stopping: Set when the worker stops: no more is claimed, and visits not started are released.
        death: The first background task that died, for which the worker ends; None: all are well.
        session: Its leases on what it holds.
        headroom: How many more seeds its node can carry.
        egress: Whether it reaches the web.
        second_opinions: Whether what its node alone hears of a host is the host's fault.
        orders: What operators want of its node.
        wakeups: What it hears of other workers and of commands.
    """

    def __init__(
        self,
        config: WorkerConfig,
        frontier: Frontier,
        redis: AsyncRedis,
        session_redis: Redis,
        *,
        events: Events,
        duties: Duties,
    ) -> None:
        keys, partitions, session_s = config.frontier.keys, config.frontier.partitions, config.frontier.session_s
        self._config = config
        self._redis = redis
        self.wake = asyncio.Event()
        self.stopping = asyncio.Event()
        self.death: TaskDied | None = None
        self.session = Session(session_redis, keys, partitions=partitions, seconds=session_s, events=events)
        self.headroom = NodeHeadroom(config.limits, batch_max=config.batch_max, claim_ahead_s=config.claim_ahead_s)
        self.egress = Egress(redis, keys.reached, events, doubt_s=config.egress_doubt_s)
        self.second_opinions = SecondOpinions(
            redis, keys, partitions, node=owner_node(self.session.name), doubt_s=config.egress_doubt_s
        )
        self.wakeups = WakeUps(redis, keys.wake(frontier), self.wake, events)
        self.orders = Orders(
            NodeOrders(redis, keys),
            owner_node(self.session.name),
            headroom=self.headroom,
            wake=self.wake,
            events=events,
        )
        self._heartbeat_file = HeartbeatFile(config.heartbeat_file) if config.heartbeat_file else None
        self._service_manager = ServiceManager.from_environment()
        events.subscribe(TaskDied, self._task_died)
        duties.add(BEAT_SECONDS, self._beat)
        duties.add(SAMPLE_SECONDS, self.headroom.sample)
        duties.add(LOOK_SECONDS, self.egress.share)

    async def join(self, redis_address: str) -> None:
        """Waits for Redis, checks the frontier's format and opens the session.

        Args:
            redis_address: Without its password, for messages.

        Raises:
            UnavailableError: Redis couldn't be reached for CONNECT_SECONDS.
            FrontierError: Redis holds a frontier that these settings can't work on.
        """
        frontier = self._config.frontier
        await preflight.wait_until_ready(
            self._redis,
            frontier.keys,
            frontier.partitions,
            where=redis_address,
            seconds=self._config.connect_s,
            say=logger.warning,
            then=self._open_session,
            has_filters=frontier.dedup_error_rate > 0,
        )

    async def _open_session(self) -> None:
        """Opens the session.

        Raises:
            redis.exceptions.RedisError: Redis can't be reached.
            FrontierError: As `join`.
        """
        await durability.log_advice(self._redis, self._config.frontier.session_s)
        scripts.read_ahead(self._config.frontier.dedup_error_rate)
        opening = asyncio.ensure_future(asyncio.to_thread(self.session.open, asyncio.get_running_loop()))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            while not opening.done():  # a thread can't be cancelled, however often: what it opens is closed after it
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([opening])
            raise

    def announce_stop(self) -> None:
        """Tells the service manager that the worker is about to leave."""
        if self._service_manager:
            self._service_manager.stopping()

    async def leave(self) -> None:
        """Ends the session, and all signs of life; to be called also if `join` has failed."""
        await asyncio.to_thread(self.session.close)
        if self._heartbeat_file:
            self._heartbeat_file.remove()
        if self._service_manager:
            self._service_manager.close()

    def _beat(self) -> None:
        """Tells those who would start a dead worker again. One without Redis is alive: a new one would do no better."""
        if not self.session.is_looked_after:
            return
        if self._heartbeat_file:
            self._heartbeat_file.beat(is_ready=self.session.alive)
        if self._service_manager:
            self._service_manager.beat(is_ready=self.session.alive)

    def _task_died(self, event: TaskDied) -> None:
        """Says why the worker ends, which the scheduler sees to: without the task it would look idle for ever."""
        if isinstance(event.error, HeadroomError):
            logger.critical(log_events.WORKER_FAILED, event.error)
        else:
            logger.critical(log_events.WORKER_TASK_DIED, event.name, exc_info=event.error)
        self.death = self.death or event
        self.stopping.set()
