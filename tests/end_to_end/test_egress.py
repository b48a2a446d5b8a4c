"""A worker whose node has no way out to the web does the crawl of the others no harm."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from functools import partial

import pytest
from waiting import until

pytestmark = pytest.mark.faults
NO_PROXY = b"SSH-2.0-OpenSSH_9.6\r\n"  # of a server of another kind, where a proxy should be
PORTAL = b"HTTP/1.1 511 Network Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@contextlib.contextmanager
def answering(answer):
    """Gives a port where every request gets one answer."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(4_096)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@contextlib.contextmanager
def refusing():
    """Gives a port that refuses connections, and that nobody else gets."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield closed.getsockname()[1]


@pytest.mark.parametrize(
    ("hosts", "proxy"),
    [(20, refusing), (1, partial(answering, NO_PROXY)), (1, partial(answering, PORTAL))],
    ids=["no proxy listens", "no proxy", "captive portal"],
)
def test_a_node_without_a_way_out_fails_no_page_and_slows_nobody(many_hosts, crawl, hosts, proxy):
    web = many_hosts(2, hosts)
    crawl.site(delay=0.05)
    crawl.offer(f"http://{host}/page/{number}" for host in web.hosts for number in range(30))
    with proxy() as port:
        bad = crawl.worker(environment={"http_proxy": f"http://127.0.0.1:{port}"}, STOP_WHEN_DONE=1)
        until(lambda: any(worker["egress_down_s"] for worker in crawl.workers()), "the node's own word for it")
        assert crawl.workers()[0]["why_no_claims"] == "no host answers it"
        assert crawl.worker(STOP_WHEN_DONE=1).wait(60) == 0
        assert bad.wait(60) == 0
    total = crawl.total()
    assert (total["finished"], total["failed"]) == (60 * hosts, 0)
    assert b"frontier/retry" not in bad.log.read_bytes()
    assert len(web.hits()) <= 64 * hosts  # pages, robots.txt, and what the good one may have asked again


def test_a_single_node_whose_only_host_is_dead_fails_its_pages_in_the_end(crawl):
    with refusing() as port:
        crawl.site()
        crawl.offer(f"http://127.0.0.1:{port}/{number}" for number in range(20))
        crawl.finish(EGRESS_DOUBT_SECONDS=2, ROBOTS_RETRY_SECONDS=0.1)
    assert crawl.total()["failures"] == {"robots-unreachable": 20}
