"""What a Redis would lose if it stopped: the frontier lies nowhere else, so operators should know."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError, ResponseError

if TYPE_CHECKING:
    from redis.asyncio import Redis

logger = logging.getLogger(__name__)
REMEDY = "set appendonly yes (CONFIG SET appendonly yes, and in its configuration file)"


async def advice(redis: Redis) -> tuple[int, str] | None:
    """Returns what an operator should know of how this Redis keeps its data.

    Returns:
        The message's level, as in `logging`, and the message; None when there is an append-only file, with which a
        crash loses a second at most.

    Raises:
        redis.exceptions.RedisError: Redis is away.
    """
    if (await redis.info("persistence")).get("aof_enabled"):
        return None
    try:
        answer: Any = await redis.config_get("save")
    except ResponseError:  # hosted servers forbid CONFIG; they are rarely set up without snapshots
        return logging.INFO, f"Redis has no append-only file: a crash may lose what its last snapshot lacks; {REMEDY}"
    points = str(answer.get("save", ""))
    if not points:
        lost = "every seed, plan and ledger is gone, and pages that were finished are crawled again"
        return logging.WARNING, f"Redis keeps nothing on disk: when it stops, {lost}; {REMEDY}"
    minutes = max(int(seconds) for seconds in points.split()[::2]) / 60
    lost = f"what changed in the last {minutes:.0f} minutes may be gone, and finished pages are crawled again"
    return logging.INFO, f"Redis saves snapshots only (save {points}): after a crash {lost}; {REMEDY}"


async def log_advice(redis: Redis) -> None:
    """Logs the advice, if there is any. A Redis that is away just now is no reason to stop, so it is passed over."""
    with contextlib.suppress(RedisError):
        if found := await advice(redis):
            logger.log(*found)
