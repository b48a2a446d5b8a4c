"""However a page ends that another one has named as the page to index: without an item, that one is crawled again."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from frontier.driver import content
from samples import a_claim

from crawler.base.errors import UnavailableError
from crawler.base.events import Events
from crawler.frontier.settlement import Settlement
from crawler.worker.claiming.naming_pages import NamingPages
from crawler.worker.visits.visit import VisitEnded

MAX_ATTEMPTS = 3
NAMING = "http://a.test/naming"


class Crawls:
    """What plans say; offers are noted, and refused while Redis is away."""

    def __init__(self):
        self.asked, self.settled, self.is_away = [], [], False
        self.naming_pages = NamingPages(self, self, self.settled.append, MAX_ATTEMPTS, Events())

    async def of(self, _seed):
        return SimpleNamespace(moved=lambda seed, url: replace(seed, url=url))

    async def ask(self, seed, *, again):
        assert again
        assert not self.settled  # should the worker die now, another visit comes here again
        if self.is_away:
            raise UnavailableError("Redis is away")
        self.asked.append(seed)

    async def end(self, settlement, named_by=NAMING):
        seed = replace(content(1), named_by=named_by, hops=2, stands_for=named_by)
        self.naming_pages.settle(VisitEnded(SimpleNamespace(seeds=(seed,)), settlement))
        await self.naming_pages.close()
        (settled,) = self.settled
        return settled


@pytest.mark.parametrize(
    ("operation", "reason", "tries", "comes_back"),
    [
        ("fail", "refused-by-kafka", 0, True),
        ("fail", "crashed-worker", 0, True),
        ("retry", "robots-unreachable", MAX_ATTEMPTS - 1, True),
        ("retry", "robots-unreachable", 0, False),
        ("finish", "list-page", 0, True),
        ("finish", "", 0, False),
        ("release", "stopped", 0, False),
    ],
)
async def test_the_naming_page_comes_back_before_the_end_of_one_without_an_item(operation, reason, tries, comes_back):
    crawls, settlement = Crawls(), Settlement(operation, replace(a_claim(), tries=tries), reason=reason)
    assert await crawls.end(settlement) is settlement
    came = [(seed.url, seed.named_by, seed.hops, seed.stands_for) for seed in crawls.asked]
    assert came == [(NAMING, NAMING, 0, "")] * comes_back


@pytest.mark.parametrize("named_by", ["", content(1).url])
async def test_a_page_that_none_has_named_or_that_is_taken_as_it_is_ends_at_once(named_by):
    crawls = Crawls()
    await crawls.end(Settlement("fail", a_claim(), reason="dns"), named_by)
    assert crawls.asked == []


async def test_the_page_is_left_to_another_visit_where_redis_is_away_as_the_worker_stops():
    crawls = Crawls()
    crawls.is_away = True
    settled = await crawls.end(Settlement("fail", a_claim(), reason="dns"))
    assert (settled.operation, settled.reason) == ("release", "unavailable")
