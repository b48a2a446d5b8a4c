"""A page by its address, sites and hosts in the monitor; over HTTP, on a real Redis."""

from __future__ import annotations

import asyncio
import threading
from urllib.parse import quote

import orjson
import pytest
from commands.conftest import content_seed, plan_file  # noqa: F401 -- a fixture
from monitor.conftest import text_of

from crawler import plans
from crawler.monitor.pages import sites
from crawler.plans.plan import Plan
from crawler.plans.submission import submit
from crawler.telemetry import failed_answers, host_history
from crawler.telemetry.failed_answers import FailedAnswer
from crawler.telemetry.host_history import HostCounts

pytestmark = pytest.mark.usefixtures("_reads_anew")
HOSTILE = "http://board.test/?q=<script>alert(1)</script>"


async def test_why_a_page_is_not_done(browser, operator, fail):
    await fail("http-404", content_seed(1))
    viewer = browser("viewer")
    text = text_of(viewer.get("/seed?url=http://board.test/thread/1").text)
    assert "Content pages · board failed : failed for good with http-404" in text
    assert "Plans flood" in text
    (row,) = orjson.loads(viewer.get("/seed.json?url=http://board.test/thread/1").text)
    assert (row["state"], row["plans"], row["reason"]) == ("failed", ["flood"], "http-404")
    assert "it was never offered" in viewer.get("/seed?url=http://other.test/").text


def test_addresses_that_are_none_and_hostile_ones(browser):
    viewer = browser("viewer")
    assert "Look it up" in viewer.get("/seed").text
    assert viewer.get("/seed?url=nothing").status == 400
    assert viewer.get("/seed?url=http://a.test/&plan=none").status == 400
    page = viewer.get(f"/seed?url={quote(HOSTILE)}")
    assert page.status == 200
    assert "<script>alert" not in page.text


async def test_a_plan_with_many_search_pages_keeps_nobody_else_waiting(browser, operator, plan_file, monkeypatch):  # noqa: F811 -- the fixture
    """Somebody looks for a page among a plan's search pages, and somebody else shows that plan."""
    answered = threading.Event()

    def until_answered(made):
        assert answered.wait(30)
        return made

    loaded = plans.load(str(plan_file), max_seeds=100)
    async for _ in submit(loaded, operator.registry, operator.queues):
        pass
    monkeypatch.setattr(Plan, "search_pages", lambda _plan, _edition: until_answered(iter(())))
    monkeypatch.setattr(sites.yaml, "safe_dump", lambda *_, **__: until_answered("written"))
    viewer = browser("viewer")
    paths = ["/seed?url=http://board.test/&plan=flood", "/plan?name=flood"]
    slow = [asyncio.create_task(asyncio.to_thread(viewer.get, path)) for path in paths]
    try:
        assert (await asyncio.to_thread(viewer.get, "/plans.json")).status == 200
    finally:
        answered.set()
    assert [answer.status for answer in await asyncio.gather(*slow)] == [200, 200]


async def test_hosts_are_shown_busiest_first_and_marked_by_their_errors(browser, operator):
    now_s = await operator.registry.now_ms() // 1000
    async with operator.redis.pipeline(transaction=False) as pipeline:
        hosts = {"<b>.test": HostCounts(4, 9_000, 3), "a.test": HostCounts(9, 50, 1), "b.test": HostCounts(100, 50, 35)}
        host_history.add(pipeline, operator.keys, now_s, hosts)
        await pipeline.execute()
    viewer = browser("viewer")
    assert [row["host"] for row in orjson.loads(viewer.get("/hosts.json").text)] == ["b.test", "a.test", "<b>.test"]
    page = viewer.get("/hosts").text
    assert "<b>.test" not in page
    assert ["is-warning" in row for row in page.split("<tr")[2:]] == [True, False, True]
    assert "&lt;b&gt;.test 4 9 kB 3 75.0" in text_of(page).replace("<b>", "&lt;b&gt;")


async def test_what_was_answered_for_a_failed_page_is_text(browser, operator, fail):
    await fail("http-404", content_seed(1))
    url = content_seed(1).url
    viewer = browser("viewer")
    assert "What its host answered" not in viewer.get(f"/seed?url={quote(url)}").text
    (row,) = orjson.loads(viewer.get(f"/seed.json?url={quote(url)}").text)
    answers = [(row["fingerprint"], FailedAnswer(url, 404, "Server: nginx", "<script>alert(1)</script>"))]
    async with operator.redis.pipeline(transaction=False) as pipeline:
        failed_answers.add(pipeline, operator.keys, "board", "http-404", answers, now_s=1_800_000_000, bytes_max=10**6)
        await pipeline.execute()
    page = viewer.get(f"/seed?url={quote(url)}").text
    assert f"HTTP 404 {url}\nServer: nginx\n\n&lt;script&gt;alert(1)&lt;/script&gt;</pre>" in page
    assert "<script>alert" not in page
