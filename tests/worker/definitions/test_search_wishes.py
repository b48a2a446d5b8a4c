"""What plans want of their searches."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from crawler.base.models import Seed
from crawler.plans.plan_record import PlanRecord
from crawler.worker.definitions.search_wishes import SearchWishes

SEED = Seed("http://a.test/1", "p", "s", "nav", ("flood",), edition=1, per_page=10)


async def wish_of(definition, *, seed=SEED, nav_seeds=2, edition=1):
    record = PlanRecord("p", definition, ["s"], edition, nav_seeds)

    async def load(_names):
        pass

    return await SearchWishes(SimpleNamespace(load=load, get=lambda _name: record)).of(seed)


async def test_a_page_has_the_plan_s_priority_or_less():
    wish = await wish_of({"priority": 7})
    assert [wish.priority_of(SEED, expected) for expected in (5, 2, 1.9, 0.9, 0.4, 0.2, 0.1)] == [7, 7, 6, 5, 4, 3, 2]
    assert (await wish_of({"priority": 1})).priority_of(SEED, 0.1) == 0
    assert not wish.refuses(SEED, 0.0)


async def test_a_page_that_was_given_back_is_judged_by_its_plan_s_priority_and_sinks_no_further():
    given_back = replace(SEED, priority=2)
    assert (await wish_of({}, seed=given_back)).priority_of(given_back, 0.3) == 2
    assert (await wish_of({}, seed=given_back)).priority == 5


async def test_a_plan_may_have_its_own_order_and_a_least_yield():
    wish = await wish_of({"searches": {"order": "plan", "least_new": 0.5}}, nav_seeds=1)
    assert [wish.priority_of(SEED, expected) for expected in (5, 0.1)] == [5, 5]
    assert [wish.refuses(SEED, expected) for expected in (0.5, 0.4)] == [False, True]


async def test_the_first_page_of_a_scheduled_search_is_always_asked_for_and_does_not_wait():
    wish = await wish_of({"schedule": "every 30m", "searches": {"least_new": 0.5}})
    assert (wish.priority_of(SEED, 0.1), wish.refuses(SEED, 0.1)) == (5, True)
    assert not wish.refuses(replace(SEED, interval_s=1_800), 0.1)


@pytest.mark.parametrize(
    "of",
    [
        {"definition": {"searches": {"order": "plan"}}},
        {"definition": {}, "nav_seeds": 1},  # one search has no order
        {"definition": {}, "edition": 2},  # the page is of an earlier submission
        {"definition": {"schedule": "every 30m"}},
        {"definition": {"searches": "junk"}},
        {"definition": {"priority": 10}},
        {"definition": {"priority": "junk"}},
    ],
)
async def test_pages_come_as_they_are(of):
    assert await wish_of(**of) is None
