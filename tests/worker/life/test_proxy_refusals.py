"""Which answers say that a proxy has made them."""

from __future__ import annotations

import pytest
from scrapy.http import Response

from crawler.worker.life.proxy_refusals import is_a_proxys


@pytest.mark.parametrize(("value", "is_made"), [("proxy; error=http_request_denied", True), ("cdn; fwd=miss", False)])
def test_a_proxy_says_that_it_has_made_an_answer(value, is_made):
    assert is_a_proxys(Response("http://a.test/", headers={"Proxy-Status": value})) == is_made
