"""Runs the Lua scripts in lua/. Each is one atomic command in one partition.

A Redis that is full (`maxmemory`) refuses a script as a whole, before it does anything, unless the script's first line
says `allow-oom`. Scripts that end what is held or repair something say so; claims and offers, which lead to more,
don't.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError, RedisError, ResponseError

from crawler.servers.redis_cluster import home_of, look_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

# The files of lua/lib/, each of which builds on those before it.
PARTS = (
    "keys",
    "values",
    "held_pages",
    "clock",
    "budget",
    "sessions",
    "receipts",
    "ledger",
    "finished",
    "fence",
    "turns",
    "waiting",
    "shares",
    "next_starts",
    "order",
    "hosts",
    "browsers",
    "states",
    "plans",
    "combinations",
)
NEEDS = re.compile(r"^-- Needs: ([\w, \n-]+?)\.$", re.MULTILINE)
# How long a confirmation is waited for: a replica answers within ms, a disk writes once a second.
CONFIRM_MILLISECONDS = 2_000
EVEN_WHEN_FULL = "#!lua flags=allow-oom\nreturn redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))"
COMPARE_AND_SET = """#!lua flags=allow-oom
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
for n = 2, #KEYS do redis.call('DEL', KEYS[n]) end
return 1
"""


def with_filters(name: str, error_rate: float) -> str:
    """Returns the name of a script that asks and fills filters of finished pages, too, with DEDUP_ERROR_RATE.

    Args:
        error_rate: 0: there are none, so it is the script's own name.
    """
    return f"{name} {error_rate!r}" if error_rate else name


@cache
def source(name: str) -> str:
    """Returns the text of lua/NAME.lua behind the parts of lua/lib/ that its head says it needs.

    A script can't import, so the parts stand between its first line, which holds flags, and the rest. Only what it
    needs does: each part costs a call some microseconds, and Lua allows a function no more than 200 local names. The
    files are read through the package, so that a zipped egg works.
    """
    folder = resources.files("crawler.frontier") / "lua"
    name, _, error_rate = name.partition(" ")
    flags, text = (folder / f"{name}.lua").read_text("utf-8").split("\n", 1)
    head = NEEDS.search(text)
    needs = re.findall(r"\w+", head[1]) if head else []
    parts = [(folder / "lib" / f"{part}.lua").read_text("utf-8") for part in PARTS if part in needs]
    if error_rate:
        behind = [part for part in PARTS if part in needs].index("finished") + 1
        filters = (folder / "lib" / "filter.lua").read_text("utf-8")
        parts.insert(behind, f"local DEDUP_ERROR_RATE = {float(error_rate)!r}\n{filters}")
    return "\n".join([flags, *parts, text])


@cache
def digest(name: str) -> str:
    """Returns the SHA1 by which Redis knows the script."""
    return hashlib.sha1(source(name).encode()).hexdigest()  # noqa: S324 -- Redis names scripts so


def read_ahead(error_rate: float) -> None:
    """Reads all scripts, as a worker does at its start. Later it may have no file descriptor left, and must settle."""
    for file in (resources.files("crawler.frontier") / "lua").iterdir():
        if file.name.endswith(".lua"):
            digest(file.name.removesuffix(".lua"))
    for name in ("offer", "settle"):
        digest(with_filters(name, error_rate))


def run_text(client: Any, text: str, keys: Sequence[str], *arguments: Any) -> Any:
    """Runs a script that stands in a module. Takes a client or pipeline."""
    # Not `eval`: redis-py's pipelines to a cluster refuse it.
    return client.execute_command("EVAL", text, len(keys), *keys, *arguments)


def even_when_full(client: Any, key: str, command: str, *arguments: Any) -> Any:
    """Runs a command on one key, also when Redis is full: for what stays small and few. Takes a client or pipeline."""
    return run_text(client, EVEN_WHEN_FULL, [key], command, *arguments)


async def compare_and_set(
    redis: Any, key: str, field: str, expected: bytes | None, new: bytes | None, *, forgotten: Sequence[str] = ()
) -> bool:
    """Writes a field of a hash unless somebody has changed it meanwhile, also when Redis is full.

    Args:
        expected: What the field held when it was read; None: it wasn't there.
        new: What it shall hold, which isn't empty; None: it shall be gone.
        forgotten: Keys that are deleted with that.

    Returns:
        Whether it was written.
    """
    return bool(
        await redis.eval(COMPARE_AND_SET, 1 + len(forgotten), key, *forgotten, field, expected or b"", new or b"")
    )


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


async def run_confirmed(redis: Redis, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
    """Runs a script on a Redis Cluster and waits until a failure of the node can't undo it; returns what it returns.

    That is when a replica has it, which may take the node's place; without a replica, when it is in the append-only
    file. A node that has neither can't be waited for. All is sent on one connection: WAIT is about what came before.

    Raises:
        redis.exceptions.RedisError: As from `run`; or the script ran, but a failure might still undo it.
    """
    node, replicas = await home_of(redis, keys[0])
    wait = ["WAIT", 1, CONFIRM_MILLISECONDS] if replicas else ["WAITAOF", 1, 0, CONFIRM_MILLISECONDS]
    for script in (["EVALSHA", digest(name)], ["EVAL", source(name)]):
        async with redis.pipeline(transaction=False) as pipeline:
            pipeline.execute_command(*script, len(keys), *keys, *arguments)
            pipeline.execute_command(*wait, target_nodes=node)
            pipeline.execute_command("ROLE", target_nodes=node)
            answer, reached, role = await pipeline.execute(raise_on_error=False)
        if not isinstance(answer, NoScriptError):
            break
    if isinstance(answer, Exception):
        raise answer
    has_no_file = isinstance(reached, ResponseError) and not replicas  # or is too old to say so
    copies = reached[0] if isinstance(reached, list) else reached
    is_there = has_no_file or (isinstance(copies, int) and copies > 0)
    if not replicas and (isinstance(role, Exception) or role[2]):  # it has got one since the client has asked
        await look_again(redis)
        is_there = False
    if not is_there or (await home_of(redis, keys[0]))[0].name != node.name:
        raise RedisError(f"not on a replica or disk of {node.name} yet")
    return answer


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
