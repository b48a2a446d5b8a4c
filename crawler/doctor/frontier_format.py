"""The frontier that lies in Redis: is it one that this version and these settings can work on?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base.errors import FrontierError
from crawler.doctor.finding import Finding, ok, stop
from crawler.frontier.keys import SCHEMA_VERSION
from crawler.frontier.preflight import begin_or_check_frontier

if TYPE_CHECKING:
    from crawler.doctor.redis_server import ExaminedRedis


async def schema(examined: ExaminedRedis) -> Finding:
    """Looks at the frontier's format and its number of partitions."""
    config = examined.config
    try:
        is_there = await begin_or_check_frontier(examined.redis, config.keys, config.partitions, begin=False)
    except FrontierError as error:
        return stop(str(error))
    if not is_there:
        return ok(f"none with KEY_PREFIX {config.keys.prefix} yet; the first worker or plan begins it")
    return ok(f"format {SCHEMA_VERSION}, FRONTIER_PARTITIONS {config.partitions}, KEY_PREFIX {config.keys.prefix}")
