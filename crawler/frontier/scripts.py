"""Runs the Lua scripts in lua/: each one command, atomic in its partition."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis
    from redis.asyncio.client import Pipeline


@cache
def source(name: str) -> str:
    """Returns a script's text: lua/lib.lua, then lua/NAME.lua. Read through the package: a zipped egg works."""
    folder = resources.files("crawler.frontier") / "lua"
    return (folder / "lib.lua").read_text("utf-8") + (folder / f"{name}.lua").read_text("utf-8")


@cache
def digest(name: str) -> str:
    """Returns the SHA1 by which Redis knows the script."""
    return hashlib.sha1(source(name).encode()).hexdigest()  # noqa: S324 -- Redis's own naming, no security


async def run(redis: Redis, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
    """Runs a script in one round trip (two, when Redis has never seen it).

    Raises:
        redis.exceptions.RedisError: Redis is away or refuses; whether the script ran is then unknown.
    """
    try:
        return await redis.evalsha(digest(name), len(keys), *keys, *arguments)
    except NoScriptError:
        return await redis.eval(source(name), len(keys), *keys, *arguments)


async def run_after(pipeline: Pipeline, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
    """Runs a script as the last command of a pipeline, in the pipeline's one round trip.

    The pipeline's other commands must bear being sent twice: they are, when Redis has never seen the script.
    """
    commands = list(pipeline.command_stack)
    pipeline.evalsha(digest(name), len(keys), *keys, *arguments)
    try:
        return (await pipeline.execute())[-1]
    except NoScriptError:
        pipeline.command_stack = commands
        pipeline.eval(source(name), len(keys), *keys, *arguments)
        return (await pipeline.execute())[-1]
