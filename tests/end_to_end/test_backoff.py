"""A host that asks for rest gets it from the whole cluster; one that fails is asked ever less, and no other waits."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import quote

import pytest
from waiting import until

pytestmark = pytest.mark.faults
TOLERANCE_SECONDS = 0.05


def test_retry_after_holds_for_the_whole_host_whatever_asked(many_hosts, crawl):
    """Content, robots.txt, media on the page's host, media elsewhere, and nav: 2 s each, two consumers."""
    web = many_hosts(1, 6)
    content, robots, own, other, nav, owner = web.hosts
    busy = "/answer?status=503&retry=2"
    web.robots({robots: {"status": 429, "retry": "2"}})
    crawl.site(burst=2)
    crawl.site("searched", search=f"http://{nav}{busy}&q={{query}}&page={{page}}")
    crawl.submit(["searched"], ["one", "two"])
    crawl.offer(
        [
            f"http://{content}{busy}",
            f"http://{content}/answer?status=429&retry=2",
            f"http://{own}/page/busy?image={quote(busy)}",
            f"http://{owner}/page/busy?image=http://{other}{quote(busy)}",
            f"http://{robots}/page/0",
        ]
    )
    crawl.offer(f"http://{host}/page/{number}" for host in (content, own, other) for number in range(6))
    crawl.finish(consumers=2, producers=1, MAX_ATTEMPTS=2, ROBOTS_RETRY_SECONDS=0.1)
    for host in (content, robots, own, other, nav):
        hits = web.hits(host)
        rests = [hit for hit in hits if "retry=" in hit.target or (host == robots and hit.path == "/robots.txt")]
        assert rests, host
        assert len(hits) > 1, host
        for rest in rests:
            after = [hit.start - rest.end for hit in hits if hit.start > rest.end]
            assert not after or min(after) >= 2 - TOLERANCE_SECONDS, (host, rest)
    total = crawl.total()
    assert total["failures"] == {"http-503": 3, "http-429": 1, "robots-unreachable": 1}
    assert total["finished"] == 2 + 3 * 6


def test_a_failing_host_is_asked_ever_less_and_holds_up_nobody(many_hosts, crawl):
    web = many_hosts(1, 6)
    failing, *well = web.hosts
    crawl.site(concurrency=4, burst=5)
    crawl.offer(f"http://{failing}/answer?status=500&n={number}" for number in range(7))
    crawl.offer(f"http://{host}/page/{number}" for host in well for number in range(40))
    crawl.finish(consumers=2, MAX_ATTEMPTS=1)
    first, *hits = web.hits(failing)
    assert first.path == "/robots.txt"
    # One failure raises the level. What was under way by then may still arrive; after it, one at a time.
    alone = [hit for hit in hits if hit.start > hits[0].end + 0.5]
    pauses = [after.start - before.end for before, after in pairwise([hits[0], *alone])]
    assert len(pauses) >= 3
    for level, pause in enumerate(pauses, start=1):
        assert pause >= 2 ** (level - 1) - TOLERANCE_SECONDS
    others = [hit for hit in web.hits() if hit.host != failing]
    assert others[-1].start < hits[-1].start  # 200 pages, while the failing host had seven requests
    assert crawl.total()["failures"] == {"http-500": 7}
    assert crawl.total()["finished"] == 200


def test_a_host_whose_robots_txt_is_back_is_crawled_at_once(many_hosts, crawl):
    """Three failures in a row, then well: no seed fails meanwhile, and all are crawled as soon as that is known."""
    web = many_hosts(1, 1)
    (host,) = web.hosts
    web.robots({host: {"status": 503}})
    crawl.site(concurrency=2, burst=5)
    crawl.offer(f"http://{host}/page/{number}" for number in range(8))
    worker = crawl.worker(ROBOTS_RETRY_SECONDS=0.5, STOP_WHEN_DONE=1)
    until(lambda: len(web.hits(host)) >= 3, "three questions")
    web.robots({})
    assert worker.wait(60) == 0
    hits = web.hits(host)
    pauses = [after.start - before.start for before, after in pairwise(hits)]
    assert [hit.path for hit in hits[:4]] == ["/robots.txt"] * 4
    for pause, least in zip(pauses[:3], (0.5, 2, 2.5), strict=True):
        assert pause >= least - TOLERANCE_SECONDS, pauses
    assert pauses[3] < 1, pauses
    assert crawl.total()["finished"] == 8
