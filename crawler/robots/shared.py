"""robots.txt as the cluster shares it: each authority's file in Redis, who asks for it, and the delay it wants.

Every method may raise `redis.exceptions.RedisError` when Redis is away; workers then ask for themselves.
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

ASK_MILLISECONDS = 5_000  # an asker silent for so long is taken for dead; it gives three signs of life in that time


class SharedRobots:
    """The files of all authorities.

    Args:
        redis: With `decode_responses=False`.
        partitions: `FRONTIER_PARTITIONS`.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int) -> None:
        self._redis = redis
        self._keys = keys
        self._partitions = partitions
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def read(self, authority: str) -> RobotsFile | None:
        """Returns what is known; None when nothing is, or junk lies there. What isn't fresh tells failures only."""
        key = self._keys.robots(authority)
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.getrange(key, 0, MAX_RECORD_BYTES)  # not GET: junk may be of any size
            pipeline.pttl(key)
            raw, expires_ms = await pipeline.execute()
        return RobotsFile.load(raw, expires_ms / 1000) if raw else None

    async def begin(self, authority: str, owner: str) -> bool:
        """Returns whether this worker is to ask for the file, and call `end` after. False: another is; look again."""
        asked = self._keys.robots_asked(authority)
        if not await self._redis.set(asked, owner, nx=True, px=ASK_MILLISECONDS):
            return False
        self._asking[authority] = asyncio.create_task(self._stay(asked), name=f"asks {authority} for robots.txt")
        return True

    async def end(self, authority: str, file: RobotsFile | None) -> None:
        """Shares what asking brought; None when it brought nothing, and others are to try."""
        if (asking := self._asking.pop(authority, None)) is not None:
            await cancel(asking)
        async with self._redis.pipeline(transaction=False) as pipeline:
            if file is not None:
                pipeline.set(self._keys.robots(authority), file.dump(), px=max(1, int(file.expires_s * 1000)))
            pipeline.delete(self._keys.robots_asked(authority))
            await pipeline.execute()

    async def slow_down(self, host: str, delay_s: float) -> None:
        """Sets the least delay of a host's turns for all workers; 0: robots.txt asks for none."""
        partition = partition_of(host, self._partitions)
        keys = self._keys.partition(partition).script_keys("content")
        await scripts.run(self._redis, "slow", keys, [host, int(delay_s * 1000)])

    async def _stay(self, asked: str) -> None:
        """Keeps the asker's mark for as long as it asks."""
        while True:
            await asyncio.sleep(ASK_MILLISECONDS / 3_000)
            with contextlib.suppress(RedisError):
                await self._redis.pexpire(asked, ASK_MILLISECONDS)
