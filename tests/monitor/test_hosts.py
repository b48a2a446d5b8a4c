"""The hosts in the monitor, and what operators order for them; over HTTP, on a real Redis."""

from __future__ import annotations

import asyncio
from collections import Counter

import orjson
import pytest
from commands.conftest import content_seed
from commands.test_hosts import HOST, ROBOTS, robots  # noqa: F401 -- a fixture
from monitor.conftest import PASSWORD, text_of

from crawler.cluster.host_steering import orders_of
from crawler.frontier.host_orders import HostOrder
from crawler.robots.file import RobotsFile

pytestmark = pytest.mark.usefixtures("_reads_anew")
PAGE = f"/host?name={HOST}"


async def test_a_host_in_full(browser, operator, claim, robots):  # noqa: F811 -- the fixture
    await operator.redis.hset(operator.keys.partition(0).politeness, "board", "2000 1 10")
    await operator.queues["content"].offer([content_seed(number) for number in range(3)])
    await claim(2)
    await robots(RobotsFile("rules", ROBOTS + b"Disallow: /<b>\n"))
    viewer = browser("viewer")
    page = viewer.get(PAGE).text
    assert "<b>" not in page
    assert 'value="pause"' not in page  # for operators alone
    text = text_of(page.replace("&lt;b&gt;", "(b)"))
    assert "All of its turns are taken: 1 of 1, by node-1." in text
    assert "Delay 2 s (site board 2 s)" in text
    assert "Disallow: /private Disallow: /私 Disallow: /(b) Crawl-delay: 7" in text
    (row,) = orjson.loads(viewer.get(f"/host.json?name={HOST}").text)
    assert (row["content_ready"], row["robots"]) == (1, [f"http://{HOST} rules"])
    assert f"{HOST},2.0,1," in viewer.get(f"/host.csv?name={HOST}").text
    viewer.get("/language?to=zh&then=/")
    assert "它的轮次已全部占用：1 个中占用 1 个，占用者 node-1。" in viewer.get(PAGE).text
    assert viewer.get("/host?name=a%20b").status == 404


async def test_an_operator_slows_a_host_down_and_it_is_written_down(browser, operator):
    operator_user = browser("operator")
    orders = orders_of(operator)
    answer = operator_user.act("/host", PAGE, name=HOST, order="slow", delay="12.5")
    assert (answer.status, answer.headers["location"]) == (303, f"{PAGE}&done=host-slow")
    operator_user.act("/host", PAGE, name=HOST, order="pause")
    assert await orders.all() == {HOST: HostOrder(12.5, paused=True)}
    assert "An operator has paused it." in operator_user.get(PAGE).text
    assert f"{HOST} 0 0 B 0 0.0 paused, delay 12.5 s" in text_of(operator_user.get("/hosts").text)
    for name in ("resume", "reset", "forgive"):
        assert operator_user.act("/host", PAGE, name=HOST, order=name).status == 303
    assert await orders.all() == {}
    entries = orjson.loads(operator_user.get("/audit.json").text)
    assert [entry["action"] for entry in reversed(entries)] == [
        f"host-{name}" for name in ("slow", "pause", "resume", "reset", "forgive")
    ]
    assert entries[-1]["target"] == f"{HOST} delay=12.5"


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"order": "explode"}, 400), ({"order": "slow", "delay": "never"}, 409), ({"order": "pause", "name": "a b"}, 400)],
)
async def test_orders_that_can_not_be(browser, operator, fields, status):
    assert browser("operator").act("/host", **{"name": HOST, **fields}).status == status
    assert await orders_of(operator).all() == {}


async def test_of_two_operators_at_once_neither_undoes_what_the_other_does(browser, operator, users):
    users.put("other", "operator", PASSWORD)
    orders = {"operator": {"order": "slow", "delay": "30"}, "other": {"order": "pause"}}
    browsers = {name: browser(name) for name in orders}
    tokens = {name: client.csrf(PAGE) for name, client in browsers.items()}

    def act(name):
        return [browsers[name].post("/host", csrf=tokens[name], name=HOST, **orders[name]).status for _ in range(5)]

    assert await asyncio.gather(*(asyncio.to_thread(act, name) for name in orders)) == [[303] * 5] * 2
    assert await orders_of(operator).all() == {HOST: HostOrder(30.0, paused=True)}
    entries = orjson.loads(browsers["other"].get("/audit.json").text)
    assert Counter(entry["user"] for entry in entries) == {"operator": 5, "other": 5}
