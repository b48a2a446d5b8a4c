"""From format 3 of the frontier to format 4: finished seeds are packed more tightly, and elsewhere.

lua/lib/finished.lua says how. Each bucket is moved by one atomic script, from where format 3 has it, so it is always in
one of both places; what is moved already isn't looked at again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from crawler.base.models import Frontier
from crawler.frontier import scripts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys

FRONTIERS: tuple[Frontier, ...] = get_args(Frontier)


def plans_before(keys: Keys) -> str:
    """Returns where plans lie in format 3."""
    return keys.plans


async def migrate(
    redis: Redis, keys: Keys, partitions: int, done: int, go_on: Callable[[], Awaitable[None]]
) -> AsyncIterator[tuple[int, int]]:
    """Migrates; the `run` of a `Step` of migration.py. Its parts are the frontiers of the partitions."""
    parts = [(number, frontier) for number in range(partitions) for frontier in FRONTIERS]
    for place, (number, frontier) in enumerate(parts[done:], done + 1):
        part = keys.partition(number)
        script_keys = [*part.script_keys(frontier), f"{part.stem}:{frontier}:finish"]
        await go_on()
        while await scripts.run(redis, "repack_finished", script_keys, []):
            await go_on()
        yield place, len(parts)
