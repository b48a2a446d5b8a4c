"""Runs the Lua scripts in lua/: each one command, atomic in its partition.

A Redis that is full (`maxmemory`) refuses a script as a whole, before it does anything, unless its first line says
`allow-oom`: so do those that end what is held or keep the cluster sound. Claims and offers, which lead to more, don't.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

SHARED = ("keys", "values", "ledger", "finished", "fence", "turns", "hosts", "states")  # each builds on those before it
EVEN_WHEN_FULL = "#!lua flags=allow-oom\nreturn redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))"


@cache
def source(name: str) -> str:
    """Returns a script's text: lua/NAME.lua, with lua/lib/*.lua behind its first line, where Redis looks for its flags.

    Read through the package: a zipped egg works.
    """
    folder = resources.files("crawler.frontier") / "lua"
    flags, text = (folder / f"{name}.lua").read_text("utf-8").split("\n", 1)
    shared = [(folder / "lib" / f"{part}.lua").read_text("utf-8") for part in SHARED]
    return "\n".join((flags, *shared, text))


@cache
def digest(name: str) -> str:
    """Returns the SHA1 by which Redis knows the script."""
    return hashlib.sha1(source(name).encode()).hexdigest()  # noqa: S324 -- Redis's own naming, no security


def even_when_full(client: Any, key: str, command: str, *arguments: Any) -> Any:
    """Has a client or a pipeline do a command on one key, also when Redis is full: for what stays small and few."""
    # Not `eval`, which redis-py's pipeline to a cluster hasn't.
    return client.execute_command("EVAL", EVEN_WHEN_FULL, 1, key, command, *arguments)


async def run(redis: Redis, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
    """Runs a script in one round trip (two, when Redis has never seen it).

    Raises:
        redis.exceptions.OutOfMemoryError: Redis is full; the script did nothing.
        redis.exceptions.RedisError: Redis is away or refuses; whether the script ran is then unknown.
    """
    try:
        return await redis.evalsha(digest(name), len(keys), *keys, *arguments)
    except NoScriptError:
        return await redis.eval(source(name), len(keys), *keys, *arguments)


async def run_after(
    redis: Redis, name: str, keys: Sequence[str], arguments: Sequence[Any], *, first: Sequence[Any]
) -> Any:
    """Runs a script right behind another command, in one round trip; returns what the script does.

    Args:
        first: That command; it must bear being sent twice: it is, when Redis has never seen the script.
    """
    try:
        return await _after(redis, first, ["EVALSHA", digest(name), len(keys), *keys, *arguments])
    except NoScriptError:
        return await _after(redis, first, ["EVAL", source(name), len(keys), *keys, *arguments])


async def _after(redis: Redis, first: Sequence[Any], then: Sequence[Any]) -> Any:
    async with redis.pipeline(transaction=False) as pipeline:
        pipeline.execute_command(*first)
        pipeline.execute_command(*then)
        return (await pipeline.execute())[-1]
