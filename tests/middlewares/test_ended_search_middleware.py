"""A search page behind the end of its search is finished without a request."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured

from crawler.middlewares.ended_search import EndedSearchMiddleware
from crawler.worker.refused import RefusedError
from crawler.worker.worker import Worker


class Ended:
    """Searches that have all come to their end."""

    async def ended_before(self, _claimed):
        return True


async def test_a_page_behind_the_end_is_finished(recorded):
    with pytest.raises(RefusedError) as caught:
        await EndedSearchMiddleware(Ended()).process_request(recorded.request(is_page=True))
    assert caught.value.outcome == ("finish", "past-the-end")


async def test_its_robots_txt_follow_ups_of_a_page_that_was_read_and_requests_of_other_spiders_pass(recorded):
    middleware = EndedSearchMiddleware(Ended())
    await middleware.process_request(recorded.request(robots_bytes=0))
    await middleware.process_request(recorded.request("http://a.test/found"))
    await middleware.process_request(Request("http://a.test/"))


def test_workers_that_read_no_search_pages_do_without_it(monkeypatch):
    monkeypatch.setattr(Worker, "of", lambda _crawler: SimpleNamespace(frontier="content"))
    with pytest.raises(NotConfigured):
        EndedSearchMiddleware.from_crawler(None)
