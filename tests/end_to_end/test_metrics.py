"""A worker that runs serves its metrics."""

from __future__ import annotations

import urllib.error
import urllib.request

from waiting import PATIENCE_SECONDS, until

from testbed.servers.process import free_port

TOKEN = "0123456789abcdef"


def test_a_worker_serves_its_metrics_to_who_has_the_token(crawl):
    port = free_port()
    worker = crawl.worker(environment={"METRICS_TOKEN": TOKEN, "METRICS_PORT": str(port)})

    def read():
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            return ""

    text = until(read, "the worker's metrics")
    assert 'headroom_worker_info{version="' in text
    assert "\nheadroom_worker_pages_total 0\n" in text
    assert worker.stop() == 0
    log = worker.log.read_text()
    assert f"metrics are served at 127.0.0.1 port {port}" in log
    assert TOKEN not in log
