"""What the overview shows, as JSON and CSV too, and how it stays up to date; over HTTP, on a real Redis."""

from __future__ import annotations

import asyncio
import csv
import http.client
import io
import re
from urllib.parse import urlsplit

import orjson
import pytest
from commands.conftest import content_seed
from commands.test_nodes import add_worker
from monitor.conftest import Running, settings_at, text_of
from needs import started
from waiting import PATIENCE_SECONDS

from crawler.monitor.gatherer import Gatherer
from crawler.telemetry import history
from testbed.servers import Redis

pytestmark = pytest.mark.usefixtures("_reads_anew")


async def add(operator, **counts):
    async with operator.redis.pipeline(transaction=False) as pipeline:
        history.add(pipeline, operator.keys, await operator.registry.now_ms() // 1000, counts)
        await pipeline.execute()


def test_of_an_empty_crawl_nothing_is_said_to_be_wrong(browser):
    text = text_of(browser("viewer").get("/").text)
    assert "Wrong now Nothing." in text
    assert "Failures by reason Reason Seeds none" in text


async def test_figures_of_a_crawl(browser, operator, fail):
    await fail("http-404", content_seed(1), content_seed(2))
    await operator.queues["content"].offer([content_seed(number) for number in range(3, 8)])
    await add_worker(operator, "a-node:10:1:x", sinks_down=["kafka"])
    text = text_of(browser("viewer").get("/").text)
    assert "Bad: Sink kafka can't be reached by a-node: they claim nothing until it is back." in text
    assert "ready 5 scheduled 0 paused 0 executing 0 finished 0 failed 2" in text
    assert "http-404 2" in text
    chinese = text_of(browser("viewer").get("/", accept_language="zh").text)
    assert "严重： a-node 无法连接输出 kafka" in chinese


async def test_how_often_filters_of_finished_pages_err(browser, operator):
    counts = {"filtered": 5, "filter_expected": 2_500_000, "filter_asked": 40_000, "filter_erred": 2}
    await operator.redis.hset(operator.keys.partition(0).of("content", "counts"), mapping=counts)
    text = text_of(browser("viewer").get("/").text)
    assert "New pages that filters take for finished: 2.5e-06 expected, 5.0e-05 of 40000 measured" in text


async def test_what_was_done_over_time_as_json_and_csv(browser, operator):
    viewer = browser("viewer")
    await add(operator, pages=1200, bytes=9_000)
    rows = orjson.loads(viewer.get("/activity.json").text)
    assert len(rows) == 61
    assert rows[-1] | {"begin": ""} == {"begin": "", "pages": 1200, "items": 0, "bytes": 9_000}
    answer = viewer.get("/activity.csv?period=month")
    assert answer.headers["content-disposition"] == 'attachment; filename="activity.csv"'
    assert answer.text.startswith("\ufeffbegin,pages,items,bytes\r\n")
    assert len(list(csv.reader(io.StringIO(answer.text)))) == 362
    label = re.findall(r'aria-label="(Pages per second[^"]*)"', viewer.get("/?period=day").text)
    assert len(label) == 1
    assert viewer.get("/?period=<x>").status == 200


def events_of(browser):
    """Returns the connection of an event stream, and a function that reads its next event's name."""
    connection = http.client.HTTPConnection(urlsplit(browser.address).netloc, timeout=PATIENCE_SECONDS)
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    connection.request("GET", "/events", headers={"cookie": cookie})
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")

    def following():
        for line in answer:
            if line.startswith(b"event: "):
                return line.removeprefix(b"event: ").strip().decode()
        return ""

    return connection, following


def test_a_redis_that_dies_and_heals(users, tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr("crawler.monitor.gatherer.READ_SECONDS", 0.02)
    with started(Redis, tmp_path) as server, Running(settings_at(server.url), users) as monitor:
        operator_user = monitor.browser("operator")
        assert "Nothing." in operator_user.get("/").text
        assert operator_user.get("/nodes").status == operator_user.get("/hosts").status == 200
        connection, following = events_of(operator_user)
        assert following() == "figures"
        server.kill()
        while following() != "away":
            pass
        page = operator_user.get("/")
        assert page.status == 200
        assert "answer since" in page.text
        assert operator_user.get("/audit").status == 503  # it wasn't shown before
        assert operator_user.get("/metrics", authorization="Bearer 0123456789abcdef").status == 503
        shown = [operator_user.get(path) for path in ("/nodes", "/hosts")]
        assert [answer.status for answer in shown] == [200, 200]
        assert all("This page is as it was at 20" in answer.text for answer in shown)
        assert operator_user.act("/plan", name="flood", action="pause").status == 503
        assert "audit: operator plan-pause flood: unknown, since Redis is away" in caplog.text
        server.start()
        while following() != "figures":
            pass
        page = operator_user.get("/").text
        assert "answer since" not in page
        answers = [operator_user.get(path) for path in ("/audit", "/nodes", "/hosts")]
        assert [answer.status for answer in answers] == [200] * 3
        assert not any("as it was" in answer.text for answer in answers)
        connection.close()


def test_an_event_stream_ends_with_its_sign_in(browser, monkeypatch):
    monkeypatch.setattr("crawler.monitor.gatherer.READ_SECONDS", 0.02)
    viewer = browser("viewer")
    connection, following = events_of(viewer)
    assert following() == "figures"
    viewer.act("/logout")
    while following():
        pass
    connection.close()


async def test_browsers_at_once_cost_one_reading(redis_url, operator, monkeypatch):
    readings = []

    async def read(operator):
        readings.append(1)
        return await original(operator)

    from crawler.monitor import gatherer
    from crawler.monitor.connection import Connection

    original = gatherer.read_overview
    monkeypatch.setattr(gatherer, "read_overview", read)
    monkeypatch.setattr(gatherer, "READ_SECONDS", 60.0)
    connection = Connection(settings_at(redis_url))
    reader = Gatherer(connection)
    for figures in [*await asyncio.gather(*(reader.latest() for _ in range(5))), await reader.latest()]:
        assert figures.overview is not None
    assert len(readings) == 1
    await connection.close()
