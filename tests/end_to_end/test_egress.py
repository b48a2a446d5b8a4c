"""A worker whose node has no way out to the web does the crawl of the others no harm."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
import time

import pytest
from waiting import until

pytestmark = pytest.mark.faults
NO_PROXY = b"SSH-2.0-OpenSSH_9.6\r\n"  # of a server of another kind, where a proxy should be
PORTAL = b"HTTP/1.1 511 Network Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@contextlib.contextmanager
def answers_all(answer):
    """Gives one answer to every request; yields its port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(4_096)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture
def no_proxy_listens():
    """The environment of a node whose proxy refuses connections."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield {"http_proxy": f"http://127.0.0.1:{closed.getsockname()[1]}"}


def test_a_node_without_a_way_out_fails_no_page_and_slows_nobody(many_hosts, crawl, no_proxy_listens):
    web = many_hosts(2, 20)
    crawl.site(delay=0.05)
    pages = [f"http://{host}/page/{number}" for host in web.hosts for number in range(30)]
    crawl.offer(pages)
    bad = crawl.worker(environment=no_proxy_listens, STOP_WHEN_DONE=1)
    until(lambda: any(worker["egress_down_s"] for worker in crawl.workers()), "the node's own word for it")
    assert crawl.workers()[0]["why_no_claims"] == "no host answers it"
    began = time.monotonic()
    good = crawl.worker(STOP_WHEN_DONE=1)
    assert good.wait(60) == 0
    print(f"{time.monotonic() - began:.1f} s beside a node without a way out")
    assert bad.wait(60) == 0
    total = crawl.total()
    assert (total["finished"], total["failed"]) == (1_200, 0)
    assert b"frontier/retry" not in bad.log.read_bytes()
    assert len(web.hits()) <= 1_200 + 2 * 40  # pages, robots.txt, and what the good one may have asked again


def test_a_single_node_whose_only_host_is_dead_fails_its_pages_in_the_end(crawl):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        crawl.site()
        crawl.offer(f"http://127.0.0.1:{closed.getsockname()[1]}/{number}" for number in range(20))
        crawl.finish(EGRESS_DOUBT_SECONDS=2, ROBOTS_RETRY_SECONDS=0.1)
    assert crawl.total()["failures"] == {"robots-unreachable": 20}


@pytest.mark.parametrize("answer", [NO_PROXY, PORTAL], ids=["no proxy", "captive portal"])
def test_a_node_whose_proxy_answers_in_the_hosts_place_blames_none(many_hosts, crawl, answer):
    web = many_hosts(2, 1)
    crawl.site(delay=0.05)
    crawl.offer(f"http://{host}/page/{number}" for host in web.hosts for number in range(30))
    with answers_all(answer) as port:
        bad = crawl.worker(environment={"http_proxy": f"http://127.0.0.1:{port}"}, STOP_WHEN_DONE=1)
        until(lambda: any(worker["egress_down_s"] for worker in crawl.workers()), "the node's own word for it")
        assert crawl.worker(STOP_WHEN_DONE=1).wait(60) == 0
        assert bad.wait(60) == 0
    total = crawl.total()
    assert (total["finished"], total["failed"]) == (60, 0)
    assert b"frontier/retry" not in bad.log.read_bytes()
