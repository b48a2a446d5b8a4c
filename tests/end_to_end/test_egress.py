"""A worker whose node has no way out to the web does the crawl of the others no harm."""

from __future__ import annotations

import socket

import pytest
from waiting import until

pytestmark = pytest.mark.faults
NO_PROXY = b"SSH-2.0-OpenSSH_9.6\r\n"  # of a server of another kind, where a proxy should be
PORTAL = b"HTTP/1.1 511 Network Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@pytest.fixture
def closed_port():
    """A port that refuses connections, and that nobody else gets."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield closed.getsockname()[1]


@pytest.mark.parametrize(
    ("hosts", "answer"),
    [(20, None), (1, NO_PROXY), (1, PORTAL)],
    ids=["no proxy listens", "no proxy", "captive portal"],
)
def test_a_node_without_a_way_out_fails_no_page_and_slows_nobody(many_hosts, serve, closed_port, crawl, hosts, answer):
    web = many_hosts(2, hosts)
    crawl.site(delay=0.05)
    crawl.offer(f"http://{host}/page/{number}" for host in web.hosts for number in range(30))
    port = serve(answer).port if answer else closed_port
    bad = crawl.worker(environment={"http_proxy": f"http://127.0.0.1:{port}"}, STOP_WHEN_DONE=1)
    until(lambda: any(worker["egress_down_s"] for worker in crawl.workers()), "the node's own word for it")
    assert crawl.workers()[0]["why_no_claims"] == "no host answers it"
    assert crawl.worker(STOP_WHEN_DONE=1).wait(60) == 0
    assert bad.wait(60) == 0
    total = crawl.total()
    assert (total["finished"], total["failed"]) == (60 * hosts, 0)
    assert b"frontier/retry" not in bad.log.read_bytes()
    assert len(web.hits()) <= 64 * hosts  # pages, robots.txt, and what the good one may have asked again


def test_a_single_node_whose_only_host_is_dead_fails_its_pages_in_the_end(closed_port, crawl):
    crawl.site()
    crawl.offer(f"http://127.0.0.1:{closed_port}/{number}" for number in range(20))
    crawl.finish(EGRESS_DOUBT_SECONDS=2, ROBOTS_RETRY_SECONDS=0.1)
    assert crawl.total()["failures"] == {"robots-unreachable": 20}
