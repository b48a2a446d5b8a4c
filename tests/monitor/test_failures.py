"""Failures in the monitor, on a real Redis: found by reason, site, host and plan, and sent again by selection."""

from __future__ import annotations

import html
import re

import orjson
import pytest
from commands.conftest import content_seed
from monitor.conftest import text_of

from crawler.base.models import Seed
from crawler.monitor.pages import failures as module

pytestmark = pytest.mark.usefixtures("_reads_anew")
HOSTILE = "<script>alert(1)</script>"


def urls(browser, query=""):
    return [row["url"] for row in orjson.loads(browser.get(f"/failures.json?{query}").text)]


@pytest.fixture
async def failed(fail):
    """Five seeds that failed one after the other, the last one of another host, site and plan."""
    for number in range(1, 4):
        await fail("http-404", content_seed(number))
    await fail("timeout", content_seed(4))
    other = Seed(f"http://other.test/{HOSTILE}", "storm", "blog")
    await fail("http-404", other)
    return [content_seed(number) for number in range(1, 5)], other


async def test_the_latest_and_those_that_are_asked_for(browser, failed):
    seeds, other = failed
    viewer = browser("viewer")
    assert set(urls(viewer)) == {seed.url for seed in (*seeds, other)}
    assert urls(viewer, "reason=timeout") == [seeds[3].url]
    assert urls(viewer, "site=blog") == urls(viewer, "host=other.test") == urls(viewer, "plan=storm") == [other.url]
    assert urls(viewer, "site=blog&reason=timeout") == urls(viewer, "frontier=nav") == []
    page = viewer.get("/failures").text
    assert HOSTILE not in page
    assert "http-404 4 timeout 1" in text_of(page)
    assert 'type="checkbox"' not in page  # for operators alone
    assert orjson.loads(viewer.get("/failure-reasons.json?site=blog").text) == [{"reason": "http-404", "seeds": 1}]
    for wrong in ("frontier=x", "after=1.-1", "after=x", "after=1." + 5_010 * "9"):
        assert viewer.get(f"/failures?{wrong}").status == 400


async def test_older_ones_follow_and_each_comes_once(browser, failed, monkeypatch):
    monkeypatch.setattr(module, "SHOWN", 2)
    monkeypatch.setattr(module, "BATCH", 2)
    viewer, seen, address = browser("viewer"), [], "/failures"
    while address:
        seen += urls(viewer, address.partition("?")[2])
        link = viewer.get(address).text.partition('" rel="next"')[0].rpartition('href="')[2]
        address = link.replace("&amp;", "&") if link.startswith("/failures?") else ""
        assert len(seen) <= 5
    assert len(set(seen)) == 5


async def test_a_rare_one_is_looked_for_from_page_to_page(browser, failed, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(module, "MAX_LOOKED_AT", 2)
    viewer, found, place = browser("viewer"), [], ""
    for _ in range(3):
        found.append(len(urls(viewer, f"reason=timeout{place}")))
        place = re.search(r"&after=[\d.]+", html.unescape(viewer.get(f"/failures?reason=timeout{place}").text))[0]
    assert found.count(1) == 1


async def test_a_deep_page_costs_redis_no_more_than_the_first(browser, operator, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 20)
    monkeypatch.setattr(module, "SHOWN", 20)
    queue = operator.queues["content"]
    keys = operator.keys.partition(0)
    seeds = [content_seed(number) for number in range(2_000)]
    values = {seed.fingerprint: seed.dump() for seed in seeds}
    await operator.redis.hset(keys.of("content", "seed"), mapping=values)
    failed_at = {fingerprint: 1_000_000 + number // 7 for number, fingerprint in enumerate(values)}
    await operator.redis.zadd(keys.of("content", "fail"), failed_at)
    viewer = browser("viewer")
    urls(viewer)  # reads the figures, too

    async def cost(query):
        before = await operator.redis.info("stats")
        assert len(urls(viewer, query)) == 20
        after = await operator.redis.info("stats")
        return [after[name] - before[name] for name in ("total_commands_processed", "total_net_output_bytes")]

    (commands, sent), (deep_commands, deep_sent) = await cost(""), await cost("after=1000010.3")
    assert deep_commands <= commands
    assert deep_sent < 1.5 * sent
    assert queue.partitions == 1


async def test_those_that_are_ticked_are_sent_again(browser, operator, failed):
    seeds, _other = failed
    operator_user = browser("operator")
    answer = operator_user.act("/failures", "/failures", action="ticked")
    assert (answer.status, "No page was ticked." in answer.text) == (400, True)
    rows = {row["url"]: row["seed"] for row in orjson.loads(operator_user.get("/failures.json").text)}
    ticked = {rows[seed.url]: "on" for seed in seeds[:2]}
    answer = operator_user.act("/failures", "/failures", action="ticked", **ticked)
    assert (answer.status, answer.headers["location"]) == (303, "/failures?frontier=content")
    assert not {seeds[0].url, seeds[1].url} & set(urls(operator_user))
    assert len(urls(operator_user)) == 3
    ready = {found.seed.url async for found in operator.admins["content"].seeds("ready")}
    assert ready == {seeds[0].url, seeds[1].url}
    (entry,) = orjson.loads(operator_user.get("/audit.json").text)
    assert (entry["action"], entry["target"]) == ("seeds-retry", "2 ticked, frontier content")
    again = operator_user.act(
        "/failures", "/failures", action="ticked", **{rows[seeds[0].url]: "on"}
    )  # as a second operator would
    assert again.status == 303
    assert len(urls(operator_user)) == 3
    for wrong in ("seed.x.00", "seed.0", "seed.0.xyz"):
        assert operator_user.act("/failures", "/failures", action="ticked", **{wrong: "on"}).status == 400
    assert operator_user.act("/failures", "/failures", action="ticked", **{"seed.9.00": "on"}).status == 303


async def test_all_that_were_looked_for_are_sent_again(browser, operator, failed):
    _seeds, other = failed
    operator_user = browser("operator")
    assert operator_user.act("/failures", "/failures", action="all", reason="http-404", site="board").status == 303
    assert set(urls(operator_user)) == {other.url, content_seed(4).url}
    assert operator_user.act("/failures", "/failures", action="none").status == 400
    for accounts in (await operator.ledger()).values():
        assert all(account.difference == 0 for account in accounts.values())
