"""A site's definition serves until the one that takes its place is there."""

from __future__ import annotations

import asyncio

import pytest
from redis.exceptions import RedisError

from crawler import sites
from crawler.base.errors import FrontierError
from crawler.base.events import Events
from crawler.base.log_events import SITE_UNKNOWN, event_of
from crawler.worker.definitions.definition_cache import WAIT_SECONDS
from crawler.worker.definitions.site_cache import SiteCache
from crawler.worker.life.wakeups import SitesChanged

OLD, NEW = (sites.load("mediawiki").named("s", base) for base in ("https://old.test", "https://new.test"))


class Stored:
    """What Redis answers for any name, each time that it is asked: a site, or an error to raise."""

    def __init__(self):
        self.answers = []
        self.asked = 0
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.was_asked = asyncio.Event()

    async def sites(self, names):
        self.asked += 1
        self.was_asked.set()
        await self.goes_on.wait()
        answers = {name: self.answers.pop(0) for name in names}
        if error := next((answer for answer in answers.values() if isinstance(answer, RedisError)), None):
            raise error
        return answers


@pytest.fixture
async def stored():
    return Stored()


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def cache(stored, events):
    return SiteCache(stored, events)


async def test_a_definition_is_read_once_and_again_after_a_change(cache, stored, events):
    stored.answers = [OLD, NEW]
    await cache.load({"s"})
    await cache.load({"s"})
    assert (cache.get("s"), stored.asked) == (OLD, 1)
    events.publish(SitesChanged())
    assert cache.get("s") is OLD
    await cache.load({"s"})
    assert (cache.get("s"), stored.asked) == (NEW, 2)


async def test_a_change_while_it_is_read_has_it_read_again(cache, stored, events):
    stored.answers = [OLD, NEW]
    stored.goes_on.clear()
    loading = asyncio.create_task(cache.load({"s"}))
    await stored.was_asked.wait()
    events.publish(SitesChanged())
    stored.goes_on.set()
    await loading
    assert cache.get("s") is NEW


async def test_a_new_definition_that_is_damaged_or_gone_leaves_the_old_one_and_says_so(cache, stored, events, caplog):
    stored.answers = [OLD, FrontierError("the definition of site 's' in Redis is damaged")]
    await cache.load({"s"})
    events.publish(SitesChanged())
    await cache.load({"s"})
    await cache.load({"s"})
    assert (cache.get("s"), stored.asked) == (OLD, 2)
    assert caplog.messages == ["the definition of site 's' in Redis is damaged; the earlier definition stays in use"]


async def test_redis_that_is_away_holds_up_nobody_for_long(cache, stored, events, clock):
    stored.answers = [OLD]
    await cache.load({"known"})
    events.publish(SitesChanged())
    stored.goes_on.clear()
    loading = asyncio.create_task(cache.load({"known", "new"}))
    await clock.advance(0)
    await clock.advance(WAIT_SECONDS)
    await loading
    await cache.load({"known", "new", "another"})  # waits for none: the first is late
    assert cache.get("known") is OLD
    assert cache.get("new") is None
    assert cache.is_being_read("new")
    stored.answers = [NEW, NEW, NEW]
    stored.goes_on.set()
    await cache.load({"known", "new", "another"})
    await asyncio.sleep(0)
    assert cache.get("known") is cache.get("new") is NEW
    assert not cache.is_being_read("new")


async def test_a_worker_that_ends_reads_no_more(cache, stored, clock):
    stored.goes_on.clear()
    loading = asyncio.create_task(cache.load({"s"}))
    await clock.advance(0)
    await clock.advance(WAIT_SECONDS)
    await loading
    await cache.close()
    assert not cache.is_being_read("s")


async def test_a_site_that_redis_does_not_have_is_asked_for_each_time(cache, stored, caplog):
    stored.answers = [FrontierError("Redis has no definition of site 's'"), OLD]
    await cache.load({"s"})
    assert cache.get("s") is None
    assert [event_of(record.msg) for record in caplog.records] == [SITE_UNKNOWN]
    await cache.load({"s"})
    assert cache.get("s") is OLD
