"""What one host sets as its cookies, another never hears."""

from __future__ import annotations

import pytest
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_cases import FINISH
from hostile.hostile_wire_worker import Worker, hosts

pytestmark = pytest.mark.faults  # a crawl for each case


def test_a_site_s_cookies_are_its_own(fork_server, redis_server, tmp_path):
    cookies = b"Set-Cookie: own=secret\r\nSet-Cookie: wide=secret; Domain=%b\r\nSet-Cookie: all=secret; Domain=."
    steps = {}
    with (
        hosts({"script": lambda _path: [answer()], "address": "127.0.0.2"}, (lambda path: [steps[path]],)) as servers,
        Worker(fork_server, redis_server, tmp_path, {"COOKIES_ENABLED": 1}) as worker,
    ):
        there, here = servers
        steps["/page"] = answer(b"", b"Location: /in", cookies % there.address.encode(), status=b"302 Found")
        steps["/in"] = answer(b"", b"Location: " + there.page.encode(), status=b"302 Found")
        assert worker.outcomes([here.page]) == {here.page: FINISH}
        assert [item["url"] for item in worker.items()] == [there.page]
    assert [one.path for one in here.pages()] == ["/page", "/in"]
    assert b"own=secret" in here.pages()[1].head
    for one in there.asked:
        assert b"secret" not in one.head
        assert b"\r\nCookie:" not in one.head
        assert b"Authorization" not in one.head
