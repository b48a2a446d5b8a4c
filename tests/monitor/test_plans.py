"""The plans in the monitor, and what analysts do to them; over HTTP, on a real Redis."""

from __future__ import annotations

import asyncio
import html
import re
import threading

import orjson
import pytest
from commands.conftest import content_seed, plan_file  # noqa: F401 -- a fixture
from monitor.conftest import text_of
from waiting import until

from crawler import plans
from crawler.base.models import Seed
from crawler.monitor import slow_actions
from crawler.monitor.pages import plans as plans_page
from crawler.plans.submission import submit
from crawler.telemetry import plan_yield

pytestmark = pytest.mark.usefixtures("_reads_anew")
HOSTILE = "<b>&\"'"


@pytest.fixture
async def plan(operator, plan_file):  # noqa: F811 -- the fixture
    """The name of a plan that was submitted: 2 search pages."""
    loaded = plans.load(str(plan_file), max_seeds=100)
    async for _ in submit(loaded, operator.registry, operator.queues):
        pass
    return loaded.name


async def test_plans_with_their_progress(browser, operator, fail, plan):
    await fail("http-404", content_seed(1), content_seed(2))
    viewer = browser("viewer")
    (row,) = orjson.loads(viewer.get("/plans.json").text)
    assert row | {"seconds_left": 0} == {
        "plan": plan,
        "state": "active",
        "offered": 4,
        "known": 0,
        "ready": 2,
        "executing": 0,
        "finished": 0,
        "failed": 2,
        "difference": 0,
        "percent_done": 50.0,
        "seconds_left": 0,
        "slowest_site": row["slowest_site"],
    }
    assert "flood active 4 0 2 0 0 2 0 50.0 %" in text_of(viewer.get("/plans").text)
    page = text_of(viewer.get("/plan?name=flood").text)
    assert "board Search pages 2 0 2 0 0 0 0 board Content pages 2 0 0 0 0 2 0" in page
    assert "http-404 2" in page
    assert "洪水" in page
    assert len(orjson.loads(viewer.get("/plan.json?name=flood").text)) == 2


async def test_from_a_number_to_the_seeds_behind_it(browser, fail, plan):
    await fail("http-404", content_seed(1))
    await fail("timeout", content_seed(2))
    viewer = browser("viewer")
    page = viewer.get(f"/plan?name={plan}").text
    ledger, timeout = (
        html.unescape(re.search(pattern, page)[1]) for pattern in ('href="([^"]+)">2</a>', 'href="([^"]+)">timeout')
    )
    both, last = viewer.get(ledger).text, viewer.get(timeout).text
    assert [content_seed(number).url in both for number in (1, 2)] == [True, True]
    assert [content_seed(number).url in last for number in (1, 2)] == [False, True]


async def test_an_analyst_pauses_resumes_cancels_and_deletes(browser, operator, plan):
    analyst = browser("analyst")
    for name, state in (("pause", "paused"), ("resume", "active"), ("cancel", "cancelled")):
        answer = analyst.act("/plan", name=plan, action=name)
        assert (answer.status, answer.headers["location"]) == (303, f"/plan?name=flood&done=plan-{name}")
        assert f"Done: plan-{name}." in analyst.get(answer.headers["location"]).text
        assert (await operator.registry.plan(plan)).state == state
    answer = analyst.act("/plan", name=plan, action="resume")
    assert answer.status == 409
    assert "was cancelled" in answer.text
    assert analyst.act("/plan", name=plan, action="delete").headers["location"] == "/plans?done=plan-delete"
    assert await operator.registry.plans() == {}
    entries = orjson.loads(browser("operator").get("/audit.json").text)
    assert [entry["action"] for entry in entries][:2] == ["plan-delete", "plan-resume"]
    assert entries[1]["outcome"].startswith("plan 'flood' was cancelled")


async def test_actions_that_can_not_be(browser, plan):
    assert 'value="pause"' not in browser("viewer").get("/plan?name=flood").text
    assert browser("analyst").act("/plan", name=plan, action="rename").status == 400
    assert browser("analyst").act("/plan", name="none", action="pause").status == 409


async def test_pages_that_were_offered_without_a_plan(browser, operator):
    await operator.queues["content"].offer([Seed("http://board.test/1", HOSTILE, "board")])
    analyst = browser("analyst")
    page = analyst.get("/plans").text
    assert HOSTILE not in page
    link = page.split('<td><a href="')[1].split('"')[0]
    assert analyst.get(link).status == 200
    assert 'value="pause"' not in analyst.get(link).text
    assert analyst.get("/plan?name=other").status == 404


@pytest.fixture
def slow_cancel(monkeypatch):
    """Has cancelling a plan wait, after 12,300 seeds, until the event is set that this gives."""
    may_end = threading.Event()

    async def cancel(operator, plan, progress):
        progress(12_300)
        await asyncio.to_thread(may_end.wait, 10)
        await operator.cancel(plan, progress)

    monkeypatch.setitem(plans_page.ACTIONS, "cancel", cancel)
    monkeypatch.setattr(slow_actions, "WAIT_SECONDS", 0.0)
    yield may_end
    may_end.set()


async def test_an_action_that_takes_long_goes_on_beside_the_pages(browser, operator, plan, slow_cancel):
    analyst, other = browser("analyst"), browser("operator")
    page = "/plan?name=flood"
    assert analyst.act("/plan", page, name=plan, action="cancel").headers["location"] == page
    assert "Cancel for good, by analyst, is under way: 12,300 seeds so far." in text_of(other.get(page).text)
    answer = other.act("/plan", page, name=plan, action="pause")
    assert answer.status == 409
    assert "its plan-cancel is under way" in answer.text
    slow_cancel.set()
    until(lambda: "is under way" not in other.get(page).text, "the action's end")
    assert (await operator.registry.plan(plan)).state == "cancelled"
    entries = orjson.loads(other.get("/audit.json").text)
    assert [(entry["action"], entry["outcome"]) for entry in reversed(entries)] == [
        ("plan-cancel", "under way"),
        ("plan-cancel", "done"),
    ]


async def test_an_action_that_fails_late_says_so_on_the_plan_s_page(browser, operator, plan, slow_cancel):
    analyst = browser("analyst")
    page = "/plan?name=flood"
    analyst.act("/plan", page, name=plan, action="cancel")
    await operator.redis.hdel(operator.keys.plans, plan)
    slow_cancel.set()
    until(lambda: "has failed" in analyst.get(page).text or None, "the action's failure")
    assert "Cancel for good has failed: no plan 'flood'" in text_of(analyst.get(page).text)


async def test_what_each_combination_and_page_brought(browser, operator, plan):
    async with operator.redis.pipeline(transaction=False) as pipeline:
        search = Seed("http://board.test/s", plan, "board", frontier="nav", keywords=("<b>洪水", "救援"), page=2)
        plan_yield.add(pipeline, operator.keys, plan, plan_yield.counts_of_search(search, 20, 12))
        await pipeline.execute()
    analyst = browser("analyst")
    page = analyst.get("/plan?name=flood").text
    assert "<b>洪水" not in page
    assert "洪水 + 救援 1 20 12 0" in text_of(page)
    assert "Page of results Pages read Results New 2 1 20 12" in text_of(page)
    rows = orjson.loads(analyst.get("/plan-yield.json?name=flood").text)
    assert [row["page"] for row in rows] == [None, 2]
    analyst.act("/plan", name=plan, action="cancel")
    analyst.act("/plan", name=plan, action="delete")
    assert await operator.redis.exists(operator.keys.plan_yield(plan)) == 0
