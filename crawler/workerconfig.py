"""The worker's settings, checked: what every process of a cluster must agree on with Redis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler import config
from crawler.frontier.ledger import FRONTIERS
from crawler.frontier.queue import Queue
from crawler.headroom import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys
    from crawler.models import Frontier


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """The worker's settings, checked."""

    prefix: str
    partitions: int
    session_s: float
    lock_ms: int
    max_attempts: int
    fail_days: int
    settle_batch: int
    settle_wait_s: float
    batch_max: int
    claim_ahead_s: float
    connect_s: float
    limits: Limits

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: One of them has a value that it can't have.
        """
        return cls(
            prefix=config.word(settings, "KEY_PREFIX"),
            partitions=config.whole(settings, "FRONTIER_PARTITIONS", 1, 4_096),
            session_s=config.number(settings, "SESSION_SECONDS", 1, 3_600),
            lock_ms=config.whole(settings, "LOCK_MILLISECONDS", 50, 60_000),
            max_attempts=config.whole(settings, "MAX_ATTEMPTS", 1, 100),
            fail_days=config.whole(settings, "FAIL_DAYS", 1, 36_500),
            settle_batch=config.whole(settings, "SETTLE_BATCH", 1, 1_000),
            settle_wait_s=config.number(settings, "SETTLE_WAIT_SECONDS", 0, 10),
            batch_max=config.whole(settings, "BATCH_MAX", 1, 1_000),
            claim_ahead_s=config.number(settings, "CLAIM_AHEAD_SECONDS", 1, 3_600),
            connect_s=config.number(settings, "CONNECT_SECONDS", 0, 3_600),
            limits=Limits.from_settings(settings),
        )

    def queues(self, redis: Redis, keys: Keys) -> dict[Frontier, Queue]:
        """Returns both frontiers."""
        return {
            name: Queue(
                redis,
                keys,
                name,
                partitions=self.partitions,
                lock_ms=self.lock_ms,
                max_attempts=self.max_attempts,
                fail_days=self.fail_days,
            )
            for name in FRONTIERS
        }
