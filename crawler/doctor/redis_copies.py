"""Copies of Redis, for the day that its machine is lost: replicas, and a cluster's time until one takes over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.doctor.finding import Finding, advice, ok, stop, worst
from crawler.servers.redis_cluster import each_primary, is_cluster
from crawler.servers.redis_cluster_timeouts import cluster_advice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawler.doctor.redis_server import ExaminedRedis

# A replica acknowledges what it has every second; one that is silent for so long is cut off, or can't keep up.
MAX_LAG_SECONDS = 5
MAX_BEHIND_BYTES = 10_000_000  # how far a replica may be behind: some seconds of a busy crawl's writes
LOST = "what it lacks is lost by a failover; see its log, and the network between the two"


async def replicas(examined: ExaminedRedis) -> Finding:
    """Looks at whether replicas are in step: what they lack is lost by a failover."""
    infos = [await examined.redis.info("replication", **primary) for primary in await each_primary(examined.redis)]
    if any(info.get("role") != "master" for info in infos):
        return stop(f"{examined.where} is a replica and refuses writes: name its primary, or set REDIS_SENTINEL")
    findings = [finding for info in infos for finding in _out_of_step(info, needs_one=is_cluster(examined.redis))]
    number = sum(info.get("connected_slaves", 0) for info in infos)
    if not number and not is_cluster(examined.redis):
        return advice(
            "none: the crawl waits while its machine is away, and when its disk is lost, so is the frontier; give it "
            "one, with sentinels (REDIS_SENTINEL) or as a cluster"
        )
    return worst(findings, f"{number} in step")


def _out_of_step(info: Mapping[str, Any], *, needs_one: bool) -> Iterator[Finding]:
    """Yields what is wrong with the replicas of one primary."""
    if needs_one and not info.get("connected_slaves"):
        yield advice("a primary of the cluster has no replica: while it is down, its partitions wait; give it one")
    written = info.get("master_repl_offset", 0)
    for number in range(info.get("connected_slaves", 0)):
        replica = info.get(f"slave{number}", {})
        lag_s, behind = replica.get("lag", 0), written - replica.get("offset", written)
        if replica.get("state") != "online":
            yield advice(f"a replica is not in step yet ({replica.get('state')}): {LOST}")
        elif lag_s > MAX_LAG_SECONDS or behind > MAX_BEHIND_BYTES:
            yield advice(f"a replica is {lag_s} s and {behind:,} bytes behind: {LOST}")


async def takeover(examined: ExaminedRedis) -> Finding:
    """Looks at what a cluster does while a primary is away."""
    if not is_cluster(examined.redis):
        return ok("no cluster")
    texts = await cluster_advice(examined.redis, examined.config.session_s)
    return advice("; ".join(texts)) if texts else ok("the others go on while a primary is away, and soon all do")
