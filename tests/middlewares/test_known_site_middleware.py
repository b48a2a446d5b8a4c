"""A page whose site nobody has defined is put off, before anything is sent for it."""

from __future__ import annotations

import pytest
from scrapy import Request

from crawler.middlewares.known_site import UNKNOWN_SITE_SECONDS, UNREAD_SITE_SECONDS, KnownSiteMiddleware
from crawler.worker.visits.refused import RefusedError


class Sites(dict):
    """Sites by name; what isn't among them is known to be missing, unless it is still being read."""

    reading = frozenset()

    def is_being_read(self, name):
        return name in self.reading


def test_a_page_of_an_unknown_site_is_tried_again_later(recorded):
    with pytest.raises(RefusedError) as caught:
        KnownSiteMiddleware(Sites()).process_request(recorded.request())
    assert caught.value.outcome == ("retry", "unknown-site")
    assert caught.value.wait_s == UNKNOWN_SITE_SECONDS


def test_a_page_whose_site_redis_has_not_told_yet_is_due_later_and_was_not_tried(recorded):
    sites = Sites()
    sites.reading = {"s"}
    with pytest.raises(RefusedError) as caught:
        KnownSiteMiddleware(sites).process_request(recorded.request())
    assert (caught.value.outcome, caught.value.wait_s) == (("postpone", "unread-site"), UNREAD_SITE_SECONDS)


def test_pages_of_known_sites_and_requests_of_other_spiders_pass(recorded):
    KnownSiteMiddleware(Sites(s=object())).process_request(recorded.request())
    KnownSiteMiddleware(Sites()).process_request(Request("http://a.test/"))
