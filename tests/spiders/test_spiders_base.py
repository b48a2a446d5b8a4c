"""What producer and consumer share."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import turbohtml
from samples import RecordedVisit, a_claim
from scrapy.settings import Settings

from crawler import extract
from crawler.base.models import Fetched
from crawler.sites import Site
from crawler.spiders.base import MAX_HOPS
from crawler.spiders.consumer import ConsumerSpider
from crawler.spiders.producer import ProducerSpider
from crawler.worker.visits.outcomes import OUT_OF_MEMORY, Outcome


@pytest.mark.parametrize(
    ("contact", "priority", "user_agent"),
    [
        ("https://a.test/crawler", "project", "headroom/0.1 (+https://a.test/crawler)"),
        ("", "project", "headroom/0.1"),
        ("https://a.test/crawler", "cmdline", "headroom/0.1"),  # the command line has the last word
    ],
)
@pytest.mark.parametrize("spider", [ConsumerSpider, ProducerSpider])
def test_the_contact_stands_in_the_user_agent(spider, contact, priority, user_agent):
    settings = Settings({"CONTACT": contact})
    settings.set("USER_AGENT", "headroom/0.1", priority)
    spider.update_settings(settings)
    assert settings["USER_AGENT"] == user_agent


@pytest.mark.parametrize("spider", [ConsumerSpider, ProducerSpider])
def test_the_scheduler_is_the_frontier_s_whatever_the_project_s_is(spider):
    settings = Settings()
    settings.setmodule("crawler.settings")
    assert settings["SCHEDULER"] == "scrapy.core.scheduler.Scheduler"
    settings.set("SCHEDULER", "scrapy_redis.scheduler.Scheduler", priority="project")
    spider.update_settings(settings)
    assert settings["SCHEDULER"] == "crawler.scheduler.Scheduler"


@pytest.mark.parametrize(
    ("depths_and_hops", "served"),
    [(((0, 0), (1, 0)), "0 p"), (((1, 0), (0, 0)), "0 q"), (((0, MAX_HOPS), (0, 0)), "0 q")],
)
async def test_a_plan_that_may_not_go_where_a_page_moved_is_left_to_a_visit_of_its_own(depths_and_hops, served):
    p, q = (
        replace(a_claim().seed, plan=plan, depth=d, hops=h) for plan, (d, h) in zip("pq", depths_and_hops, strict=True)
    )
    recorded = RecordedVisit(also=(q,))
    recorded.visit.seeds = (p, q)
    offered = []

    async def offer(seeds, _frontier, *, edition):
        assert edition == p.edition
        offered.extend(seeds)

    spider = ConsumerSpider()
    claiming = SimpleNamespace(sites={"s": Site(name="s")}, offers=SimpleNamespace(offer=offer))
    spider.worker = SimpleNamespace(claiming=claiming)
    await spider._redirected(recorded.response(status=302, location="http://b.test/"), recorded.visit)
    recorded.end_callback()
    assert recorded.settlements[0].served == served
    assert [seed.plan for seed in offered] == [served[-1]]


@pytest.mark.parametrize(
    ("location", "hops", "depth", "reason"),
    [
        ("", 0, 0, "bad-redirect"),
        ("http://[", 0, 0, "bad-redirect"),
        ("http://b.test/", 0, 1, "out-of-scope"),
        ("http://b.test/", MAX_HOPS, 0, "too-many-redirects"),
    ],
)
async def test_whoever_reads_on_behind_a_page_is_told_that_its_redirect_was_bad(location, hops, depth, reason):
    """As a search is, which has its next page asked for."""
    recorded = RecordedVisit()
    recorded.visit.seeds = (replace(a_claim().seed, hops=hops, depth=depth),)
    spider = ProducerSpider()
    spider.worker = SimpleNamespace(claiming=SimpleNamespace(sites={"s": Site(name="s")}))
    given_up = []
    spider.given_up = given_up.append
    await spider._redirected(recorded.response(status=302, location=location), recorded.visit)
    recorded.end_callback()
    assert given_up == [recorded.visit]
    assert recorded.outcomes == [Outcome("fail", reason)]


async def test_a_page_that_is_read_without_memory_is_handed_back(caplog):
    recorded = RecordedVisit()

    async def read(*_):
        raise MemoryError

    spider = ConsumerSpider()
    spider.worker = SimpleNamespace(claiming=SimpleNamespace(sites={"s": Site(name="s")}))
    spider.read = read
    assert [item async for item in spider.parse(recorded.response())] == []
    recorded.end_callback()
    assert recorded.outcomes == [OUT_OF_MEMORY]
    assert "no memory left to read http://a.test/" in caplog.text


def test_a_library_without_memory_says_nothing_of_the_page(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(turbohtml, "parse", fail)
    page = Fetched("http://a.test/", 200, "text/html", b"<p>some words</p>")
    with pytest.raises(MemoryError):
        extract.fields(page, Site(name="s"))
