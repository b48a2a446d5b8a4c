"""From format 2 of the frontier to format 3.

Plans and sites lay under names without braces, so on any node of a Redis Cluster; and what partitions are told of a
plan didn't always have its edition. Seeds, turns and ledgers are the same in both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from crawler.frontier.scan import scan_steps
from crawler.frontier.schema import of_its_kind
from crawler.frontier.scripts import compare_and_set, even_when_full

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys

SCAN_COUNT = 100  # fields in one answer: some 100 kB of plans, which Redis reads in less than 1 ms
WITHOUT_EDITION = re.compile(rb"(\d+) ([a-z]+)")  # `VERSION STATE`


def plans_before(keys: Keys) -> str:
    """Returns where plans lie in format 2."""
    return f"{keys.prefix}:plans"


async def migrate(
    redis: Redis, keys: Keys, partitions: int, done: int, go_on: Callable[[], Awaitable[None]]
) -> AsyncIterator[tuple[int, int]]:
    """Migrates; the `run` of a `Step` of migration.py. Its parts are the partitions, then plans and sites."""
    parts = partitions + 1
    for number in range(done, partitions):
        await _renew_plan_states(redis, keys, number)
        yield number + 1, parts
    if done < parts:
        for old, new in ((plans_before(keys), keys.plans), (f"{keys.prefix}:sites", keys.sites)):
            await _move(redis, old, new, go_on)
        # What is said of nodes that run no more, and of the last place that answered. What is known of ends of searches
        # expires; a search may be asked for one page too many.
        for name in ("nodes", "reached"):
            await redis.delete(f"{keys.prefix}:{name}")
        yield parts, parts


async def _renew_plan_states(redis: Any, keys: Keys, number: int) -> None:
    """Writes into what a partition was told of plans which edition they have, 0 for plans that are gone.

    Deletes its set of paused plans, which the states say, too.
    """
    part = keys.partition(number)
    with of_its_kind(part.plan_states):
        async for states in scan_steps(redis.hscan, part.plan_states, SCAN_COUNT):
            for plan, state in states.items():
                if match := WITHOUT_EDITION.fullmatch(state):
                    edition = await _edition_of(redis, keys, plan)
                    new = b"%b %d %b" % (match[1], edition, match[2])
                    await compare_and_set(redis, part.plan_states, plan, state, new)
    await redis.delete(f"{part.stem}:paused")


async def _edition_of(redis: Any, keys: Keys, plan: bytes) -> int:
    with of_its_kind(keys.plans):
        raw = await redis.hget(plans_before(keys), plan) or await redis.hget(keys.plans, plan)
    try:
        edition = orjson.loads(raw or b"{}").get("edition", 0)
    except (ValueError, AttributeError):
        return 0  # it is damaged, which commands on plans tell of
    return edition if isinstance(edition, int) else 0


async def _move(redis: Any, old: str, new: str, go_on: Callable[[], Awaitable[None]]) -> None:
    """Moves the fields of a hash to another one, where those that are there win. It may lie on another node."""
    with of_its_kind(old):
        async for fields in scan_steps(redis.hscan, old, SCAN_COUNT):
            await go_on()  # else a field could be written that was deleted since another migration ended
            for name, value in fields.items():
                with of_its_kind(new):
                    await even_when_full(redis, new, "HSETNX", name, value)
                await redis.hdel(old, name)
