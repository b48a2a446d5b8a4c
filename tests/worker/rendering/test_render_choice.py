"""Which pages of sites that leave it to the crawl a browser renders, on a real Redis."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from crawler import sites
from crawler.base.events import Events
from crawler.frontier.keys import Keys
from crawler.frontier.render_verdicts import RenderVerdicts
from crawler.worker.rendering import render_choice
from crawler.worker.rendering.render_choice import PAGES_OF_VERDICT, RenderChoice

URL = "https://a.test/1"
NEVER = 1_000_000.0


def site(title="h1", name="s"):
    return sites.parse(f"name: {name}\ncontent: {{title: 'css:{title}'}}\nrender: {{content: auto}}", f"{name}.yaml")


SITE = site()


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def worker(redis, monkeypatch):
    """Makes what one worker knows; it asks what others have found at once."""
    monkeypatch.setattr(render_choice, "REFRESH_SECONDS", 0)
    return lambda look_again_s=NEVER: RenderChoice(RenderVerdicts(redis, Keys("hr")), look_again_s, Events())


async def exchanged(choice):
    """Waits until a worker has exchanged what it knows."""
    choice.needs_browser(SITE, "content")
    await choice._exchanging


async def test_a_page_that_rendering_helps_has_the_others_rendered_by_all_workers(worker, redis):
    here, there = worker(), worker()
    assert here.reads_plain(SITE, "content")
    assert here.may_render(SITE, "content", is_empty=False)
    here.note_rendered(SITE, "content", URL, ["title", "author"], ["title"])
    await exchanged(here)
    await exchanged(there)
    assert here.needs_browser(SITE, "content")
    assert there.needs_browser(SITE, "content")
    assert not there.reads_plain(SITE, "content")
    assert there.reads_plain(SITE, "nav")
    verdict = (await RenderVerdicts(redis, Keys("hr")).all())["s", "content"]
    assert (verdict.url, verdict.lacked, verdict.brought) == (URL, ("title", "author"), ("title",))


@pytest.mark.parametrize("lacked", [(), ("title",)])
async def test_several_pages_that_rendering_does_not_help_are_enough(worker, lacked):
    choice = worker()
    for number in range(PAGES_OF_VERDICT):
        assert choice.may_render(SITE, "content", is_empty=False), number
        if lacked:
            choice.note_rendered(SITE, "content", URL, lacked, ())
        else:
            choice.note_whole(SITE, "content", URL)
    assert choice.needs_none(SITE, "content")
    assert not choice.may_render(SITE, "content", is_empty=False)
    assert choice.may_render(SITE, "content", is_empty=True)  # no page is lost by a verdict


async def test_a_verdict_is_looked_at_again(worker):
    choice = worker(look_again_s=0)
    choice.note_rendered(SITE, "content", URL, ["title"], ["title"])
    for _ in range(PAGES_OF_VERDICT):
        assert choice.reads_plain(SITE, "content")
        choice.note_whole(SITE, "content", URL)
    assert choice.needs_none(SITE, "content")
    assert choice.may_render(SITE, "content", is_empty=False)
    choice.note_rendered(SITE, "content", URL, ["title"], ["title"])
    assert choice.needs_browser(SITE, "content")


async def test_a_changed_definition_is_judged_anew_and_the_same_one_is_not(worker):
    choice = worker()
    choice.note_rendered(SITE, "content", URL, ["title"], ["title"])
    await exchanged(choice)
    assert choice.needs_browser(site(), "content")
    assert not choice.needs_browser(site("h2"), "content")
    assert choice.reads_plain(site("h2"), "content")
    assert not worker().needs_browser(SITE, "nav")


async def test_without_a_browser_pages_are_left_to_others_until_it_is_known_that_they_need_none(worker):
    choice = worker()
    choice.leave_to_others(SITE, "content", 60)
    assert choice.needs_browser(SITE, "content")
    for _ in range(PAGES_OF_VERDICT):
        choice.note_whole(SITE, "content", URL)
    assert not choice.needs_browser(SITE, "content")


async def test_a_worker_goes_by_what_it_knows_while_redis_is_away(monkeypatch):
    monkeypatch.setattr(render_choice, "REFRESH_SECONDS", 0)
    async with Redis(host="127.0.0.1", port=1) as redis:
        choice = RenderChoice(RenderVerdicts(redis, Keys("hr")), NEVER, Events())
        choice.note_rendered(SITE, "content", URL, ["title"], ["title"])
        await exchanged(choice)
        assert choice.needs_browser(SITE, "content")
        await choice.close()


async def test_damaged_verdicts_are_passed_by(worker, redis):
    await redis.hset(
        Keys("hr").render_verdicts, mapping={"s content": b'{"needs_browser": 1}', "x": b"\xff", "": b"[]"}
    )
    choice = worker()
    await exchanged(choice)
    assert not choice.needs_browser(SITE, "content")


class _Slow(RenderVerdicts):
    """Verdicts whose readers are told of, and wait."""

    def __init__(self, redis):
        super().__init__(redis, Keys("hr"))
        self.reading, self.may_read = asyncio.Event(), asyncio.Event()

    async def all(self):
        self.reading.set()
        await self.may_read.wait()
        return await super().all()


async def test_what_is_decided_during_an_exchange_is_told_by_it(redis, monkeypatch):
    monkeypatch.setattr(render_choice, "REFRESH_SECONDS", NEVER)  # so that no other exchange follows
    verdicts = _Slow(redis)
    choice = RenderChoice(verdicts, NEVER, Events())
    choice.note_rendered(SITE, "content", URL, ["title"], ["title"])
    await verdicts.reading.wait()
    choice.note_rendered(SITE, "nav", URL, ["results"], ["results"])
    verdicts.may_read.set()
    await choice._exchanging
    assert set(await RenderVerdicts(redis, Keys("hr")).all()) == {("s", "content"), ("s", "nav")}
