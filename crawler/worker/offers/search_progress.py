"""What is known of a search from those of its pages that were read: whether it is worth while to ask for the next.

A search's pages are asked for one after the other: each is offered when the one before was read. Most sites say
themselves which page is the last. Where one doesn't, the pages are compared: with the one before and the first, which
some sites repeat for ever; by the number of their results; and by whether these were new.
"""

from __future__ import annotations

import contextlib
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from redis.exceptions import RedisError

from crawler.frontier.keys import as_count, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    from crawler.base.models import Claimed
    from crawler.extract import Links
    from crawler.frontier.keys import Keys

# How long a search is remembered after a page of it was read. One that waits longer for its next page, such as that of
# a paused plan, goes on by that page alone.
MEMORY_SECONDS = 7 * 86_400
# A page with fewer results than others ends its search only on a site where so many such pages were the last, and none
# was followed by results: some sites leave results out of the middle.
SHORT_PAGES_TRIED = 3


class Standing(NamedTuple):
    """What is known of a search, when a page of it was read.

    Attributes:
        over: By what the pages hold, there are no further results.
        idle: How many pages in a row before this one held nothing new.
        read_before: This page was read before: its worker died, or gave it back. Whether its results are new says
            nothing then.
    """

    over: bool = False
    idle: int = 0
    read_before: bool = False


class _SearchMemory(NamedTuple):
    """What Redis has of a search, of its plan's searches of the site, and of all searches of the site.

    Attributes:
        page: The number of the page that was read last; 0: none was.
        held: Digests of the results of that page and of the first.
        was_short: That page had fewer results than others.
        idle: How many pages in a row held nothing new.
        max_results: How many results a page has that isn't short, as far as the plan's searches of the site have shown.
        shorts_last: How many short pages of the site were the last of their search.
        shorts_followed: How many were followed by results.
    """

    page: int
    held: frozenset[bytes]
    was_short: bool
    idle: int
    max_results: int
    shorts_last: int
    shorts_followed: int


class SearchProgress:
    """Searches under way, in Redis; while that is away each page is taken for one that may be followed by results."""

    def __init__(self, redis: Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys

    async def judge(self, claimed: Claimed, links: Links) -> Standing:
        """Notes what a page holds, and returns how its search stands."""
        page, held = claimed.seed.page, digest(links.urls)
        try:
            memory = await self._recall(claimed)
            is_next = memory.page == page - 1 and page > 1
            repeats = is_next and bool(links.urls) and held.encode() in memory.held
            is_short = links.found < memory.max_results
            was = "followed" if links.found and not repeats else "last"
            before = was if is_next and memory.was_short else ""
            await self._note(claimed, links.found, held, is_short=is_short, before=before)
        except RedisError:
            return Standing()
        ends_short = is_short and not memory.shorts_followed and memory.shorts_last >= SHORT_PAGES_TRIED
        read_before = memory.page >= page
        return Standing(not read_before and (repeats or ends_short), memory.idle, read_before)

    async def note_new(self, claimed: Claimed, standing: Standing, *, is_new: bool) -> int:
        """Notes whether a page held something new; returns how many in a row, with this one, did not."""
        idle = 0 if is_new or standing.read_before else standing.idle + 1
        if idle != standing.idle:
            with contextlib.suppress(RedisError):
                await self._redis.hset(search_key(self._keys, claimed), "idle", idle)
        return idle

    async def note_failure(self, claimed: Claimed) -> bool:
        """Notes that a page can't be had; returns whether the next one is worth asking for: the page before could."""
        with contextlib.suppress(RedisError):
            key, page = search_key(self._keys, claimed), claimed.seed.page
            failed: Any = await self._redis.hget(key, "failed")
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hset(key, "failed", page)
                pipe.expire(key, MEMORY_SECONDS)
                await pipe.execute()
            return as_count(failed or b"") != page - 1 or page == 1
        return True

    async def end(self, claimed: Claimed) -> None:
        """Forgets a search of which no further page is asked for."""
        with contextlib.suppress(RedisError):
            await self._redis.delete(search_key(self._keys, claimed))

    async def _recall(self, claimed: Claimed) -> _SearchMemory:
        """Returns what is known before a page is noted."""
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.hgetall(search_key(self._keys, claimed))
            pipe.hget(self._sizes_key(claimed), b"max_results")
            pipe.hgetall(self._shorts_key(claimed))
            search, max_results, shorts = await pipe.execute()
        of_search, of_shorts = _counts(search), _counts(shorts)
        return _SearchMemory(
            page=of_search.get("page", 0),
            held=frozenset(filter(None, (search.get(b"held"), search.get(b"first")))),
            was_short=bool(of_search.get("short")),
            idle=of_search.get("idle", 0),
            max_results=as_count(max_results or b"") or 0,
            shorts_last=of_shorts.get("last", 0),
            shorts_followed=of_shorts.get("followed", 0),
        )

    async def _note(self, claimed: Claimed, results: int, held: str, *, is_short: bool, before: str) -> None:
        """Notes a page.

        Args:
            results: How many it has.
            held: Their digest.
            before: What the short page before it was: `last` of its search, or `followed` by results; empty: there was
                no short page before it.
        """
        key, sizes, shorts = search_key(self._keys, claimed), self._sizes_key(claimed), self._shorts_key(claimed)
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.hset(key, mapping={"page": claimed.seed.page, "held": held, "short": int(is_short)})
            if claimed.seed.page == 1:
                pipe.hset(key, "first", held)
            pipe.expire(key, MEMORY_SECONDS)
            if not is_short:
                pipe.hset(sizes, "max_results", results)
                pipe.expire(sizes, MEMORY_SECONDS)
            if before:
                pipe.hincrby(shorts, before, 1)
                pipe.expire(shorts, MEMORY_SECONDS)
            await pipe.execute()

    def _sizes_key(self, claimed: Claimed) -> str:
        seed = claimed.seed  # progress belongs to a plan, since each asks for another number of results
        return self._keys.partition(claimed.partition).search(digest((seed.plan, seed.edition, seed.site)))

    def _shorts_key(self, claimed: Claimed) -> str:
        return self._keys.partition(claimed.partition).search(digest(claimed.seed.site))


def search_key(keys: Keys, claimed: Claimed) -> str:
    """Returns the key of what is known of a page's search."""
    seed = claimed.seed
    search = (seed.plan, seed.edition, claimed.run, seed.site, seed.keywords)
    return keys.partition(claimed.partition).search(digest(search))


def digest(value: Any) -> str:
    """Returns what stands for a value in the name of a key."""
    return blake2b(orjson.dumps(value), digest_size=16).hexdigest()


def _counts(fields: Mapping[bytes, bytes]) -> dict[str, int]:
    """Returns those fields of a hash that are numbers; junk in Redis is none."""
    return {as_text(name): number for name, value in fields.items() if (number := as_count(value)) is not None}
