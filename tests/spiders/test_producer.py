"""What search pages lead to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from frontier.conftest import frontier, redis  # noqa: F401 -- fixtures
from frontier.driver import ends, turns
from samples import Stats

from crawler import sites
from crawler.base.models import Fetched, Seed
from crawler.frontier.keys import Keys
from crawler.plans.plan_record import PlanRecord
from crawler.plans.registry import Registry
from crawler.spiders.producer import ProducerSpider
from crawler.worker.offers.offers import Offered
from crawler.worker.offers.search_progress import SearchProgress

SITE = sites.parse(
    """
name: s
base: http://a.test
search: {url: "{base}/find?q={query}&after={cursor}", paging: {kind: cursor}}
results: {type: json, links: "json:items[].url", next: "json:next"}
""",
    "s.yaml",
)
HOUR = 3_600
PAGES = {1: b'{"items": [{"url": "http://b.test/%d1"}], "next": "c"}', 2: b'{"items": [{"url": "http://b.test/%d2"}]}'}


@pytest.fixture
def redis_settings(redis_url):
    return {"REDIS_URL": redis_url}


class Producer:
    """Reads what is ready, page after page; each time the pages have other results."""

    def __init__(self, driver):
        self.frontier = driver
        self.number = 0
        self.spider = ProducerSpider()
        self.spider.max_links = 100
        self.spider.crawler = SimpleNamespace(stats=Stats())
        self.brought = []
        tally = SimpleNamespace(searched=lambda seed, found, new: self.brought.append((seed.page, found, new)))
        claiming = SimpleNamespace(offers=self, searches=SearchProgress(driver.redis, Keys("hr")), search_wishes=self)
        self.spider.worker = SimpleNamespace(claiming=claiming, reports=SimpleNamespace(tally=tally))

    async def offer(self, seeds, kind="content", **of):
        return Offered(sum(await self.frontier.queues[kind].offer(seeds, **of)), ())

    async def of(self, _seed):
        """Its plan wants nothing of its searches."""

    async def refuse(self, seed, reason, number):
        await self.frontier.queues[seed.frontier].refuse(seed, reason, number)

    async def read(self, claimed):
        page = Fetched(claimed.seed.url, 200, "application/json", PAGES[claimed.seed.page] % self.number)
        visit = SimpleNamespace(claimed=claimed, seed=claimed.seed, end_fetch=lambda: None)
        await self.spider.read(page, visit, SITE)

    async def read_all(self):
        """Reads all pages that are ready; returns their numbers."""
        self.number += 1
        read = []
        while claimed := (await self.frontier.claim(frontier="nav")).seeds:
            for one in claimed:
                await self.read(one)
                read.append(one.seed.page)
            await self.frontier.settle("A", ends(claimed), turns(claimed), "nav")
        return read


@pytest.fixture
async def producer(frontier):  # noqa: F811
    return Producer(frontier)


def first_page(interval_s):
    [target] = SITE.search_targets(("flood",), pages=1, per_page=10, sort="newest")
    return Seed(target.url, "p", "s", "nav", ("flood",), edition=1, more=1, interval_s=interval_s)


async def test_each_run_of_a_scheduled_search_reads_its_further_pages_anew(frontier, producer):  # noqa: F811
    seed, hour_ms = first_page(HOUR), HOUR * 1000
    hour_began_ms = await frontier.now_ms() // hour_ms * hour_ms
    await frontier.offer(seed, due_ms=hour_began_ms - 1)
    assert await producer.read_all() == [1, 2]
    for name, member in (("ready:a.test", seed.fingerprint), ("hosts", "a.test")):  # it is due an hour after that
        assert await frontier.redis.zadd(frontier.key(name, "nav"), {member: hour_began_ms}, xx=True, ch=True) == 1
    assert await producer.read_all() == [1, 2]
    assert (await frontier.totals()).offered == 4
    assert await frontier.problems() == []


async def test_a_search_that_is_not_scheduled_is_read_once(frontier, producer):  # noqa: F811
    await frontier.offer(first_page(0))
    assert await producer.read_all() == [1, 2]
    assert producer.brought == [(1, 1, 1), (2, 1, 1)]
    await producer.offer([first_page(0)], "nav")
    assert await producer.read_all() == []


@pytest.mark.parametrize("edition", [1, 2])
async def test_what_a_page_of_a_replaced_edition_leads_to_is_dropped(frontier, producer, edition):  # noqa: F811
    await frontier.offer(first_page(0))
    [held] = (await frontier.claim(frontier="nav")).seeds
    record = PlanRecord("p", {}, ["s"], edition, nav_seeds=1).decided("active", 1)
    await Registry(frontier.redis, frontier.keys, 1).tell_partitions(record)
    await producer.read(held)
    accounts = [await frontier.account(frontier=name) for name in ("nav", "content")]
    assert [one.offered for one in accounts] == ([2, 1] if edition == 1 else [1, 0])
    assert [one.notes for one in accounts] == ([{}, {}] if edition == 1 else [{"replaced": 1}, {"replaced": 1}])
    assert await frontier.problems() == []


async def test_results_that_only_a_script_can_open_are_counted(frontier, producer, monkeypatch):  # noqa: F811
    monkeypatch.setitem(PAGES, 1, b'{"items": [{"url": "http://b.test/#/%d1"}, {"url": "http://b.test/#!2"}]}')
    await frontier.offer(first_page(0))
    assert await producer.read_all() == [1]
    account = await frontier.account(plan="p", site="s")
    assert (account.offered, account.as_dict()["notes"]) == (0, {"script-route": 2})
