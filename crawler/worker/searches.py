"""Which searches have come to their end: what follows a page without results needn't be fetched.

All pages of a search are offered at once, so that none depends on another one's fate: a page that fails hides nothing
behind it. Only one that was read, and that says of itself that it has no results, ends its search.
"""

from __future__ import annotations

import contextlib
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson
from redis.exceptions import RedisError

from crawler.frontier.keys import as_count

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys
    from crawler.models import Claimed

# How long an end is remembered. Pages come in the order of their numbers, in large plans the first of all searches
# before the second of any; later than this, a search may have grown.
MEMORY_SECONDS = 7 * 86_400
DIGITS_MAX = 9  # read of a page's number: junk in its place may be of any size


class Searches:
    """The ends of searches, in Redis; while that is away each page is taken for one that may have results.

    Args:
        redis: With `decode_responses=False`.
    """

    def __init__(self, redis: Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys

    async def end(self, claimed: Claimed) -> None:
        """Notes that a search has no results on this page, nor on any after it."""
        with contextlib.suppress(RedisError):
            await self._redis.set(self._key(claimed), claimed.seed.page, ex=MEMORY_SECONDS)

    async def ended_before(self, claimed: Claimed) -> bool:
        """Returns whether an earlier page of the same search, in the same run, is known to have no results."""
        if claimed.seed.page == 1:
            return False
        with contextlib.suppress(RedisError):
            last: Any = await self._redis.getrange(self._key(claimed), 0, DIGITS_MAX - 1)
            number = as_count(last)
            return number is not None and number < claimed.seed.page
        return False

    def _key(self, claimed: Claimed) -> str:
        seed = claimed.seed
        search = (seed.plan, seed.edition, claimed.run, seed.site, seed.keywords)
        digest = blake2b(orjson.dumps(search), digest_size=16).hexdigest()
        return self._keys.partition(claimed.partition).search_end(digest)
