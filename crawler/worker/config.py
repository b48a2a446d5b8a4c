"""The worker's settings, read and checked at its start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler import config
from crawler.config.check import redaction_of
from crawler.frontier.frontier_config import FrontierConfig
from crawler.worker.start_list import StartList, start_lists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.base.redaction import Redaction


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a node may be used.

    Attributes:
        memory_percent: ML, from 1; 100: no limit.
        cpu_percent: CL, from 1; 100: no limit.
        first_batch: n, the number of seeds in the first claim.
    """

    memory_percent: float
    cpu_percent: float
    first_batch: int

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads NODE_MEMORY_LIMIT_PERCENT, NODE_CPU_LIMIT_PERCENT and FIRST_BATCH.

        Raises:
            ConfigError: One of them is out of range.
        """
        return cls(
            config.NODE_MEMORY_LIMIT_PERCENT.of(settings),
            config.NODE_CPU_LIMIT_PERCENT.of(settings),
            config.FIRST_BATCH.of(settings),
        )


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """The settings of one worker, each by its own name with its unit; `crawler/config/__init__.py` explains them.

    Attributes:
        frontier: Settings that are the same for all workers and commands of a cluster.
        limits: Limits of the node's load, and FIRST_BATCH.
        known_pages: How many pages are remembered as known to their plans.
        settings: All of them, for filters of a project's own.
        redaction: Hides the secrets of the settings and the environment.
        newest_items_bytes: NEWEST_ITEMS_MEGABYTES in bytes; 0 where Mongo can be asked for the items.
    """

    frontier: FrontierConfig
    settle_batch: int
    settle_wait_s: float
    batch_max: int
    claim_ahead_s: float
    connect_s: float
    egress_doubt_s: float
    heartbeat_file: str
    limits: Limits
    node_weight: float
    known_pages: int
    start_lists: tuple[StartList, ...]
    sites_dir: str
    render_look_again_s: float
    browser_path: str
    failed_answers_bytes: int
    trap_links: int
    settings: Mapping[str, Any]
    redaction: Redaction
    stats_s: int
    newest_items_bytes: int

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: One of them has a value that it can't have.
        """
        frontier = FrontierConfig.from_settings(settings)
        return cls(
            frontier=frontier,
            settle_batch=config.SETTLE_BATCH.of(settings),
            settle_wait_s=config.SETTLE_WAIT_SECONDS.of(settings),
            batch_max=config.BATCH_MAX.of(settings),
            claim_ahead_s=config.CLAIM_AHEAD_SECONDS.of(settings),
            egress_doubt_s=config.EGRESS_DOUBT_SECONDS.of(settings),
            connect_s=config.CONNECT_SECONDS.of(settings),
            heartbeat_file=config.HEARTBEAT_FILE.of(settings),
            limits=Limits.from_settings(settings),
            node_weight=config.NODE_WEIGHT.of(settings),
            known_pages=config.KNOWN_PAGES.of(settings),
            start_lists=start_lists(settings, frontier.keys.prefix),
            sites_dir=config.SITES_DIR.of(settings),
            render_look_again_s=config.RENDER_LOOK_AGAIN_SECONDS.of(settings),
            browser_path=config.BROWSER_PATH.of(settings),
            failed_answers_bytes=int(config.FAILED_ANSWERS_MEGABYTES.of(settings) * 1e6),
            trap_links=config.TRAP_LINKS.of(settings),
            settings=settings,
            redaction=redaction_of(settings),
            stats_s=config.STATS_HOURS.of(settings) * 3_600,
            newest_items_bytes=(
                0
                if "mongo" in config.ITEM_SINKS.of(settings)
                else int(config.NEWEST_ITEMS_MEGABYTES.of(settings) * 1e6)
            ),
        )
