"""What the workers learn together of the templates of pages without selectors, in Redis.

A page is read with what this worker knows when it reads it, and never waits for Redis: what a page adds is exchanged
in the background for what others have added. While Redis is away or full, each worker learns by itself.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base import tasks
from crawler.extract import PageTemplates
from crawler.extract.page_templates import KEY_BYTES, MAX_PAGES
from crawler.frontier.keys import partition_of

if TYPE_CHECKING:
    import asyncio

    from redis.asyncio import Redis

    from crawler.base.events import Events
    from crawler.extract import Marks
    from crawler.frontier.keys import Keys

# A template's pages are kept for a day after the last was added, and by a worker for a day at most: once there are 16,
# none is added, and what a site's menus say by then is learned anew.
KEPT_SECONDS = 86_400
# Of a host; most have some three kinds of pages, 6 kB each. A hostile host has 26 kB each, 0.4 MB in all.
MAX_TEMPLATES_OF_HOST = 16
MAX_WAITING = 256  # templates with something to exchange; while Redis is slow, further ones are left out
# Adds pages to a template, and returns all that it has. What was written longest ago makes room among the host's.
# KEYS: the template, the host's templates. ARGV: the template's name there, what the keys of templates begin with, how
# many of them and of pages there may be, s; then the pages, each with its marks.
EXCHANGE = """
local template, templates = KEYS[1], KEYS[2]
local name, stem, max_templates, max_pages = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local is_new = false
for at = 6, #ARGV, 2 do
  if redis.call('HLEN', template) < max_pages and redis.call('HSETNX', template, ARGV[at], ARGV[at + 1]) == 1 then
    is_new = true
  end
end
if is_new then
  redis.call('EXPIRE', template, ARGV[5])
  redis.call('ZADD', templates, redis.call('TIME')[1], name)
  redis.call('EXPIRE', templates, ARGV[5])
  local excess = redis.call('ZCARD', templates) - max_templates
  if excess > 0 then
    for _, old in ipairs(redis.call('ZRANGE', templates, 0, excess - 1)) do
      redis.call('DEL', stem .. old)
      redis.call('ZREM', templates, old)
    end
  end
end
if redis.call('HLEN', template) > max_pages then return {} end
return redis.call('HGETALL', template)
"""


class SharedTemplates:
    """The templates that this worker knows, and their exchange with the other workers.

    Args:
        redis: With `decode_responses=False`.
        partitions: FRONTIER_PARTITIONS.
        events: Told should the exchange die of an error that isn't Redis's.

    Attributes:
        known: What pages are compared with.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int, events: Events) -> None:
        self.known = PageTemplates()
        self._redis, self._keys, self._partitions, self._events = redis, keys, partitions, events
        self._waiting: dict[bytes, str] = {}  # templates to exchange, with their hosts
        self._forget_at_s = time.monotonic() + KEPT_SECONDS
        self._exchanging: asyncio.Task[None] | None = None

    def note(self, marks: Marks) -> None:
        """Adds a page to its template, and has it exchanged in the background.

        The first page of a template that this worker meets only asks what others know: there may never be a second.
        """
        template = marks.template
        if (now_s := time.monotonic()) >= self._forget_at_s:
            self._forget_at_s = now_s + KEPT_SECONDS
            self.known.forget_all()
        if not self.known.add(template, {marks.page: marks.marks}):
            return
        if len(self._waiting) < MAX_WAITING:
            self._waiting[template] = marks.host
            if self._exchanging is None or self._exchanging.done():
                self._exchanging = tasks.start(
                    self._exchange_all(), name="exchange of templates", died=self._events.publish
                )

    async def close(self) -> None:
        """Stops the exchange; what wasn't told yet is forgotten."""
        if self._exchanging is not None:
            await tasks.cancel(self._exchanging)

    async def _exchange_all(self) -> None:
        while self._waiting:
            template, host = self._waiting.popitem()
            with contextlib.suppress(RedisError):
                await self._exchange(template, host)

    async def _exchange(self, template: bytes, host: str) -> None:
        partition = self._keys.partition(partition_of(host, self._partitions))
        pages = self.known.of(template).pages
        told = [part for page in pages.items() for part in page] if len(pages) > 1 else []
        found: Any = await self._redis.eval(
            EXCHANGE,
            2,
            partition.template(template.hex()),
            partition.templates(host),
            template.hex(),
            partition.template(""),
            MAX_TEMPLATES_OF_HOST,
            MAX_PAGES,
            KEPT_SECONDS,
            *told,
        )
        shared = dict(zip(found[::2], found[1::2], strict=True))
        self.known.add(template, {page: marks for page, marks in shared.items() if len(page) == KEY_BYTES})
