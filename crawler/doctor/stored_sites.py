"""The sites that plans have brought: what topics their items go to, and which hosts are asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.frontier.frontier_config import FrontierConfig
from crawler.plans.registry import Registry
from crawler.servers.redis import redis_async

if TYPE_CHECKING:
    from collections.abc import Mapping

READ_SECONDS = 2.0  # how long reading may take: Redis answers within ms, or its checks have said that it doesn't


async def stored_sites(settings: Mapping[str, Any]) -> dict[str, str] | None:
    """Returns the `https://HOST` of each site that is stored in Redis, by name; empty for one on no host of its own.

    None: Redis can't be read; what is wrong with it, checks of its own say.
    """
    frontier = FrontierConfig.from_settings(settings)
    redis = redis_async(settings)
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await Registry(redis, frontier.keys, frontier.partitions).site_origins()
    except (RedisError, OSError):
        return None
    finally:
        await redis.aclose()
