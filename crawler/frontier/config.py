"""The frontier's settings, on which all processes that share one Redis must agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler import config
from crawler.frontier.keys import Keys
from crawler.frontier.ledger import FRONTIERS
from crawler.frontier.queue import Queue
from crawler.servers.redis import database_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    from crawler.base.models import Frontier


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """The settings, checked.

    Attributes:
        keys: The names of the keys in Redis, by KEY_PREFIX and REDIS_URL's database.
        partitions: FRONTIER_PARTITIONS.
        session_s: SESSION_SECONDS.
        lock_ms: LOCK_MILLISECONDS.
        max_attempts: MAX_ATTEMPTS.
        fail_days: FAIL_DAYS.
        confirm_offers: CONFIRM_OFFERS.
    """

    keys: Keys
    partitions: int
    session_s: float
    lock_ms: int
    max_attempts: int
    fail_days: int
    confirm_offers: bool

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: A setting has a value that it can't have.
        """
        return cls(
            keys=Keys(config.KEY_PREFIX.of(settings), database_of(settings)),
            partitions=config.FRONTIER_PARTITIONS.of(settings),
            session_s=config.SESSION_SECONDS.of(settings),
            lock_ms=config.LOCK_MILLISECONDS.of(settings),
            max_attempts=config.MAX_ATTEMPTS.of(settings),
            fail_days=config.FAIL_DAYS.of(settings),
            confirm_offers=config.CONFIRM_OFFERS.of(settings),
        )

    def queues(self, redis: Redis) -> dict[Frontier, Queue]:
        """Returns the queue of each frontier."""
        return {
            name: Queue(
                redis,
                self.keys,
                name,
                partitions=self.partitions,
                lock_ms=self.lock_ms,
                max_attempts=self.max_attempts,
                fail_days=self.fail_days,
                confirm_offers=self.confirm_offers,
            )
            for name in FRONTIERS
        }
