"""Brings a frontier of an older format to today's: `scrapy frontier migrate`.

The format's `version` in Redis says how far that is: `2`, then `2-to-3 DONE` while that step is under way, then `3`. On
a format that is on its way no process of either version starts. DONE counts the parts of the step that are done: after
a crash, whoever goes on begins behind them. Each change of the version is compared and set, so of two migrations at
once one ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from crawler.base.errors import FrontierError, shown
from crawler.frontier import clock, from_2_to_3, from_3_to_4
from crawler.frontier.keys import SCHEMA_VERSION, as_text
from crawler.frontier.owners import is_worker, process_of
from crawler.frontier.schema import Format, of_its_kind
from crawler.frontier.scripts import compare_and_set

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys


class Step(NamedTuple):
    """From one format to the next.

    Attributes:
        plans: Returns the key of the hash that has the plans in the format that the step begins with.
        run: Changes what lies in Redis, in parts; yields how many of them are done, and of how many. It is told how
            many were done before, and calls the last argument before it writes what another migration at once may have
            written already, and others deleted since; it raises FrontierError where that has ended. A part that was
            broken off is done again, so each must bear that; and no command of it may keep Redis from others for more
            than 20 ms.
    """

    plans: Callable[[Keys], str]
    run: Callable[[Redis, Keys, int, int, Callable[[], Awaitable[None]]], AsyncIterator[tuple[int, int]]]


# The steps, by the format that each begins with.
STEPS: Mapping[int, Step] = {
    2: Step(from_2_to_3.plans_before, from_2_to_3.migrate),
    3: Step(from_3_to_4.plans_before, from_3_to_4.migrate),
}
PLANS_READ = 100  # most plans in one answer, which then has some 100 kB
NAMES_SHOWN = 3  # most workers that an error names: whoever stops them goes by nodes, not by this list
ANOTHER = "another scrapy frontier migrate is at work; this one ends"


async def migrate(redis: Redis, keys: Keys, partitions: int, progress: Callable[[int, int, int], object]) -> int:
    """Brings the frontier to today's format. Does nothing where it has it.

    Args:
        progress: Called with the format that a step begins with, how many parts of it are done, and of how many.

    Returns:
        The format that the frontier had, or the one that the step broken off before began with.

    Raises:
        FrontierError: There is no frontier; a worker is alive, a command asks hosts or submits a plan, or another
            migration is at work; or no step begins with the frontier's format. What was done so far stays done.
    """
    before = now = await _read(redis, keys)
    while now != Format(SCHEMA_VERSION):
        step = STEPS.get(now.version)
        if step is None:
            raise FrontierError(
                f"the frontier in Redis has format {now.version}, and this version can bring formats "
                f"{', '.join(map(str, STEPS))} to {SCHEMA_VERSION}: use the version that fits it"
            )
        if now.done is None:
            await _refuse_company(redis, keys, partitions, step)
            now = await _write(redis, keys, now, Format(now.version, 0))
            try:
                await _refuse_company(redis, keys, partitions, step)  # it may have come before it could see that
            except FrontierError:
                await _write(redis, keys, now, Format(now.version))
                raise

        async def go_on(version: int = now.version) -> None:
            there = await _read(redis, keys)
            if there.version != version or there.done is None:
                raise FrontierError(ANOTHER)

        async for done, parts in step.run(redis, keys, partitions, now.done or 0, go_on):
            now = await _write(redis, keys, now, Format(now.version, done))
            progress(now.version, done, parts)
        now = await _write(redis, keys, now, Format(now.version + 1))
    return before.version


async def _read(redis: Any, keys: Keys) -> Format:
    with of_its_kind(keys.schema):
        raw = await redis.hget(keys.schema, "version")
    if raw is None:
        raise FrontierError(f"Redis holds no frontier under KEY_PREFIX {keys.prefix!r}: there is nothing to migrate")
    return Format.parse(as_text(raw))


async def _write(redis: Redis, keys: Keys, old: Format, new: Format) -> Format:
    if not await compare_and_set(redis, keys.schema, "version", str(old).encode(), str(new).encode()):
        raise FrontierError(ANOTHER)
    return new


async def _refuse_company(redis: Any, keys: Keys, partitions: int, step: Step) -> None:
    """Raises FrontierError where others are at work: workers, or commands that ask hosts or submit plans."""
    alive: set[str] = set()
    now_ms = 0
    for number in range(partitions):
        part = keys.partition(number)
        now_ms = await clock.now_ms(redis, part)
        with of_its_kind(part.sessions):
            owners = await redis.zrange(part.sessions, now_ms, "+inf", byscore=True)
        alive |= {as_text(owner) for owner in owners}
    if workers := {process_of(owner) for owner in alive if is_worker(owner)}:
        raise FrontierError(
            f"{len(workers)} workers are alive ({_some(workers)}): stop them by SIGTERM, which lets pages under way "
            "end, or wait for SESSION_SECONDS where they were killed; then migrate"
        )
    if alive:
        raise FrontierError(
            f"commands are asking hosts ({_some({process_of(owner) for owner in alive})}): wait for them to end, or "
            "for SESSION_SECONDS where they were killed; then migrate"
        )
    with of_its_kind(step.plans(keys)):
        plans = redis.hscan_iter(step.plans(keys), count=PLANS_READ)
        offered = {shown(as_text(name)) async for name, raw in plans if _offered_until_ms(raw) > now_ms}
    if offered:
        raise FrontierError(
            f"plans are being submitted ({_some(offered)}): wait for that to end, or for a minute where it was killed; "
            "then migrate"
        )


def _offered_until_ms(record: bytes) -> float:
    """Returns until when a plan's submission counts as alive; 0: there is none, or the record is damaged."""
    try:
        until_ms = orjson.loads(record)["offering_until_ms"]
    except (ValueError, TypeError, KeyError):
        return 0
    return until_ms if isinstance(until_ms, int | float) else 0


def _some(names: set[str]) -> str:
    more = ", ..." if len(names) > NAMES_SHOWN else ""
    return ", ".join(sorted(names)[:NAMES_SHOWN]) + more
