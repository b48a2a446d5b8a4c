"""What would be lost, or would wait, if a Redis stopped: the frontier lies nowhere else, so operators should know."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError, ResponseError

from crawler.servers.redis_cluster import each_primary
from crawler.servers.redis_cluster_timeouts import cluster_advice

if TYPE_CHECKING:
    from redis.asyncio import Redis

logger = logging.getLogger(__name__)
APPEND_ONLY = "set appendonly yes (CONFIG SET appendonly yes, and in its configuration file)"
UNSYNCED = (
    "when the machine goes down, what changed in the last half minute may be gone, and finished pages are crawled "
    "again; set appendfsync everysec (CONFIG SET appendfsync everysec, and in its configuration file)"
)


async def advice(redis: Redis) -> tuple[int, str] | None:
    """Returns what an operator should know of how this Redis keeps its data; of a cluster, the worst.

    Returns:
        The message's level, as in `logging`, and the message; None when there is an append-only file that is written
        to disk each second at least, as far as the server tells.
    """
    advices = [await _advice_of_one(redis, where) for where in await each_primary(redis)]
    return max(filter(None, advices), key=lambda level_and_text: level_and_text[0], default=None)


async def _advice_of_one(redis: Redis, where: dict[str, Any]) -> tuple[int, str] | None:
    """Returns the advice for one primary, to which the options `where` send a command."""
    if (await redis.info("persistence", **where)).get("aof_enabled"):
        with contextlib.suppress(ResponseError):  # hosted servers forbid CONFIG; Redis's own default is each second
            written: Any = await redis.config_get("appendfsync", **where)
            if written.get("appendfsync") == "no":
                return logging.INFO, f"the system decides when Redis's append-only file is on the disk: {UNSYNCED}"
        return None
    try:
        answer: Any = await redis.config_get("save", **where)
    except ResponseError:  # hosted servers forbid CONFIG; they are rarely set up without snapshots
        return (
            logging.INFO,
            f"Redis has no append-only file: a crash may lose what its last snapshot lacks; {APPEND_ONLY}",
        )
    points = str(answer.get("save", ""))
    if not points:
        lost = "every seed, plan and ledger is gone, and pages that were finished are crawled again"
        return logging.WARNING, f"Redis keeps nothing on disk: when it stops, {lost}; {APPEND_ONLY}"
    minutes = max(int(seconds) for seconds in points.split()[::2]) / 60
    lost = f"what changed in the last {minutes:.0f} minutes may be gone, and finished pages are crawled again"
    return logging.INFO, f"Redis saves snapshots only (save {points}): after a crash {lost}; {APPEND_ONLY}"


async def log_advice(redis: Redis, session_s: float) -> None:
    """Logs both kinds of advice, if there is any; a Redis that is away, or forbids the question, gets none."""
    with contextlib.suppress(RedisError):
        for text in await cluster_advice(redis, session_s):
            logger.warning("%s", text)
    with contextlib.suppress(RedisError):
        if level_and_text := await advice(redis):
            logger.log(*level_and_text)
