"""Workers ask what plans say of links: once an edition, and of plans alone that have a word of their own."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from crawler import plans, sites
from crawler.base.errors import PlanError, UnavailableError
from crawler.base.events import Events
from crawler.base.models import Seed
from crawler.extract import Links
from crawler.plans.plan_follow import PlanFollow
from crawler.plans.plan_record import PlanRecord
from crawler.scope.scorers import LinkScore
from crawler.sites import load
from crawler.worker.definitions.plan_cache import PlanCache
from crawler.worker.definitions.plan_crawl import PlanCrawls
from crawler.worker.definitions.site_cache import SiteCache
from crawler.worker.life.wakeups import PlansChanged

PLAN = """
name: city
start: [https://a.test/]
schedule: every 1h
follow: {depth: 3, list: [/page/], list_types: [listing]}
sites: [any, {use: mediawiki, name: wiki, base: "https://w.test", hosts: [w.a.test]}]
"""
FRONT = Seed("https://a.test/", "city", "web", keywords=("flood",), row='{"a":"b"}', general=True)


class Stored:
    """What Redis has of the plan and its sites."""

    def __init__(self):
        plan = plans.parse(PLAN, "city.yaml", max_seeds=1)
        self.by_name = {site.name: site for site in plan.sites}
        self.record = PlanRecord("city", plan.definition(), list(self.by_name), 1, 0)
        self.asked = 0

    async def records(self, names):
        self.asked += 1
        return {name: self.record or PlanError("it was deleted") for name in names}

    async def sites(self, names):
        return {name: self.by_name[name] for name in names}


@pytest.fixture
async def stored():
    return Stored()


@pytest.fixture
async def events():
    return Events()


@pytest.fixture
async def crawls(stored, events):
    return PlanCrawls(PlanCache(stored, events), SiteCache(stored, events), {})


async def test_other_plans_cost_no_call_and_these_one(crawls, stored):
    await crawls.load([replace(FRONT, general=False)])
    assert stored.asked == 0
    with pytest.raises(UnavailableError, match="plan city can't be had"):
        crawls.get(FRONT)
    await crawls.load([FRONT, FRONT])
    assert crawls.get(FRONT) is await crawls.of(FRONT)
    assert stored.asked == 1


async def test_a_replaced_plan_says_something_else_and_a_deleted_one_nothing(crawls, stored, events):
    first = await crawls.of(FRONT)
    definition = stored.record.definition | {"follow": {"depth": 7}}
    stored.record = replace(stored.record, definition=definition, edition=2)
    assert await crawls.of(FRONT) is first
    events.publish(PlansChanged())
    assert (await crawls.of(FRONT)).follow.depth == 7
    stored.record = replace(stored.record, definition={"name": "city"}, edition=3)  # as another version may write it
    events.publish(PlansChanged())
    with pytest.raises(UnavailableError, match="what plan city says of links"):
        await crawls.of(FRONT)


async def test_a_link_is_one_step_further_and_read_by_the_site_of_its_host(crawls):
    crawl = await crawls.of(FRONT)
    linked = crawl.linked(FRONT, "https://a.test/1")
    assert linked == replace(FRONT, url="https://a.test/1", depth=1, row="")
    assert crawl.linked(FRONT, "https://w.a.test/Main").site == "wiki"
    listed = crawl.linked(FRONT, "https://a.test/page/2")
    assert (listed.interval_s, crawl.makes_item(listed, listed.url)) == (3_600, False)
    assert crawl.makes_item(linked, linked.url)
    assert not crawl.makes_item(linked, "https://a.test/page/2")  # to which it has redirected


async def test_a_list_is_told_by_the_type_that_reading_tells_of_its_page(crawls):
    crawl, site = await crawls.of(FRONT), sites.parse("{name: s, follow: {list_types: [forum]}}", "s.yaml")
    linked = crawl.linked(FRONT, "https://a.test/1")
    assert (crawl.makes_item(linked, linked.url, "listing"), crawl.makes_item(linked, linked.url, "forum")) == (
        False,
        True,
    )
    assert crawl.next_visit(linked, "listing", load("web")) == replace(linked, interval_s=3_600)
    assert crawl.next_visit(linked, "forum", site) == replace(linked, interval_s=3_600)
    assert crawl.next_visit(linked, "forum", load("web")) is None
    assert crawl.next_visit(replace(linked, interval_s=60), "listing", load("web")) is None
    detail = PlanFollow(list_types=("listing",), detail=("/article/",))
    assert not detail.only_leads_on("https://a.test/article/1", "listing")


async def test_a_result_is_read_by_the_site_that_has_its_host_as_a_link_there_is(crawls):
    crawl = await crawls.of(FRONT)
    result = replace(FRONT, url="https://w.a.test/Main")
    found = crawl.found(result)
    assert (found.site, found.row) == ("wiki", "")
    assert found.fingerprint == crawl.linked(FRONT, "https://w.a.test/Main").fingerprint != result.fingerprint
    elsewhere = replace(result, url="https://elsewhere.test/1")
    assert crawl.found(elsewhere) == elsewhere


@pytest.mark.parametrize(
    ("canonical_url", "named_by", "expected"),
    [
        (None, "", None),
        ("https://a.test/1", "", None),
        ("https://a.test/2?utm_source=x", "", None),  # where it was found
        ("https://a.test/whole", "", "https://a.test/whole"),
        ("https://a.test/whole", "https://a.test/3", None),  # what another page names is taken as it is
        ("https://elsewhere.test/1", "", None),
        ("https://", "", None),
    ],
)
async def test_a_page_may_name_another_one_of_the_plan(crawls, canonical_url, named_by, expected):
    crawl = await crawls.of(FRONT)
    page = replace(FRONT, url="https://a.test/1", depth=1, named_by=named_by)
    named = crawl.canonical_page(page, canonical_url, "https://a.test/2", load("web"))
    assert (named and (named.url, named.depth, named.named_by)) == (expected and (expected, 1, page.url))


async def test_a_page_may_name_what_has_led_to_it_and_is_itself_the_one_to_index(crawls):
    crawl = await crawls.of(FRONT)
    page = replace(FRONT, url="https://a.test/1", hops=1, stands_for="https://a.test/old")
    assert crawl.canonical_page(page, "https://a.test/old", page.url, load("web")) is None
    assert crawl.canonical_page(page, "https://a.test/other", page.url, load("web")) is not None


@pytest.mark.parametrize(
    "scores",
    [
        [LinkScore(float("nan"))],
        [LinkScore(10)],
        [LinkScore(priority=True)],
        [LinkScore(5, "x" * 101)],
        [LinkScore(5, None)],
        [],
        None,
    ],
)
async def test_no_link_is_lost_by_a_scorer_that_gives_no_scores(crawls, caplog, scores):
    crawl = await crawls.of(FRONT)
    crawl.scorer = SimpleNamespace(scores=lambda _links, _page: scores)
    (seed,) = crawl.scored(FRONT, Links(("https://a.test/1",)), "")
    assert (seed.priority, seed.why, Seed.load(seed.dump(), "content")) == (5, "", seed)
    assert "links of plan city have its priority" in caplog.text
