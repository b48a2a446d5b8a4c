"""The worker's settings, read and checked at its start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler import config
from crawler.frontier.config import FrontierConfig
from crawler.worker.headroom import Limits
from crawler.worker.start_entries import StartList, start_lists

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """The settings of one worker; `crawler/settings.py` explains them.

    Attributes:
        frontier: Settings that are the same for all workers and commands of a cluster.
        settle_batch: SETTLE_BATCH.
        settle_wait_s: SETTLE_WAIT_SECONDS.
        batch_max: BATCH_MAX.
        claim_ahead_s: CLAIM_AHEAD_SECONDS.
        connect_s: CONNECT_SECONDS.
        egress_doubt_s: EGRESS_DOUBT_SECONDS.
        limits: Limits of the node's load, and FIRST_BATCH.
        start_lists: START_LISTS.
        sites_dir: SITES_DIR.
    """

    frontier: FrontierConfig
    settle_batch: int
    settle_wait_s: float
    batch_max: int
    claim_ahead_s: float
    connect_s: float
    egress_doubt_s: float
    limits: Limits
    start_lists: tuple[StartList, ...]
    sites_dir: str

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: One of them has a value that it can't have.
        """
        frontier = FrontierConfig.from_settings(settings)
        return cls(
            frontier=frontier,
            settle_batch=config.whole(settings, "SETTLE_BATCH", 1, 1_000),
            settle_wait_s=config.number(settings, "SETTLE_WAIT_SECONDS", 0, 10),
            batch_max=config.whole(settings, "BATCH_MAX", 1, 1_000),
            claim_ahead_s=config.number(settings, "CLAIM_AHEAD_SECONDS", 1, 3_600),
            egress_doubt_s=config.number(settings, "EGRESS_DOUBT_SECONDS", 0, 86_400),
            connect_s=config.number(settings, "CONNECT_SECONDS", 0, 3_600),
            limits=Limits.from_settings(settings),
            start_lists=start_lists(settings, frontier.keys.prefix),
            sites_dir=str(settings.get("SITES_DIR") or ""),
        )
