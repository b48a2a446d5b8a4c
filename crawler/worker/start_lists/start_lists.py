"""Reads start lists of Redis into the frontier, so that whoever fills them for scrapy-redis's spiders feeds the crawl.

An entry is lost nowhere, whenever a worker dies: it is offered first, as pages that are found are (`offers.py`, which
on a Redis Cluster waits until the offer survives a node), then taken out of its list, by its value. If its reader dies
in between, the next one offers it again, which the ledger counts as known. List and frontier may lie on different
nodes, since nothing needs both at once. If its plan is deleted while its offer waits, it stays.

An entry that can't be a seed goes into the hash `KEY:refused`, with the reason, before it leaves its list; of entries
that are too long, one of each beginning (`stored_list.py`). When that is full, or can't be written, those that follow
stay where they are, and keep back what stands behind them.

Of all workers one reads, by a lock with a time limit: two at a time would lose nothing either, but offer all twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoPermissionError, RedisError, ResponseError

from crawler import sites
from crawler.base import log_events
from crawler.base.errors import HeadroomError, UnavailableError, UrlError
from crawler.base.redaction import without_credentials
from crawler.base.text import one_line
from crawler.frontier.scripts import even_when_full
from crawler.servers.redis_refusal import is_of_a_key, refusal
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.start_list import StartEntryError
from crawler.worker.start_lists.stored_list import MAX_REFUSED, StoredList, is_cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis
    from scrapy.statscollectors import StatsCollector

    from crawler.base.log_events import EventLogger
    from crawler.base.models import Seed
    from crawler.frontier.keys import Keys
    from crawler.plans.registry import Registry
    from crawler.sites import Site
    from crawler.worker.definitions.site_cache import SiteCache
    from crawler.worker.offers.offers import Offers
    from crawler.worker.start_list import StartList

logger: EventLogger = logging.getLogger(__name__)
POLL_SECONDS = 1.0  # how often empty lists are looked at; scrapy-redis does so every 5 s
# How long a reader that died keeps others off; each round, one a second, renews the lock.
READER_LOCK_MILLISECONDS = 3_000
# After how many rounds a list is logged that waits for its site's definition; a round takes a second.
ROUNDS_IN_VAIN = 10
REPORT_SECONDS = 60.0  # least time between two log lines on a list's refused entries


class StartLists:
    """Offers what the lists hold, as long as it runs.

    Args:
        lists: Those to read; none: `read` returns at once.
        reader: This worker's name, which no other one has.
        sites_dir: SITES_DIR, for sites of which Redis has no definition yet.
    """

    def __init__(
        self,
        lists: Sequence[StartList],
        *,
        redis: Redis,
        keys: Keys,
        reader: str,
        offers: Offers,
        registry: Registry,
        site_cache: SiteCache,
        sites_dir: str,
        stats: StatsCollector,
    ) -> None:
        self._lists = lists
        self._stored = {start_list.key: StoredList(start_list, redis) for start_list in lists}
        self._redis: Any = redis  # redis-py's types allow text in answers; they are bytes
        self._keys = keys
        self._reader = reader
        self._offers = offers
        self._registry = registry
        self._site_cache = site_cache
        self._sites_dir = sites_dir
        self._stats = stats
        self._in_vain: Counter[str] = Counter()  # by list: rounds since one came to its entries
        self._blocked: dict[str, str] = {}  # by list: why its entries stay there
        self._unreported: dict[str, int] = {}  # by list: entries refused since that was last logged
        # By list: from when on they are logged again, by the event loop's clock.
        self._report_from: dict[str, float] = {}

    async def read(self) -> None:
        """Reads until cancelled, through every outage of Redis."""
        if self._lists:
            await until_redis_answers("start lists", self._read_on)

    async def close(self) -> None:
        """Lets another worker read at once. To be called when `read` has ended."""
        for start_list in self._lists:
            with contextlib.suppress(RedisError):
                if await self._redis.get(self._keys.start_list(start_list.key)) == self._reader.encode():
                    await self._redis.delete(self._keys.start_list(start_list.key))

    async def has_entries(self) -> bool:
        """Returns whether any list has entries which this worker, as far as it knows, or another one will read."""
        return any(
            [await self._is_filled(start_list) for start_list in self._lists if start_list.key not in self._blocked]
        )

    # -- Reading ------------------------------------------------------------------------------------------------------

    async def _read_on(self) -> None:
        while True:
            if not any([await self.read_round(start_list) for start_list in self._lists]):
                await asyncio.sleep(POLL_SECONDS)

    async def read_round(self, start_list: StartList) -> bool:
        """Takes the next entries of a list into the frontier; returns whether it has done something with any of them.

        Raises:
            redis.exceptions.RedisError: Redis is away, or full. What keeps this list alone from being read is logged.
        """
        try:
            has_read = await self._is_reader(start_list) and await self._read_some(start_list)
        except UnavailableError as error:  # it is tried again, unless the worker stops
            self._in_vain[start_list.key] += 1
            if self._in_vain[start_list.key] >= ROUNDS_IN_VAIN:
                self._note(start_list, str(error))
            return False
        except (HeadroomError, ResponseError) as error:
            if isinstance(error, ResponseError) and not (is_of_a_key(error) or refusal(error)):
                raise
            self._note(start_list, str(error))
            return False
        self._in_vain.pop(start_list.key, None)
        return has_read

    async def _read_some(self, start_list: StartList) -> bool:
        stored = self._stored[start_list.key]
        entries, taken_out = await stored.read()
        if not entries and not taken_out:
            self._note(start_list, "")
            return False
        await self._registry.admit_pages(start_list.plan)
        site = await self._site(start_list)
        seeds, refused = _sorted_out(start_list, entries, site)
        left_out = set((await self._offers.offer(seeds.values())).refused)
        offered = {entry for entry, seed in seeds.items() if seed not in left_out}
        await stored.remove(entry for entry in entries if entry in offered)
        self._stats.inc_value("start_lists/read", len(offered))
        written_down = await stored.keep(refused)
        await stored.remove(entry for entry in entries if entry in written_down)
        self._stats.inc_value("start_lists/refused", taken_out + sum(not is_cut(entry) for entry in written_down))
        if written_down:
            self._report(start_list, len(written_down), refused[written_down[0]])
        if left_out:
            self._note(start_list, f"plan {start_list.plan!r} was deleted while its pages were offered")
        elif len(written_down) < len(refused):
            self._note(
                start_list,
                f"{start_list.refused_key} holds {MAX_REFUSED:,} refused entries: delete those you have looked at",
            )
        else:
            self._note(start_list, "")
        return bool(offered or written_down or taken_out)

    async def _is_reader(self, start_list: StartList) -> bool:
        """Returns whether this worker is the one that reads a list now, and renews that."""
        lock = self._keys.start_list(start_list.key)
        if await even_when_full(self._redis, lock, "SET", self._reader, "NX", "PX", READER_LOCK_MILLISECONDS):
            return True
        if await self._redis.get(lock) != self._reader.encode():
            return False
        await self._redis.pexpire(lock, READER_LOCK_MILLISECONDS)
        return True

    async def _is_filled(self, start_list: StartList) -> bool:
        try:
            return bool(await self._redis.exists(start_list.key))
        except NoPermissionError:  # whoever reads it says so
            return False

    # -- What keeps entries back --------------------------------------------------------------------------------------

    async def _site(self, start_list: StartList) -> Site:
        """Returns the site that reads a list's pages; stores its definition if Redis has none.

        Raises:
            UnavailableError: Redis hasn't said yet what it is.
            SiteError: No file and no submitted plan defines it.
            InputError: Its file is wrong.
        """
        if not (await self._registry.versions([start_list.site]))[start_list.site]:
            await self._registry.save_sites((sites.load(start_list.site, self._sites_dir),))
        await self._site_cache.load({start_list.site})
        site = self._site_cache.get(start_list.site)
        if site is None:
            raise UnavailableError(f"site {start_list.site}: not read yet")
        return site

    def _report(self, start_list: StartList, number: int, why: str) -> None:
        """Logs how many entries were refused, and why one of them was; at most once in REPORT_SECONDS."""
        self._unreported[start_list.key] = self._unreported.get(start_list.key, 0) + number
        now = asyncio.get_running_loop().time()
        if now >= self._report_from.get(start_list.key, 0.0):
            self._report_from[start_list.key] = now + REPORT_SECONDS
            logger.warning(
                log_events.START_ENTRIES_REFUSED,
                start_list.key,
                self._unreported.pop(start_list.key),
                one_line(without_credentials(why)),
                start_list.refused_key,
            )

    def _note(self, start_list: StartList, why: str) -> None:
        """Logs that a list isn't read any more, and why, or that it is read again: each change once."""
        if why == self._blocked.get(start_list.key, ""):
            return
        if why:
            self._blocked[start_list.key] = why
            logger.warning(log_events.START_LIST_UNREAD, start_list.key, one_line(why))
        else:
            del self._blocked[start_list.key]
            logger.info(log_events.START_LIST_READ, start_list.key)


def _sorted_out(
    start_list: StartList, entries: Sequence[bytes], site: Site
) -> tuple[dict[bytes, Seed], dict[bytes, str]]:
    """Returns the entries that are seeds, and those that can't be, with the reason."""
    seeds: dict[bytes, Seed] = {}
    refused: dict[bytes, str] = {}
    for entry in entries:
        try:
            seeds[entry] = start_list.seed(entry, site)
        except (StartEntryError, UrlError) as error:
            refused[entry] = str(error)
    return seeds, refused
