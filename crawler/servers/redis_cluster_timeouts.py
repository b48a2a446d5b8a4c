"""Whether a Redis Cluster is set up so that one primary that is away costs the others nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.servers.redis_cluster import each_primary, is_cluster

if TYPE_CHECKING:
    from redis.asyncio import Redis

# A primary stands still for up to some 100 ms as it forks to rewrite its append-only file, longer with much memory.
NODE_TIMEOUT_MIN_SECONDS = 1.0
# The cluster-node-timeout that is wanted: a third of a session's 15 s leaves time for a failover.
NODE_TIMEOUT_SECONDS = 5


async def cluster_advice(redis: Redis, session_s: float) -> list[str]:
    """Returns what keeps one primary of a Redis Cluster that is away from costing the others nothing.

    Raises:
        redis.exceptions.RedisError: Redis is away, or forbids CONFIG.
    """
    advices: list[str] = []
    for where in await each_primary(redis) if is_cluster(redis) else []:
        configured: Any = await redis.config_get("cluster-*", **where)
        timeout_s = int(configured.get("cluster-node-timeout", 0)) / 1000
        if 0 < timeout_s < NODE_TIMEOUT_MIN_SECONDS:
            advices.append(
                f"Redis Cluster takes a primary for dead after {timeout_s:g} s: a pause as short begins a failover, "
                f"which loses what no replica has yet; set cluster-node-timeout to {1_000 * NODE_TIMEOUT_SECONDS} ms"
            )
        if timeout_s >= session_s:
            advices.append(
                f"Redis Cluster waits {timeout_s:g} s for a primary, a session lasts {session_s:g} s: sessions lapse "
                "before a replica takes its place; set cluster-node-timeout below SESSION_SECONDS"
            )
        if configured.get("cluster-require-full-coverage") == "yes":
            advices.append(
                "Redis Cluster refuses everything while one primary is away: set cluster-require-full-coverage no"
            )
        if advices:
            break
    return advices
