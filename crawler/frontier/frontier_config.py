"""The frontier's settings, on which all processes that share one Redis must agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler import config
from crawler.frontier.keys import Keys
from crawler.servers.redis import database_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """The settings, checked.

    Attributes:
        keys: The names of the keys in Redis, by KEY_PREFIX and REDIS_URL's database.
        partitions: FRONTIER_PARTITIONS.
        session_s: SESSION_SECONDS.
        lock_ms: LOCK_MILLISECONDS: how long the lock of a claimant who died keeps others off.
        max_attempts: MAX_ATTEMPTS: how often a seed is really tried before it fails.
        fail_days: FAIL_DAYS: how long failed seeds are remembered.
        finished_times: FINISHED_TIMES: whether it is kept when each seed was finished.
        dedup_error_rate: DEDUP_ERROR_RATE where DEDUP_MODE is `bloom`; 0: it is `exact`.
        confirm_offers: CONFIRM_OFFERS.
    """

    keys: Keys
    partitions: int = 1
    session_s: float = 15.0
    lock_ms: int = 2_000
    max_attempts: int = 4
    fail_days: int = 30
    finished_times: bool = False
    dedup_error_rate: float = 0.0
    confirm_offers: bool = True

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: A setting has a value that it can't have.
        """
        error_rate = config.DEDUP_ERROR_RATE.of(settings)
        return cls(
            keys=Keys(config.KEY_PREFIX.of(settings), database_of(settings)),
            partitions=config.FRONTIER_PARTITIONS.of(settings),
            session_s=config.SESSION_SECONDS.of(settings),
            lock_ms=config.LOCK_MILLISECONDS.of(settings),
            max_attempts=config.MAX_ATTEMPTS.of(settings),
            fail_days=config.FAIL_DAYS.of(settings),
            finished_times=config.FINISHED_TIMES.of(settings),
            dedup_error_rate=error_rate if config.DEDUP_MODE.of(settings) == "bloom" else 0.0,
            confirm_offers=config.CONFIRM_OFFERS.of(settings),
        )
