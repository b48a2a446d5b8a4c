"""Runs the Lua scripts in lua/. Each is one atomic command in one partition.

A Redis that is full (`maxmemory`) refuses a script as a whole, before it does anything, unless the script's first line
says `allow-oom`. Scripts that end what is held or repair something say so; claims and offers, which lead to more,
don't.
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
    """Returns the text of lua/NAME.lua with the parts in lua/lib/ inserted after its first line, which holds flags.

    Each part says at its top which names it gives to the scripts, since a script can't import. The files are read
    through the package, so that a zipped egg works.
    """
    folder = resources.files("crawler.frontier") / "lua"
    flags, text = (folder / f"{name}.lua").read_text("utf-8").split("\n", 1)
    shared = [(folder / "lib" / f"{part}.lua").read_text("utf-8") for part in SHARED]
    return "\n".join((flags, *shared, text))


@cache
def digest(name: str) -> str:
    """Returns the SHA1 by which Redis knows the script."""
    return hashlib.sha1(source(name).encode()).hexdigest()  # noqa: S324 -- Redis names scripts so


def even_when_full(client: Any, key: str, command: str, *arguments: Any) -> Any:
    """Runs a command on one key, also when Redis is full: for what stays small and few. Takes a client or pipeline."""
    # Not `eval`: redis-py's pipelines to a cluster refuse it.
    return client.execute_command("EVAL", EVEN_WHEN_FULL, 1, key, command, *arguments)


async def run(redis: Redis, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
    """Runs a script, in one round trip; in two when Redis has not seen it before.

    Raises:
        redis.exceptions.OutOfMemoryError: Redis is full; the script did nothing.
        redis.exceptions.RedisError: Redis is away; whether the script ran is then unknown.
    """
    try:
        return await redis.evalsha(digest(name), len(keys), *keys, *arguments)
    except NoScriptError:
        return await redis.eval(source(name), len(keys), *keys, *arguments)


async def run_after(
    redis: Redis, name: str, keys: Sequence[str], arguments: Sequence[Any], *, first: Sequence[Any]
) -> Any:
    """Runs a script right after another command, in the same round trip; returns what the script returns.

    Args:
        first: That command. It is sent twice when Redis has not seen the script before, so that must do no harm.
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
