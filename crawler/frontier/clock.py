"""The time by which everything in a partition is written and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier import scripts

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.frontier.keys import PartitionKeys


async def now_ms(redis: Redis, keys: PartitionKeys) -> int:
    """Returns the time by a partition's clock, which lua/lib/clock.lua tells from Redis's, in ms since the epoch."""
    return int(await scripts.run(redis, "clock", keys.script_keys("content"), []))
