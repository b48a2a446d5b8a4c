"""Redis: does it answer, will it do, may this client work on it, and does it keep what it is given?"""

from __future__ import annotations

import contextlib
import logging
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoPermissionError, ReadOnlyError, RedisError, ResponseError

from crawler.base.errors import FrontierError, UnavailableError
from crawler.doctor.finding import Finding, advice, loss, ok, stop, worst
from crawler.frontier.durability import advice as durability_advice
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import SCHEMA_VERSION
from crawler.frontier.preflight import begin_or_check_frontier, refuse_eviction, server_version
from crawler.frontier.rights import missing_rights
from crawler.frontier.session import RENEWALS_PER_SESSION
from crawler.servers.redis import redis_address, redis_async
from crawler.servers.redis_cluster import each_primary
from crawler.servers.redis_full import FULL_REMEDY
from crawler.servers.redis_refusal import refusal, said_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from redis.asyncio import Redis

MEGABYTE = 1_000_000
NEARLY_FULL = 0.8  # the share of maxmemory from which on it is time to act, before claims and offers wait
# How a server answers PING that isn't away: its disk is full or broken, or its primary is away.
BROKEN = ("MISCONF ", "Link with MASTER is down")
MAY_WRITE = "#!lua flags=allow-oom\nreturn 0"
PINGS = 20  # how many pings are sent: enough for a median; on one network all take a few ms
PINGS_SECONDS = 1.0  # how long all of them may take, where each takes long
# A median on one network is under 1 ms. Each page waits for two or three calls, and each batch of claims for one.
MAX_MEDIAN_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class ExaminedRedis:
    """A Redis that answers.

    Attributes:
        config: What all processes that share it must agree on.
        where: Its address, without credentials.
    """

    redis: Redis
    config: FrontierConfig
    where: str


@contextlib.asynccontextmanager
async def open_redis(settings: Mapping[str, Any]) -> AsyncIterator[ExaminedRedis]:
    """Connects to Redis; to every primary of a cluster."""
    frontier = FrontierConfig.from_settings(settings)
    where = f"Redis at {redis_address(settings)}"
    redis = redis_async(settings)
    try:
        try:
            for primary in await each_primary(redis):
                await _ping(redis, primary)
        except (RedisError, OSError) as error:
            raise UnavailableError(f"{where}: {said_of(error)}") from error
        yield ExaminedRedis(redis, frontier, where)
    finally:
        await redis.aclose()


async def _ping(redis: Redis, primary: Mapping[str, Any]) -> None:
    """Returns if a server answers, also one that doesn't like the question: other checks say what is wrong with it."""
    try:
        await redis.ping(**primary)
    except NoPermissionError as error:
        if "'ping'" not in str(error):
            raise
    except ResponseError as error:
        if not str(error).startswith(BROKEN):
            raise


async def version(examined: ExaminedRedis) -> Finding:
    """Looks at what kind of server it is."""
    try:
        return ok(f"{await server_version(examined.redis)} ({examined.where})")
    except FrontierError as error:
        return stop(str(error))


async def writes(examined: ExaminedRedis) -> Finding:
    """Looks at whether it takes writes, by a script that may write and doesn't: Redis refuses that likewise.

    So does one that fails to save, is a replica, or has fewer replicas in step than it is told to have.
    """
    for primary in await each_primary(examined.redis):
        try:
            redis: Any = examined.redis
            await redis.execute_command("EVAL", MAY_WRITE, 0, **primary)
        except (ResponseError, ReadOnlyError) as error:
            if refusal(error):
                raise
            return stop(f"it refuses writes, so claims and offers wait: {str(error).rstrip('.')}")
    return ok("it takes writes")


async def rights(examined: ExaminedRedis) -> Finding:
    """Looks at whether the user has all rights that a crawl needs, by asking for each."""
    keys = examined.config.keys
    missing = await missing_rights(examined.redis, keys)
    if missing:
        rule = " ".join((f"~{keys.prefix}:* &{keys.prefix}:*", *(f"+{name}" for name in missing)))
        return stop(f"its user lacks rights, so no worker starts: ACL SETUSER with the user's name and {rule}")
    return ok("its user has every right that a crawl needs")


async def eviction(examined: ExaminedRedis) -> Finding:
    """Looks at what it does when it is full: a key that it evicts is a lost seed."""
    try:
        await refuse_eviction(examined.redis)
    except FrontierError as error:
        return loss(f"{error}; each evicted key is a lost seed, or a forgotten visit")
    return ok("noeviction: when it is full it refuses writes")


async def durability(examined: ExaminedRedis) -> Finding:
    """Looks at what is left of the frontier after a crash."""
    for primary in await each_primary(examined.redis):
        info = await examined.redis.info("persistence", **primary)
        if "err" in (info.get("aof_last_write_status"), info.get("rdb_last_bgsave_status")):
            return loss(
                "it fails to write to its disk, so what changed lately is in its memory alone: "
                "make room on that disk, and see its log"
            )
    advised = await durability_advice(examined.redis)
    if advised is None:
        return ok("it has an append-only file: a crash loses a second at most")
    level, text = advised
    return loss(text) if level >= logging.WARNING else advice(text)


async def memory(examined: ExaminedRedis) -> Finding:
    """Looks at how much room is left."""
    infos = [await examined.redis.info("memory", **primary) for primary in await each_primary(examined.redis)]
    used = sum(info["used_memory"] for info in infos) / MEGABYTE
    return worst(map(_memory_of_one, infos), f"{used:,.0f} MB in use, well below its maxmemory")


def _memory_of_one(info: Mapping[str, Any]) -> Finding:
    used, limit = info["used_memory"], info.get("maxmemory") or 0
    usage = f"{used / MEGABYTE:,.0f} MB in use, maxmemory is {limit / MEGABYTE:,.0f} MB"
    if not limit:
        machine = f" of {total / MEGABYTE:,.0f} MB" if (total := info.get("total_system_memory")) else ""
        return advice(
            f"it has no maxmemory: when the memory of its machine{machine} is full, the system kills it; set "
            "maxmemory to two thirds of that, since a rewrite of its append-only file needs room, too"
        )
    if used >= limit:
        return stop(f"it is full ({usage}): claims and offers wait; {FULL_REMEDY}")
    if used >= NEARLY_FULL * limit:
        return advice(f"it is nearly full ({usage}): at its limit claims and offers wait; {FULL_REMEDY}")
    return ok(usage)


async def frontier(examined: ExaminedRedis) -> Finding:
    """Looks at the frontier's format and its number of partitions."""
    config = examined.config
    try:
        is_there = await begin_or_check_frontier(
            examined.redis, config.keys, config.partitions, begin=False, has_filters=config.dedup_error_rate > 0
        )
    except FrontierError as error:
        return stop(str(error))
    if not is_there:
        return ok(f"none with KEY_PREFIX {config.keys.prefix} yet; the first worker or plan begins it")
    return ok(f"format {SCHEMA_VERSION}, FRONTIER_PARTITIONS {config.partitions}, KEY_PREFIX {config.keys.prefix}")


async def latency(examined: ExaminedRedis) -> Finding:
    """Looks at how long it takes to answer."""
    taken_s: list[float] = []
    began = time.monotonic()
    primaries = await each_primary(examined.redis)
    for _ in range(PINGS):
        for primary in primaries:
            asked = time.monotonic()
            await examined.redis.ping(**primary)
            taken_s.append(time.monotonic() - asked)
        if time.monotonic() - began > PINGS_SECONDS:
            break
    return judge_latency(taken_s, examined.config.session_s)


def judge_latency(taken_s: Sequence[float], session_s: float) -> Finding:
    """Returns what the times of some pings mean."""
    median_s, slowest_s = statistics.median(taken_s), max(taken_s)
    times = f"{len(taken_s)} pings took {1_000 * median_s:.1f} ms in the median, the slowest {1_000 * slowest_s:.1f} ms"
    if slowest_s >= session_s / RENEWALS_PER_SESSION:
        return advice(
            f"{times}: that is a renewal of a session ({session_s:g} s) late, and workers that renew too late lose "
            "their seeds to others; see what holds Redis or the network up, or raise SESSION_SECONDS"
        )
    if median_s > MAX_MEDIAN_SECONDS:
        return advice(f"{times}: every page and claim waits for that; let Redis be on one network with the workers")
    return ok(times)
