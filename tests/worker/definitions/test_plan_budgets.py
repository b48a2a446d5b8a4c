"""What plans have used of their budgets, as Redis counts it for all workers."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.base import crawl_time
from crawler.base.events import Events
from crawler.base.models import Seed
from crawler.frontier.keys import Keys
from crawler.plans.plan_budget import PlanBudget
from crawler.worker.definitions.plan_budgets import PlanBudgets


@pytest.fixture
def budgets(redis):
    return [PlanBudgets(redis, Keys("hr"), Events()) for _worker in range(2)]


def seed(url="http://a.example.org/"):
    return Seed(url, "plan", "web", general=True)


async def test_workers_take_of_one_budget_and_what_is_given_back_is_there_again(budgets):
    one, other = budgets
    bounds = PlanBudget(pages=3, per_host=2)
    assert [await worker.take(seed(), bounds, 1) for worker in (one, other, one)] == ["", "", "per_host"]
    assert await other.take(seed("http://b.example.org/"), bounds, 1) == ""
    assert await one.take(seed("http://c.example.org/"), bounds, 1) == "pages"
    await other.give_back(seed(), bounds)
    assert [await one.take(seed(), bounds, 1) for _try in range(2)] == ["", "pages"]
    assert await one.take(seed("http://c.example.org/"), PlanBudget(pages=4), 2) == ""


async def test_domains_bytes_and_seconds_have_bounds(budgets, monkeypatch):
    one, other = budgets
    assert [await one.take(seed(), PlanBudget(per_domain=1), 1) for _try in range(2)] == ["", "per_domain"]
    assert await other.take(seed("http://www.example.net/"), PlanBudget(per_domain=1), 1) == ""
    bounds = PlanBudget(bytes=10)
    one.count_bytes(seed(), 9)
    assert await one.take(seed(), bounds, 1) == ""
    one.count_bytes(seed(), 1)
    assert [await one.take(seed(), bounds, 1), await other.take(seed(), bounds, 1)] == ["bytes", "bytes"]
    later = datetime.now(UTC) + timedelta(seconds=60)
    monkeypatch.setattr(crawl_time, "now", lambda: later)
    bounds = PlanBudget(seconds=50)
    assert [await one.take(seed(), bounds, edition) for edition in (1, 2)] == ["seconds", ""]
