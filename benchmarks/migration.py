"""How long does `scrapy frontier migrate` keep Redis from others, and how long does it take?

    .venv/bin/python -m benchmarks.migration

A frontier of format 2 with thousands of plans and sites, of which each partition was told, is migrated. The longest
command is Redis's own figure (SLOWLOG): what others wait for while it runs. Exit status 1: it is over LONGEST_MAX_MS.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
from redis.asyncio import Redis as AsyncRedis

from crawler.frontier.keys import Keys
from crawler.frontier.migration import migrate
from testbed.servers import Redis

LONGEST_MAX_MS = 20.0  # what frontier/migration.py asks of a step
PLAN_BYTES = 2_000  # of a plan's definition, or a site's: three times what plans/demo.yaml's are
KEYS = Keys("m")


async def fill(redis: Any, plans: int, partitions: int) -> None:
    """Writes a frontier of format 2."""
    await redis.hset(KEYS.schema, mapping={"version": "2", "partitions": partitions})
    names = [f"plan-{number}" for number in range(plans)]
    record = orjson.dumps({"edition": 7, "definition": "x" * PLAN_BYTES})
    await redis.hset(f"{KEYS.prefix}:plans", mapping=dict.fromkeys(names, record))
    await redis.hset(f"{KEYS.prefix}:sites", mapping=dict.fromkeys(names, record))
    for number in range(partitions):
        await redis.hset(KEYS.partition(number).plan_states, mapping=dict.fromkeys(names, "100 active"))


async def measure(port: int, plans: int, partitions: int) -> tuple[float, list[dict[str, Any]]]:
    """Returns how many seconds the migration takes, and its slowest commands as Redis has them, the slowest first."""
    async with AsyncRedis(port=port) as redis:
        await fill(redis, plans, partitions)
        await redis.config_set("slowlog-log-slower-than", 500)  # microseconds
        await redis.config_set("slowlog-max-len", 10_000)
        await redis.slowlog_reset()
        began = time.monotonic()
        await migrate(redis, KEYS, partitions, lambda *_: None)
        taken_s = time.monotonic() - began
        slow: list[dict[str, Any]] = await redis.slowlog_get(10_000)
    return taken_s, sorted(slow, key=lambda one: -int(one["duration"]))


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plans", type=int, default=10_000, help="and as many sites (default: %(default)s)")
    parser.add_argument("--partitions", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Redis(Path(folder)) as server:
        taken_s, slow = asyncio.run(measure(server.port, options.plans, options.partitions))
    longest_ms = int(slow[0]["duration"]) / 1_000 if slow else 0.5
    print(
        f"{options.plans:,} plans and sites, {options.partitions} partitions: {taken_s:.1f} s; the longest command "
        f"took {longest_ms:.2f} ms, {len(slow)} took over 0.5 ms"
    )
    for one in slow[:3]:
        print(f"  {int(one['duration']) / 1_000:.2f} ms  {one['command'][:60].decode('utf-8', 'replace')}")
    return int(longest_ms > LONGEST_MAX_MS)


if __name__ == "__main__":
    sys.exit(main())
