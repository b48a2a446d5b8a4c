"""Brings a frontier of an older format to today's: `scrapy frontier migrate`.

The format's `version` in Redis says how far that is: `2`, then `2-to-3 DONE` while that step is under way, then `3`. On
a format that is on its way no process of either version starts. DONE counts the parts of the step that are done: after
a crash, whoever goes on begins behind them. Each change of the version is compared and set, so of two migrations at
once one ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from crawler.errors import FrontierError
from crawler.frontier import clock, format_2
from crawler.frontier.keys import SCHEMA_VERSION, as_text
from crawler.frontier.schema import Format
from crawler.frontier.scripts import compare_and_set
from crawler.frontier.session import process_of

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys

# Changes what lies in Redis to the next format, in parts; yields how many of them are done, and of how many. The last
# argument says how many were done before. A part that was broken off is done again, so each must bear that; and no
# command of it may keep Redis from others for more than 20 ms.
Step = Callable[["Redis", "Keys", int, int], AsyncIterator[tuple[int, int]]]
STEPS: Mapping[int, Step] = {2: format_2.to_3}  # by the format that it begins with
WORKERS_SHOWN = 3  # in an error: whoever stops workers goes by nodes, not by this list


async def migrate(redis: Redis, keys: Keys, partitions: int, progress: Callable[[int, int, int], object]) -> int:
    """Brings the frontier to today's format. Does nothing where it has it.

    Args:
        progress: Called with the format that a step begins with, how many parts of it are done, and of how many.

    Returns:
        The format that the frontier had, or the one that the step broken off before began with.

    Raises:
        FrontierError: There is no frontier; a worker is alive, or another migration is at work; or no step begins with
            the frontier's format. What was done so far stays done.
    """
    place = begun = await _read(redis, keys)
    while place != Format(SCHEMA_VERSION):
        step = STEPS.get(place.version)
        if step is None:
            raise FrontierError(
                f"the frontier in Redis has format {place.version}, and this version can bring formats "
                f"{', '.join(map(str, STEPS))} to {SCHEMA_VERSION}: use the version that fits it"
            )
        if place.done is None:
            await _refuse_workers(redis, keys, partitions)
            place = await _write(redis, keys, place, Format(place.version, 0))
            try:
                await _refuse_workers(redis, keys, partitions)  # one may have started before it could see that
            except FrontierError:
                await _write(redis, keys, place, Format(place.version))
                raise
        async for done, parts in step(redis, keys, partitions, place.done or 0):
            place = await _write(redis, keys, place, Format(place.version, done))
            progress(place.version, done, parts)
        place = await _write(redis, keys, place, Format(place.version + 1))
    return begun.version


async def _read(redis: Any, keys: Keys) -> Format:
    raw = await redis.hget(keys.schema, "version")
    if raw is None:
        raise FrontierError(f"Redis holds no frontier under KEY_PREFIX {keys.prefix!r}: there is nothing to migrate")
    return Format.parse(as_text(raw))


async def _write(redis: Redis, keys: Keys, old: Format, new: Format) -> Format:
    if not await compare_and_set(redis, keys.schema, "version", str(old).encode(), str(new).encode()):
        raise FrontierError("another scrapy frontier migrate is at work; this one ends")
    return new


async def _refuse_workers(redis: Any, keys: Keys, partitions: int) -> None:
    """Raises FrontierError where a worker's session is alive: it would go on by the rules of its version."""
    alive: set[str] = set()
    for number in range(partitions):
        part = keys.partition(number)
        now_ms = await clock.now_ms(redis, part)
        owners = await redis.zrange(part.sessions, now_ms, "+inf", byscore=True)
        alive |= {process_of(as_text(owner)) for owner in owners}
    if alive:
        more = ", ..." if len(alive) > WORKERS_SHOWN else ""
        names = ", ".join(sorted(alive)[:WORKERS_SHOWN]) + more
        raise FrontierError(
            f"{len(alive)} workers are alive ({names}): stop them by SIGTERM, which lets pages under way end, or wait "
            "for SESSION_SECONDS where they were killed; then migrate"
        )
