"""The robots.txt files that the workers share in Redis, and which worker is asking for one.

Every method may raise `redis.exceptions.RedisError` when Redis is away; each worker then asks hosts by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base import urls
from crawler.base.errors import UrlError
from crawler.base.tasks import cancel, start
from crawler.frontier.keys import as_text, partition_of
from crawler.robots.file import MAX_RECORD_BYTES, RobotsFile

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.base.events import Events
    from crawler.frontier.keys import Keys, PartitionKeys

MOVED_SECONDS = 600  # how long a redirect to a busy host is remembered, and the authority not asked whether it holds
MAX_URL_BYTES = 10_000  # how much is read of where a file has moved to: junk in its place may be of any size
ASKING_MILLISECONDS = 5_000  # when the mark of a worker that asks expires; it renews it three times in that time


class SharedRobots:
    """The robots.txt files of all authorities, in Redis: each beside its host's seeds, so that no other node is needed.

    Args:
        partitions: FRONTIER_PARTITIONS.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int, events: Events) -> None:
        self._redis = redis
        self._keys = keys
        self._partitions = partitions
        self._events = events
        self._keeping: dict[str, asyncio.Task[None]] = {}

    async def read(self, authority: str) -> RobotsFile | None:
        """Returns an authority's file, which may not be fresh; None when Redis has none, or has junk in its place."""
        key = self._beside(authority).robots(authority)
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.getrange(key, 0, MAX_RECORD_BYTES)  # not GET: junk may be of any size
            pipeline.pttl(key)
            raw, expires_ms = await pipeline.execute()
        return RobotsFile.load(raw, expires_ms / 1000) if raw else None

    async def start_asking(self, authority: str, owner: str) -> bool:
        """Returns whether this worker is to ask for the file; it must then call `finish_asking`. False: another is."""
        asked = self._beside(authority).robots_asked(authority)
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.set(asked, owner, nx=True, px=ASKING_MILLISECONDS)
            pipeline.pexpire(asked, ASKING_MILLISECONDS, lt=True)  # Redis's clock may have been set back since
            is_ours, _ = await pipeline.execute()
        if not is_ours:
            return False
        self._keeping[authority] = start(
            self._keep(asked), name=f"asks {authority} for robots.txt", died=self._events.publish
        )
        return True

    async def finish_asking(self, authority: str, file: RobotsFile | None) -> None:
        """Stores the result of asking; None: there is none, and another worker may ask."""
        if (asking := self._keeping.pop(authority, None)) is not None:
            await cancel(asking)
        keys = self._beside(authority)
        async with self._redis.pipeline(transaction=False) as pipeline:
            if file is not None:
                pipeline.set(keys.robots(authority), file.dump(), px=max(1, int(file.expires_s * 1000)))
            pipeline.delete(keys.robots_asked(authority))
            await pipeline.execute()

    async def moved(self, authority: str) -> str | None:
        """Returns where the file has moved to and is waited for; None: it isn't, or the note is junk."""
        raw: Any = await self._redis.getrange(self._beside(authority).robots_moved(authority), 0, MAX_URL_BYTES - 1)
        with contextlib.suppress(UrlError):
            return urls.canonical(as_text(raw)) if raw else None
        return None

    async def note_moved(self, authority: str, url: str) -> None:
        """Notes where the file has moved to: whoever waits for a turn there needn't ask the authority again."""
        await self._redis.set(self._beside(authority).robots_moved(authority), url, ex=MOVED_SECONDS, nx=True)

    def _beside(self, authority: str) -> PartitionKeys:
        """Returns the keys of the partition of an authority's host."""
        return self._keys.partition(partition_of(urls.host(authority), self._partitions))

    async def _keep(self, asked: str) -> None:
        """Renews this worker's mark as long as it asks."""
        while True:
            await asyncio.sleep(ASKING_MILLISECONDS / 3_000)
            with contextlib.suppress(RedisError):
                await self._redis.pexpire(asked, ASKING_MILLISECONDS)
