"""The nodes in the monitor, and what operators order them; over HTTP, on a real Redis."""

from __future__ import annotations

import orjson
import pytest
from commands.test_nodes import add_worker
from monitor.conftest import text_of

from crawler.frontier.node_orders import NodeOrder, NodeOrders
from crawler.telemetry import node_history
from crawler.telemetry.node_history import NodeSample

pytestmark = pytest.mark.usefixtures("_reads_anew")
HOSTILE = '"><script>alert(1)</script>&x='


async def test_workers_with_their_load(browser, operator):
    await add_worker(operator, "a-node:10:1:x", sinks_down=["kafka"], why_no_claims="it waits for kafka")
    await add_worker(operator, "b-node:11:1:x", session_s=-30.0)
    viewer = browser("viewer")
    text = text_of(viewer.get("/nodes").text)
    assert "a-node 10 content 7 3 20.0 41.5" in text
    assert "alive, claims nothing: it waits for kafka" in text
    assert "lapsed 3" in text
    assert 'value="drain"' not in viewer.get("/node?name=a-node").text  # for operators alone
    rows = orjson.loads(viewer.get("/nodes.json").text)
    assert [row["node"] for row in rows] == ["a-node", "b-node"]
    assert rows[0]["sinks_down"] == ["kafka"]
    assert rows[1]["carrying"] is None
    assert viewer.get("/nodes.csv").text.splitlines()[1].startswith("a-node,10,content,7,3,20.0,41.5,")


def test_without_a_worker_the_page_says_so_and_no_node_has_one(browser):
    viewer = browser("viewer")
    assert "No worker runs." in viewer.get("/nodes").text
    assert viewer.get("/node?name=a-node").status == 404


async def test_an_operator_steers_a_node_and_it_is_written_down(browser, operator):
    await add_worker(operator, "a-node:10:1:x")
    operator_user = browser("operator")
    page, orders = "/node?name=a-node", NodeOrders(operator.redis, operator.keys)
    answer = operator_user.act("/node", page, name="a-node", order="drain")
    assert (answer.status, answer.headers["location"]) == (303, f"{page}&done=node-drain")
    assert (await orders.of("a-node")).drained
    assert "Drained: it claims nothing" in operator_user.get(page).text
    operator_user.act("/node", page, name="a-node", order="resume")
    operator_user.act("/node", page, name="a-node", order="set", cpu_limit_percent="50", first_batch="")
    assert await orders.of("a-node") == NodeOrder(cpu_limit_percent=50)
    assert "CPU limit, % 50" in text_of(operator_user.get("/nodes").text)
    operator_user.act("/node", page, name="a-node", order="reset")
    assert await orders.all() == {}
    operator_user.act("/node", page, name="a-node", order="stop")
    assert (await orders.of("a-node")).stopped_ms > 0
    entries = orjson.loads(operator_user.get("/audit.json").text)
    assert [entry["action"] for entry in entries] == [
        f"node-{name}" for name in ("stop", "reset", "set", "resume", "drain")
    ]
    assert entries[2]["target"] == "a-node cpu_limit_percent=50"
    assert {(entry["user"], entry["outcome"]) for entry in entries} == {("operator", "done")}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"order": "explode"}, 400),
        ({"order": "set"}, 400),
        ({"order": "set", "cpu_limit_percent": "500"}, 400),
        ({"order": "drain", "name": "other"}, 409),
    ],
)
async def test_orders_that_can_not_be(browser, operator, fields, status):
    await add_worker(operator, "a-node:10:1:x")
    assert browser("operator").act("/node", **{"name": "a-node", **fields}).status == status
    assert await NodeOrders(operator.redis, operator.keys).all() == {}


async def test_a_hostile_name_is_text_and_leads_to_its_own_page(browser, operator):
    await add_worker(operator, f"{HOSTILE}:10:1:x")
    operator_user = browser("operator")
    page = operator_user.get("/nodes").text
    assert "<script>alert" not in page
    link = page.split('<td class="keep"><a href="')[1].split('"')[0]
    assert "<script>alert" not in operator_user.get(link).text
    assert operator_user.act("/node", link, name=HOSTILE, order="drain").status == 303
    assert (await NodeOrders(operator.redis, operator.keys).of(HOSTILE)).drained


async def test_the_load_of_a_node_over_time(browser, operator):
    await add_worker(operator, "a-node:10:1:x", why_no_browser="no Chromium")
    now_s = await operator.registry.now_ms() // 1000
    async with operator.redis.pipeline(transaction=False) as pipeline:
        for ago_s, room in ((600, 4), (540, 5), (0, 12)):
            sample = NodeSample(20.5, 41.0, 1.5, 12.0, room, 7, 120)
            node_history.add(pipeline, operator.keys, "a-node", now_s - ago_s, sample)
        await pipeline.execute()
    viewer = browser("viewer")
    page = viewer.get("/node?name=a-node").text
    assert "Memory 20.5 % Own memory 1.5 %" in text_of(page)
    assert "Room 12 Carries 7" in text_of(page)
    assert 'aria-label="Seeds: room for 12, 7 carried"' in page
    assert page.count('<polyline class="line line-0"') == 8  # of four charts, each with a gap of 8 minutes
    assert "Renders no pages: no Chromium" in text_of(page)
    rows = orjson.loads(viewer.get("/node.json?name=a-node").text)
    assert [row["room"] for row in rows] == [4, 5, 12]
    assert viewer.get("/node.csv?name=a-node&period=day").text.splitlines()[-1].endswith(",20.5,41.0,1.5,12.0,12,7,120")


async def test_draining_is_shown_until_it_is_done(browser, operator):
    """It isn't before each worker has said so since it took the order up, whatever it said before."""
    await NodeOrders(operator.redis, operator.keys).change("a-node", lambda _old: NodeOrder(drained=True))
    viewer = browser("viewer")
    for drained, carrying in ((False, 0), (True, 7)):
        await add_worker(operator, "a-node:10:1:x", drained=drained, carrying=carrying)
        text = text_of(viewer.get("/node?name=a-node").text)
        assert f"ends what it carries · Seeds still carried, or not told yet: {carrying}." in text
    await add_worker(operator, "a-node:10:1:x", drained=True, carrying=0)
    assert "Nothing is carried any more." in viewer.get("/node?name=a-node").text
