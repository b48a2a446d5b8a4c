"""A robots.txt is asked for once, however the workers' steps fall."""

from __future__ import annotations

import errno
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest
from redis.asyncio import Redis
from samples import Stats, a_visit
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.base.errors import NodeError
from crawler.base.events import Events
from crawler.frontier.keys import Keys
from crawler.robots.finder import RobotsFinder
from crawler.worker.visits.outcomes import outcome_of_error
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import Purpose, RequestState
from crawler.worker.visits.visit import Lane


class BusyElsewhere:
    """A host whose robots.txt is on another one, which has no turn for the first three that ask for one."""

    def __init__(self, redis):
        self.asked = []
        self.refusals = 3
        crawler = get_crawler()
        crawler.engine, crawler.stats = SimpleNamespace(download_async=self.download), Stats()
        frontier, session = SimpleNamespace(keys=Keys("hr"), partitions=1), SimpleNamespace(name="A")
        config = SimpleNamespace(frontier=frontier)
        worker = SimpleNamespace(
            redis=redis,
            config=config,
            events=Events(),
            life=SimpleNamespace(session=session),
            turns=self,
            claiming=SimpleNamespace(queue=AsyncMock()),
        )
        self.finder = RobotsFinder(crawler, worker, "headroom", retry_s=60.0, max_delay_s=60.0, timeout_s=1.0)

    async def acquire_within(self, host, _site, _seconds):
        if self.refusals:
            self.refusals -= 1
            return None, 7.0
        return Lane(host, 2, 0, 0.0), 0.0

    def release(self, _lane):
        pass

    async def download(self, request):
        self.asked.append(request.url)
        if "//a.test" in request.url:
            return Response(request.url, 302, {"Location": "http://b.test/robots.txt"})
        return Response(request.url, body=b"User-agent: *\nDisallow: /private\n")

    async def find(self, visit):
        return await self.finder.find("http://a.test", "a.test", RequestState(Purpose(visit, visit.lane)))


@pytest.fixture
async def elsewhere(redis_url, monkeypatch):
    monkeypatch.setattr("crawler.robots.finder.OTHER_TURN_SECONDS", (0.0, 0.0))
    async with Redis.from_url(redis_url) as redis:
        yield BusyElsewhere(redis)


async def test_a_host_whose_file_is_on_a_busy_one_is_asked_once(elsewhere):
    for _ in range(3):
        with pytest.raises(RefusedError) as refused:
            await elsewhere.find(a_visit())
        assert (*refused.value.outcome, refused.value.wait_s) == ("postpone", "robots-elsewhere", 7.0)
    assert elsewhere.asked == ["http://a.test/robots.txt"]
    found = await elsewhere.find(a_visit())
    assert not found.rules.allows("http://a.test/private")
    assert elsewhere.asked == ["http://a.test/robots.txt", "http://b.test/robots.txt"]


async def test_what_a_started_page_needs_from_there_is_tried_again(elsewhere):
    visit = a_visit()
    visit.started = True
    with pytest.raises(RefusedError) as refused:
        await elsewhere.find(visit)
    assert refused.value.outcome == ("retry", "robots-elsewhere")


async def test_junk_in_place_of_where_it_has_moved_to_is_asked_for_again(elsewhere):
    elsewhere.refusals = 0
    await elsewhere.finder._shared._redis.set(Keys("hr").partition(0).robots_moved("http://a.test"), b"\xff" * 20_000)
    await elsewhere.find(a_visit())
    assert elsewhere.asked == ["http://a.test/robots.txt", "http://b.test/robots.txt"]


LOCAL = [NodeError("file descriptors"), OSError(errno.EMFILE, "too many"), MemoryError(), ZeroDivisionError("a bug")]


@pytest.mark.parametrize("error", LOCAL, ids=lambda error: type(error).__name__)
async def test_a_file_is_not_unreachable_by_a_fault_of_the_worker_that_asks(elsewhere, monkeypatch, error):
    monkeypatch.setattr(elsewhere.finder._crawler.engine, "download_async", AsyncMock(side_effect=error))
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- each has an outcome of its own
        await elsewhere.find(a_visit())
    assert outcome_of_error(caught.value).operation in ("release", "postpone")
    assert await elsewhere.finder._shared.read("http://a.test") is None
