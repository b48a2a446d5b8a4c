"""Hosts that need each other, one request at a time each: nobody waits for ever."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import quote

import pytest

PAGES = 6


@pytest.mark.faults
def test_hosts_that_need_each_other_all_finish(many_hosts, crawl):
    """Media on each other, on their own host and on a third, redirects to and fro, robots.txt in circles."""
    web = many_hosts(1, 5)
    one, other, third, *circle = web.hosts
    web.robots(
        {
            one: {"to": f"http://{other}/r.txt"},
            other: {"to": f"http://{one}/robots.txt"},  # in a circle: there are no rules
            circle[0]: {"to": f"http://{circle[1]}/r.txt"},
            circle[1]: {"to": f"http://{circle[0]}/r.txt"},
        }
    )
    crawl.site(delay=0.02, burst=4)
    urls = []
    for here, there in ((one, other), (other, one), (third, one), (circle[0], circle[1]), (circle[1], circle[0])):
        for n in range(PAGES):
            own, elsewhere = quote(f"/image/{n}"), f"http://{there}/image/of-{here[-5:]}-{n}"
            urls += [
                f"http://{here}/page/{n}?image={own}&image={elsewhere}&image=http://{third}/image/{n}",
                f"http://{here}/go?to={quote(f'http://{there}/page/from-{here[-5:]}-{n}?image={own}')}",
                f"http://{here}/go?to={quote(f'/page/moved-{n}?image={elsewhere}')}",
            ]
    crawl.offer(urls)
    crawl.finish(consumers=2)
    total = crawl.total()
    assert total["failures"] == {}
    assert total["finished"] == len(urls) + 2 * 5 * PAGES  # the redirects, and where they lead
    for host in web.hosts:
        assert all(after.start >= before.end for before, after in pairwise(web.hits(host)))
