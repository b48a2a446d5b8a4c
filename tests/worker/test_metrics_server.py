"""A worker's own metrics, over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace

import pytest
from samples import Stats
from scrapy.exceptions import NotConfigured
from waiting import PATIENCE_SECONDS

from crawler.base.errors import ConfigError
from crawler.worker import metrics_server
from crawler.worker.metrics_server import MetricsServer

TOKEN = "0123456789abcdef"
FIGURES = {"carrying": 7, "room": 3, "memory_percent": 20.0, "sinks_down": ["kafka"]}


@pytest.fixture
async def port():
    """The port of a server that is open."""
    stats = Stats()
    stats.values |= {"response_received_count": 5, "downloader/response_status_count/404": 2, "start_time": "now"}
    reports = SimpleNamespace(figures=SimpleNamespace(latest=FIGURES))
    worker = SimpleNamespace(frontier="content", reports=reports)
    server = MetricsServer(lambda: worker, stats, host="127.0.0.1", port=0, token=TOKEN)
    await server.open()
    yield server._server.sockets[0].getsockname()[1]
    await server.close()


async def send(port, head):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    async with asyncio.timeout(PATIENCE_SECONDS):
        try:
            return (await reader.read()).decode()
        finally:
            writer.close()


def request(target="/metrics", method="GET", token=TOKEN, **headers):
    lines = [f"{method} {target} HTTP/1.1", "Host: a", f"Authorization: Bearer {token}"]
    lines += [f"{name}: {text}" for name, text in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def test_what_the_worker_counts_and_carries(port):
    head, _, body = (await send(port, request())).partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK\r\n")
    for line in (
        "headroom_worker_pages_total 5",
        "headroom_worker_items_total 0",
        'headroom_worker_responses_total{code="404"} 2',
        "headroom_worker_carried_seeds 7",
        "headroom_worker_node_memory_used_ratio 0.2",
        "headroom_worker_sinks_down 1",
    ):
        assert line in body.splitlines()
    assert f"content-length: {len(body.encode())}\r\n" in head
    assert (await send(port, request(Accept="application/openmetrics-text"))).endswith("# EOF\n")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request(token="wrong"), "401 Unauthorized"),
        (request(method="POST"), "405 Method Not Allowed"),
        (request("/"), "404 Not Found"),
        (request("/metrics?x=1"), "200 OK"),
    ],
)
async def test_anything_else_is_refused(port, sent, status):
    assert (await send(port, sent)).startswith(f"HTTP/1.1 {status}\r\n")


@pytest.mark.parametrize("sent", [b"junk\r\n\r\n", b"x" * 20_000, b"GET /metrics\r\n\r\n", b"\xff\x00\r\n\r\n"])
async def test_junk_ends_the_connection_and_nothing_else(port, sent):
    with contextlib.suppress(ConnectionResetError):  # it may be closed before all of it was read
        assert await send(port, sent) == ""
    assert (await send(port, request())).startswith("HTTP/1.1 200 OK")


async def test_who_says_nothing_is_cut_off(port, monkeypatch):
    monkeypatch.setattr(metrics_server, "ANSWER_SECONDS", 0.05)
    assert await send(port, b"GET /met") == ""


async def test_so_many_connections_and_no_more(port):
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(metrics_server.MAX_CONNECTIONS)]
    with pytest.raises(ConnectionResetError):
        await send(port, request())
    for _reader, writer in idle:
        writer.close()
        await writer.wait_closed()


async def test_a_port_that_is_taken_is_a_warning(port, caplog):
    other = MetricsServer(SimpleNamespace, Stats(), host="127.0.0.1", port=port, token=TOKEN)
    await other.open()
    await other.close()
    assert f"metrics can't be served at 127.0.0.1 port {port}" in caplog.text


def test_it_is_off_without_a_port_and_needs_a_token():
    with pytest.raises(NotConfigured):
        MetricsServer.from_crawler(SimpleNamespace(settings={}))
    with pytest.raises(ConfigError, match="METRICS_TOKEN"):
        MetricsServer.from_crawler(SimpleNamespace(settings={"METRICS_PORT": 9_100}))
