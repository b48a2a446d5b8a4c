"""Checks, before anything is claimed or offered, that a Redis can hold the frontier and lets this client in."""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base.errors import AccessError, FrontierError, UnavailableError, shown
from crawler.frontier.keys import SCHEMA_VERSION, Keys, as_text
from crawler.frontier.rights import missing_rights
from crawler.frontier.schema import of_its_kind, refuse_other
from crawler.servers.redis_cluster import each_primary, is_cluster
from crawler.servers.redis_refusal import RIGHTS, refusal, said_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redis.asyncio import Redis

MIN_REDIS = (7, 0)  # the oldest version with ZADD LT, ZRANGE BYSCORE, and TIME before writes in scripts
WITH_FILTERS = "bloom"  # `dedup` of a frontier whose finished pages are in filters, too
PAUSE_FIRST_SECONDS = 0.2  # the pause between the first two tries to reach Redis; it doubles with each further one
PAUSE_MAX_SECONDS = 5.0


async def prepare(
    redis: Redis,
    keys: Keys,
    partitions: int,
    *,
    begin: bool = True,
    any_format: bool = False,
    has_filters: bool = False,
) -> None:
    """Checks that this Redis can hold the frontier.

    Args:
        begin: Whether to write down the format and the number of partitions if nobody has. False for commands that
            only read: they must not decide it.
        any_format: Whether the frontier may be of another format, since it is to be migrated.
        has_filters: Whether DEDUP_MODE is `bloom`: a frontier stays so.

    Raises:
        FrontierError: Redis is too old; may evict keys when it is full; is a cluster while REDIS_CLUSTER is off; or
            holds a frontier of another format or number of partitions, or one with filters while
            DEDUP_MODE is `exact`.
    """
    await server_version(redis)
    await refuse_eviction(redis)
    await begin_or_check_frontier(redis, keys, partitions, begin=begin, any_format=any_format, has_filters=has_filters)


async def server_version(redis: Redis) -> str:
    """Returns what the server is, with its version.

    Raises:
        FrontierError: It is too old, or a cluster while REDIS_CLUSTER is off.
    """
    server = await redis.info("server")
    mode = server.get("redis_mode", server.get("server_mode"))  # Valkey calls it server_mode
    if mode == "cluster" and not is_cluster(redis):
        raise FrontierError("setting REDIS_CLUSTER: got 0, expected 1 on every node, as that Redis is a cluster")
    version = str(server["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_REDIS:
        oldest = ".".join(map(str, MIN_REDIS))
        raise FrontierError(
            f"Redis {version} is too old, expected {oldest} or later, or Valkey: upgrade it, or let REDIS_URL name one"
        )
    return f"Valkey {server['valkey_version']}" if "valkey_version" in server else f"Redis {version}"


async def begin_or_check_frontier(
    redis: Redis,
    keys: Keys,
    partitions: int,
    *,
    begin: bool,
    any_format: bool = False,
    has_filters: bool = False,
) -> bool:
    """Returns whether Redis holds a frontier by now, one of this format and number of partitions.

    Args:
        begin: As for `prepare`; `any_format` and `has_filters` likewise.

    Raises:
        FrontierError: It holds one of another format or number of partitions, or one with
            filters where that isn't said.
    """
    stored = await _schema(redis, keys)
    needed: dict[str, object] = {"version": SCHEMA_VERSION, "partitions": partitions}
    # Redis is asked first, since a full one would refuse even what changes nothing.
    if begin and not needed.keys() <= stored.keys():
        for name, value in needed.items():
            await redis.hsetnx(keys.schema, name, str(value))
        stored = await _schema(redis, keys)
    if not any_format:
        refuse_other(stored.get("version", str(SCHEMA_VERSION)))
    if not re.fullmatch(r"[0-9]{1,9}", stored.get("partitions", str(partitions))):
        raise FrontierError(
            f"Redis holds a frontier of {shown(stored['partitions'])} partitions, expected a number: use another "
            "KEY_PREFIX"
        )
    if stored.get("partitions", str(partitions)) != str(partitions):
        raise FrontierError(
            f"setting FRONTIER_PARTITIONS: got {partitions}, expected {stored['partitions']}, which the frontier in "
            f"Redis was begun with: set it to {stored['partitions']} on every node; another KEY_PREFIX begins a new one"
        )
    if stored.get("dedup") == WITH_FILTERS and not (has_filters or any_format):
        raise FrontierError(
            "setting DEDUP_MODE: got exact, expected bloom, since filters in Redis know which pages of this frontier "
            "are finished: set it to bloom on every node; another KEY_PREFIX begins a new one"
        )
    if begin and has_filters and "dedup" not in stored:
        await redis.hsetnx(keys.schema, "dedup", WITH_FILTERS)
    return bool(stored)


async def _schema(redis: Redis, keys: Keys) -> dict[str, str]:
    with of_its_kind(keys.schema):
        raw: Any = await redis.hgetall(keys.schema)
    return {as_text(name): as_text(value) for name, value in raw.items()}


async def refuse_eviction(redis: Redis) -> None:
    """Refuses a Redis that may evict keys when it is full: each would be a lost seed, or a forgotten visit.

    Asks INFO, since hosted servers often forbid CONFIG.

    Raises:
        FrontierError: A node may evict keys.
    """
    for where in await each_primary(redis):
        policy = str((await redis.info("memory", **where)).get("maxmemory_policy", "noeviction"))
        if policy != "noeviction":
            raise FrontierError(
                f"Redis evicts keys when it is full (maxmemory-policy {policy}), expected noeviction: "
                "CONFIG SET maxmemory-policy noeviction, and in its configuration file"
            )


async def wait_until_ready(
    redis: Redis,
    keys: Keys,
    partitions: int,
    *,
    where: str,
    seconds: float,
    say: Callable[[str], object],
    then: Callable[[], Awaitable[None]] | None = None,
    has_filters: bool = False,
) -> None:
    """Prepares the frontier as `prepare` does, and tries again while Redis can't be reached.

    Args:
        where: Redis's address without credentials, for messages.
        seconds: How long to try.
        say: Called with a line of text after each vain try.
        then: What else needs Redis before the start is over, by connections of its own: tried again likewise.
        has_filters: As for `prepare`.

    Raises:
        UnavailableError: Redis could not be reached in that time.
        AccessError: It refuses this client; said at once.
        FrontierError: As from `prepare`.
    """
    deadline, pause_s = time.monotonic() + seconds, PAUSE_FIRST_SECONDS
    needs = "; a worker starts when every primary of the cluster answers" if is_cluster(redis) else ""
    while True:
        try:
            missing = await missing_rights(redis, keys)
            if missing:
                lacks = f"its user lacks rights ({' '.join('+' + name for name in missing)} on {keys.prefix}:*)"
                raise AccessError(f"Redis at {where}: {lacks}; {RIGHTS}")
            await prepare(redis, keys, partitions, has_filters=has_filters)
            if then is not None:
                await then()
        except (RedisError, OSError) as error:
            if why := refusal(error):
                raise AccessError(f"Redis at {where}: {why}") from error
            if time.monotonic() + pause_s > deadline:
                raise UnavailableError(f"Redis at {where}: {said_of(error)}{needs}") from error
            say(f"Redis at {where}: {error}{needs}; next try in {pause_s:.1f} s")
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_SECONDS)
        else:
            return
