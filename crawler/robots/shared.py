"""The robots.txt files that the workers share in Redis, which worker is asking for one, and the delays they ask for.

Every method may raise `redis.exceptions.RedisError` when Redis is away; each worker then asks hosts by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.frontier import scripts
from crawler.frontier.keys import Keys, partition_of
from crawler.robots.file import MAX_RECORD_BYTES, RobotsFile
from crawler.tasks import cancel

if TYPE_CHECKING:
    from redis.asyncio import Redis

ASKING_MILLISECONDS = 5_000  # expiry of an asking worker's mark, which it renews three times in that time


class SharedRobots:
    """The robots.txt files of all authorities, in Redis.

    Args:
        redis: With `decode_responses=False`.
        partitions: `FRONTIER_PARTITIONS`.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int) -> None:
        self._redis = redis
        self._keys = keys
        self._partitions = partitions
        self._keeping: dict[str, asyncio.Task[None]] = {}

    async def read(self, authority: str) -> RobotsFile | None:
        """Returns an authority's file, which may not be fresh; None when Redis has none, or has junk in its place."""
        key = self._keys.robots(authority)
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.getrange(key, 0, MAX_RECORD_BYTES)  # not GET: junk may be of any size
            pipeline.pttl(key)
            raw, expires_ms = await pipeline.execute()
        return RobotsFile.load(raw, expires_ms / 1000) if raw else None

    async def start_asking(self, authority: str, owner: str) -> bool:
        """Returns whether this worker is to ask for the file; it must then call `finish_asking`. False: another is."""
        asked = self._keys.robots_asked(authority)
        if not await self._redis.set(asked, owner, nx=True, px=ASKING_MILLISECONDS):
            return False
        self._keeping[authority] = asyncio.create_task(self._keep(asked), name=f"asks {authority} for robots.txt")
        return True

    async def finish_asking(self, authority: str, file: RobotsFile | None) -> None:
        """Stores the result of asking; None: there is none, and another worker may ask."""
        if (asking := self._keeping.pop(authority, None)) is not None:
            await cancel(asking)
        async with self._redis.pipeline(transaction=False) as pipeline:
            if file is not None:
                pipeline.set(self._keys.robots(authority), file.dump(), px=max(1, int(file.expires_s * 1000)))
            pipeline.delete(self._keys.robots_asked(authority))
            await pipeline.execute()

    async def slow_down(self, host: str, delay_s: float) -> None:
        """Sets the shortest delay of a host's turns for all workers; 0: robots.txt asks for none."""
        partition = partition_of(host, self._partitions)
        keys = self._keys.partition(partition).script_keys("content")
        await scripts.run(self._redis, "crawl_delay", keys, [host, int(delay_s * 1000)])

    async def _keep(self, asked: str) -> None:
        """Renews this worker's mark as long as it asks."""
        while True:
            await asyncio.sleep(ASKING_MILLISECONDS / 3_000)
            with contextlib.suppress(RedisError):
                await self._redis.pexpire(asked, ASKING_MILLISECONDS)
