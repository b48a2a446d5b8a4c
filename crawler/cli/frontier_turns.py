"""Turns of the frontier's for a command: what it asks hosts goes by their turns, as all that workers ask does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.base import tasks
from crawler.base.errors import UnavailableError
from crawler.base.events import Events
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.preflight import begin_or_check_frontier
from crawler.frontier.queue import queues_of
from crawler.frontier.session import Session
from crawler.frontier.settlement import TurnRelease
from crawler.servers.redis import redis_async, redis_sync

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from crawler.base.tasks import TaskDied
    from crawler.cli.local_turns import LocalTurns
    from crawler.frontier.queue import Queue
    from crawler.frontier.turn_answers import TurnAnswer, TurnStart

LOOK_SECONDS = 3.0  # how long a Redis may take to answer; a command works without one as well
NO_SITE = ""  # the site of a command's file may not be the crawl's, whose politeness it mustn't change


class FrontierTurns:
    """Gives turns of hosts that the frontier and this command's own file both allow.

    It is a `crawler.worker.turns.turns.TurnKeeper`. Its session holds turns alone.

    Args:
        own: The turns by the command's own delay.
    """

    def __init__(self, own: LocalTurns, queue: Queue, session: Session) -> None:
        self._own, self._queue, self._session = own, queue, session
        self._watch = tasks.start(session.watch(), name="session watch", died=self._ignore)
        self._releases: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(cls, settings: Mapping[str, Any], own: LocalTurns) -> FrontierTurns | None:
        """Returns the turns of the frontier; None: there is no Redis, or no frontier in it.

        Raises:
            ConfigError: A setting has a value that it can't have.
            FrontierError: The frontier is of another format or number of partitions.
        """
        config = FrontierConfig.from_settings(settings)
        redis = redis_async(settings)
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                has_filters = config.dedup_error_rate > 0
                if not await begin_or_check_frontier(
                    redis, config.keys, config.partitions, begin=False, has_filters=has_filters
                ):
                    await redis.aclose()
                    return None
            session = Session(
                redis_sync(settings, timeout_s=LOOK_SECONDS),
                config.keys,
                partitions=config.partitions,
                seconds=config.session_s,
                events=Events(),
                is_command=True,
            )
            await asyncio.to_thread(session.open, asyncio.get_running_loop())
        except (RedisError, OSError, TimeoutError):
            await redis.aclose()
            return None
        except BaseException:
            await redis.aclose()
            raise
        return cls(own, queues_of(config, redis)["content"], session)

    @property
    def owners(self) -> list[str]:
        """The owner in each partition."""
        return [lease.owner for lease in self._session.leases]

    async def close(self) -> None:
        """Releases all turns, and disconnects."""
        await asyncio.gather(*self._releases, return_exceptions=True)
        await tasks.cancel(self._watch)
        await asyncio.to_thread(self._session.close)
        await self._queue.redis.aclose()

    async def acquire_turn(self, host: str, site: str, owner: str) -> TurnAnswer:
        """As `crawler.frontier.queue.Queue.acquire_turn`.

        Raises:
            UnavailableError: The session was lost, as while the machine slept.
        """
        own = await self._own.acquire_turn(host, site, owner)
        if own.state != "acquired":
            return own
        answer = None
        try:
            answer = await self._queue.acquire_turn(host, NO_SITE, owner)
        finally:
            if answer is None or answer.state != "acquired":
                self._own.release(owner, 0, TurnRelease(host, own.token))
        if answer.state == "lapsed":
            raise UnavailableError("this command's session in Redis was lost, and with it the hosts' turns")
        if answer.state == "acquired":
            return answer._replace(delay_ms=max(own.delay_ms, answer.delay_ms))
        return answer

    async def acquire_address(self, name: str, owner: str, concurrency: int, delay_ms: int) -> TurnAnswer:
        """As `crawler.frontier.queue.Queue.acquire_address`."""
        return await self._queue.acquire_address(name, owner, concurrency, delay_ms)

    async def turn_start(self, host: str, crawl_delay_ms: int, owner: str, token: int) -> TurnStart:
        """As `crawler.frontier.queue.Queue.turn_start`."""
        own = await self._own.turn_start(host, crawl_delay_ms, owner, token)
        start = await self._queue.turn_start(host, crawl_delay_ms, owner, token)
        return start._replace(delay_ms=max(own.delay_ms, start.delay_ms))

    def release(self, owner: str, partition: int, turn: TurnRelease) -> None:
        """Takes a turn back; the frontier is told soon, or frees it when the session ends."""
        if not turn.host.startswith("@"):
            self._own.release(owner, partition, turn)
        task = asyncio.ensure_future(self._queue.settle(partition, owner, (), [turn]))
        self._releases.add(task)
        task.add_done_callback(self._releases.discard)

    def _ignore(self, event: TaskDied) -> None:
        """Does nothing: without its watch the session lapses, and the next turn isn't given."""
