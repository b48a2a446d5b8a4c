"""No page of the monitor keeps anybody out, as far as axe-core can tell (axe/README.md), be it light or dark."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from commands.conftest import PLAN, content_seed
from commands.test_nodes import add_worker
from monitor.conftest import settings_at
from monitor.test_in_chromium import chromium, opened, page  # noqa: F401 -- fixtures
from monitor.test_items import keep
from telemetry.test_newest_items import message

from crawler import plans
from crawler.base.events import Events
from crawler.cluster import audit
from crawler.cluster.host_steering import orders_of
from crawler.frontier.node_orders import NodeOrder, NodeOrders
from crawler.plans.operator import Operator
from crawler.plans.submission import submit
from crawler.robots.file import RobotsFile
from crawler.robots.shared import SharedRobots
from crawler.telemetry import history, host_history
from crawler.telemetry.host_history import HostCounts

pytestmark = pytest.mark.process
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text("utf-8")
PAGES = (
    "/", "/nodes", "/node?name=a-node", "/plans", "/plan?name=flood", "/items", "/item?id=news-1",
    "/sites", "/site?name=board",
    "/hosts", "/host?name=board.test", "/answers", "/failures",
    "/seed?url=http://board.test/thread/1", "/seed?url=nothing", "/audit", "/none",
)  # fmt: skip
# Returns what is wrong with the page: the rule, how bad it is, and where.
RUN = """(rules) => axe.run({resultTypes: ["violations"], ...(rules && {runOnly: rules})}).then((found) =>
    found.violations.flatMap((one) => one.nodes.map(
        (node) => `${one.id} (${one.impact}): ${node.html} ${node.failureSummary}`)))"""

# Returns the rows of tables that have more or fewer cells than their head.
UNEVEN_ROWS = """() => [...document.querySelectorAll("table")].filter((table) => table.tHead).flatMap((table) => {
    const width = (row) => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0)
    return [...table.tBodies].flatMap((body) => [...body.rows])
        .filter((row) => width(row) !== width(table.tHead.rows[0])).map((row) => `uneven: ${row.outerHTML}`)
})"""


def wrong_with(page, rules=None):  # noqa: F811 -- the fixture
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE)
    return page.evaluate(RUN, rules) + page.evaluate(UNEVEN_ROWS)


async def _fill(redis_url, plan_file):
    """Has each page show something in each of its colours."""
    async with Operator.connect(settings_at(redis_url), begin=True) as operator:
        await add_worker(operator, "a-node:10:1:x", sinks_down=["kafka"], why_no_claims="it waits for kafka")
        await add_worker(operator, "a-node:11:1:x", age_s=60.0)
        await add_worker(operator, "b-node:12:1:x", session_s=-30.0)
        await NodeOrders(operator.redis, operator.keys).change("a-node", lambda _old: NodeOrder(drained=True))
        async for _ in submit(plans.load(str(plan_file), max_seeds=100), operator.registry, operator.queues):
            pass
        await operator.queues["content"].offer([content_seed(1)])
        now_s = await operator.registry.now_ms() // 1000
        async with operator.redis.pipeline(transaction=False) as pipeline:
            history.add(pipeline, operator.keys, now_s, {"pages": 50, "bytes": 9_000, "site:board:failed": 30})
            host_history.add(pipeline, operator.keys, now_s, {"board.test": HostCounts(9, 50, 8)})
            await pipeline.execute()
        await orders_of(operator).change("board.test", delay_s=5, paused=True)
        shared = SharedRobots(operator.redis, operator.keys, operator.partitions, Events())
        await shared.finish_asking("http://board.test", RobotsFile("rules", b"User-agent: *\nDisallow: /private\n"))
        await keep(operator, message(1, title="A title", extra={"views": 1}))
        await audit.record(operator, user="operator", action="host-pause", target="board.test", outcome="done")


@pytest.fixture
def _filled(redis_url, tmp_path):
    plan_file = tmp_path / "flood.yaml"
    plan_file.write_text(PLAN, encoding="utf-8")
    thread = threading.Thread(target=asyncio.run, args=(_fill(redis_url, plan_file),))  # Playwright has this one's loop
    thread.start()
    thread.join()


@pytest.mark.usefixtures("_filled")
def test_nothing_is_wrong_with_any_page(page):  # noqa: F811 -- the fixture
    wrong = {}
    for path in PAGES:
        page.goto(path)
        for colours, rules in (("dark", ["color-contrast"]), ("light", None)):
            page.emulate_media(color_scheme=colours)
            if faults := wrong_with(page, rules):
                wrong[path, colours] = faults
    assert wrong == {}


def test_tables_with_nothing_to_show_are_as_wide_as_their_heads(page):  # noqa: F811 -- the fixture
    uneven = {}
    for path in ("/", "/nodes", "/plans", "/items", "/sites", "/hosts", "/failures", "/audit"):
        page.goto(path)
        uneven[path] = page.evaluate(UNEVEN_ROWS)
    assert not any(uneven.values()), uneven


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_is_wrong_with_the_page_to_sign_in(page, colours):  # noqa: F811 -- the fixture
    page.goto("about:blank")  # by itself, a page of the monitor leads to the sign-in once its cookie is gone
    page.context.clear_cookies()
    page.emulate_media(color_scheme=colours)
    page.goto("/login")
    assert wrong_with(page) == []


def test_what_would_be_wrong_is_found(page):  # noqa: F811 -- the fixture
    page.evaluate("document.getElementById('main').insertAdjacentHTML('beforeend', '<img src=/static/icon.svg>')")
    page.evaluate("document.querySelector('h2').style.color = '#eee'")
    assert {one.partition(" ")[0] for one in wrong_with(page)} == {"color-contrast", "image-alt"}
