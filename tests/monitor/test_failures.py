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
    one = browser("viewer")
    assert set(urls(one)) == {seed.url for seed in (*seeds, other)}
    assert urls(one, "reason=timeout") == [seeds[3].url]
    assert urls(one, "site=blog") == urls(one, "host=other.test") == urls(one, "plan=storm") == [other.url]
    assert urls(one, "site=blog&reason=timeout") == urls(one, "frontier=nav") == []
    page = one.get("/failures").text
    assert HOSTILE not in page
    assert "http-404 4 timeout 1" in text_of(page)
    assert 'type="checkbox"' not in page  # for operators alone
    assert orjson.loads(one.get("/failure-reasons.json?site=blog").text) == [{"reason": "http-404", "seeds": 1}]
    for wrong in ("frontier=x", "after=1.-1", "after=x", "after=1." + 5_010 * "9"):
        assert one.get(f"/failures?{wrong}").status == 400


async def test_older_ones_follow_and_each_comes_once(browser, failed, monkeypatch):
    monkeypatch.setattr(module, "SHOWN", 2)
    monkeypatch.setattr(module, "BATCH", 2)
    one, seen, address = browser("viewer"), [], "/failures"
    while address:
        seen += urls(one, address.partition("?")[2])
        link = one.get(address).text.partition('" rel="next"')[0].rpartition('href="')[2]
        address = link.replace("&amp;", "&") if link.startswith("/failures?") else ""
        assert len(seen) <= 5
    assert len(set(seen)) == 5


async def test_a_rare_one_is_looked_for_from_page_to_page(browser, failed, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(module, "LOOKED_AT_MAX", 2)
    one, found, place = browser("viewer"), [], ""
    for _ in range(3):
        found.append(len(urls(one, f"reason=timeout{place}")))
        place = re.search(r"&after=[\d.]+", html.unescape(one.get(f"/failures?reason=timeout{place}").text))[0]
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
    one = browser("viewer")
    urls(one)  # reads the figures, too

    async def cost(query):
        before = await operator.redis.info("stats")
        assert len(urls(one, query)) == 20
        after = await operator.redis.info("stats")
        return [after[name] - before[name] for name in ("total_commands_processed", "total_net_output_bytes")]

    (commands, sent), (deep_commands, deep_sent) = await cost(""), await cost("after=1000010.3")
    assert deep_commands <= commands
    assert deep_sent < 1.5 * sent
    assert queue.partitions == 1


async def test_those_that_are_ticked_are_sent_again(browser, operator, failed):
    seeds, _other = failed
    one = browser("operator")
    answer = one.act("/failures", "/failures", action="ticked")
    assert (answer.status, "No page was ticked." in answer.text) == (400, True)
    rows = {row["url"]: row["seed"] for row in orjson.loads(one.get("/failures.json").text)}
    answer = one.act("/failures", "/failures", action="ticked", **{rows[seed.url]: "on" for seed in seeds[:2]})
    assert (answer.status, answer.headers["location"]) == (303, "/failures?frontier=content")
    assert not {seeds[0].url, seeds[1].url} & set(urls(one))
    assert len(urls(one)) == 3
    ready = {found.seed.url async for found in operator.admins["content"].seeds("ready")}
    assert ready == {seeds[0].url, seeds[1].url}
    (entry,) = orjson.loads(one.get("/audit.json").text)
    assert (entry["action"], entry["target"]) == ("seeds-retry", "2 ticked, frontier content")
    again = one.act(
        "/failures", "/failures", action="ticked", **{rows[seeds[0].url]: "on"}
    )  # as a second operator would
    assert again.status == 303
    assert len(urls(one)) == 3
    for wrong in ("seed.x.00", "seed.0", "seed.0.xyz"):
        assert one.act("/failures", "/failures", action="ticked", **{wrong: "on"}).status == 400
    assert one.act("/failures", "/failures", action="ticked", **{"seed.9.00": "on"}).status == 303


async def test_all_that_were_looked_for_are_sent_again(browser, operator, failed):
    _seeds, other = failed
    one = browser("operator")
    assert one.act("/failures", "/failures", action="all", reason="http-404", site="board").status == 303
    assert set(urls(one)) == {other.url, content_seed(4).url}
    assert one.act("/failures", "/failures", action="none").status == 400
    for accounts in (await operator.ledger()).values():
        assert all(account.difference == 0 for account in accounts.values())
