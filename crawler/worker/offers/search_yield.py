"""How many new pages a search page is expected to bring, as all workers learn it from a plan's searches of a site.

A page brings the plan's usual number of late, times how much more or less than usual the searches with each of its
words have brought. So a combination is judged before it was ever asked, by others that share words with it. Of a
further page, the one before says as much as all of that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.frontier.keys import as_text
from crawler.frontier.scripts import run_text
from crawler.telemetry import plan_yield
from crawler.worker.offers.search_progress import MEMORY_SECONDS, digest, search_key

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.base.models import Claimed
    from crawler.frontier.keys import Keys

# What is expected before any page was read, and how much is added to what a word's searches have brought, in the parts
# of a full page of results: so many new pages tell as much as having read nothing.
USUAL_FIRST = 0.5
# ARGV: how long it is remembered, in s; how many new pages a page has brought; how many are usual before any; the words
# of its search. `usual` follows the pages of late. Of each word: what pages have brought, and what was usual then.
LEARN = """#!lua flags=allow-oom
local key, brought = KEYS[1], tonumber(ARGV[2])
local function number(field) return tonumber(redis.call('HGET', key, field) or '') end
local function set(field, value) redis.call('HSET', key, field, string.format('%.6f', value)) end
local usual = number('usual') or tonumber(ARGV[3])
for n = 4, #ARGV do
  set('brought ' .. ARGV[n], (number('brought ' .. ARGV[n]) or 0) + brought)
  set('usual ' .. ARGV[n], (number('usual ' .. ARGV[n]) or 0) + usual)
end
set('usual', 0.9 * usual + 0.1 * brought)
redis.call('EXPIRE', key, ARGV[1])
"""


class SearchYield:
    """What search pages are expected to bring; while Redis is away nothing is known, and nothing is learnt."""

    def __init__(self, redis: Redis, keys: Keys) -> None:
        self._redis: Any = redis  # its types don't know that answers are bytes
        self._keys = keys

    async def expected(self, claimed: Claimed) -> float | None:
        """Returns how many new pages a search page is expected to bring; None: it can't be told."""
        seed, key = claimed.seed, self._key(claimed)
        first, words = USUAL_FIRST * seed.per_page, dict.fromkeys(seed.keywords)
        names = [name for word in words for name in (f"brought {word}", f"usual {word}")]
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hmget(key, ["usual", *names])
                pipe.hget(search_key(self._keys, claimed), "brought")
                (usual, *of_words), before = await pipe.execute()
        except RedisError:
            return None
        number = _number(usual, first)
        for brought, was_usual in zip(of_words[::2], of_words[1::2], strict=True):
            number *= (_number(brought, 0.0) + first) / (_number(was_usual, 0.0) + first)
        return number if before is None or seed.page == 1 else (number + _number(before, number)) / 2

    async def learn(self, claimed: Claimed, new: int, *, looks_for_words: bool) -> None:
        """Notes how many new pages a search page has brought.

        Args:
            looks_for_words: Pages that lack the plan's words make no item: of the new ones, as many count as of those
                that the combination has found and that were read by now were on topic.
        """
        seed, search = claimed.seed, search_key(self._keys, claimed)
        try:
            share = await plan_yield.on_topic(self._redis, self._keys, seed) if looks_for_words else 1.0
            async with self._redis.pipeline(transaction=False) as pipe:
                words, first = dict.fromkeys(seed.keywords), USUAL_FIRST * seed.per_page
                run_text(pipe, LEARN, [self._key(claimed)], MEMORY_SECONDS, new * share, first, *words)
                if seed.more:  # the next page of the search is judged by it
                    pipe.hset(search, "brought", new * share)
                    pipe.expire(search, MEMORY_SECONDS)
                await pipe.execute()
        except RedisError:  # what isn't learnt costs a better order, and nothing else
            return

    def _key(self, claimed: Claimed) -> str:
        seed = claimed.seed
        return self._keys.partition(claimed.partition).search(digest(("yield", seed.plan, seed.edition, seed.site)))


def _number(raw: bytes | None, default: float) -> float:
    """Returns a number that Redis holds; junk is none."""
    try:
        number = default if raw is None else float(as_text(raw))
    except ValueError:
        return default
    return number if math.isfinite(number) and number >= 0 else default
