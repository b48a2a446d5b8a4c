"""A worker's offers go out together, and outlast a Redis that is full or away; a worker that stops gives them up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from frontier.driver import content
from frontier.test_order import numbers
from samples import Stats

from crawler.base.errors import UnavailableError
from crawler.base.events import Events
from crawler.base.tasks import TaskDied
from crawler.frontier import scripts
from crawler.servers.redis_full import RedisFull
from crawler.worker.life.wakeups import PlansChanged, PriorityChanged
from crawler.worker.offers import offers
from crawler.worker.offers.known_pages import KnownPages
from crawler.worker.offers.offers import Offers


@pytest.fixture(autouse=True)
def _room_soon(monkeypatch):
    monkeypatch.setattr(offers, "FULL_MILLISECONDS", 10)


@pytest.fixture
def offering(frontier):
    """The offers of a worker, with what they are built of."""
    parts = {"redis_full": RedisFull(), "stopping": asyncio.Event(), "events": Events(), "stats": Stats()}
    known_pages = KnownPages(frontier.queues["content"], 100)
    offers = Offers(frontier.queues, [SimpleNamespace(owner="A")], known_pages=known_pages, **parts)
    return SimpleNamespace(offers=offers, **parts)


@pytest.fixture
async def full_redis(redis, frontier):
    await redis.config_set("maxmemory", 1)
    yield redis
    await redis.config_set("maxmemory", 0)


async def test_offers_wait_for_a_full_redis(frontier, full_redis, offering):
    waiting = asyncio.create_task(offering.offers.offer([content(1), content(2)]))

    async def refused():
        return offering.redis_full.now

    await frontier.until(refused)
    assert not waiting.done()
    await full_redis.config_set("maxmemory", 0)
    assert (await waiting).new == 2
    assert not offering.redis_full.now
    assert (await frontier.totals()).ready == 2
    assert offering.stats.values == {"frontier/offered": 2, "frontier/offered/new": 2}


async def test_refused_pages_wait_for_a_redis_that_is_away_too(frontier, offering, outage):
    outage(calls=2)
    await offering.offers.refuse(content(1), "script-route", 3)
    assert (await frontier.account()).as_dict()["notes"] == {"script-route": 3}


async def test_a_worker_that_stops_gives_its_offers_up(full_redis, offering):
    offering.stopping.set()
    with pytest.raises(UnavailableError, match="1 offers are left to the next visit"):
        await offering.offers.offer([content(1)])


# -- Together ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch):
    """The arguments of each call of offer.lua."""
    made, real = [], scripts.run

    async def run(redis, name, keys, arguments):
        made.append(arguments)
        return await real(redis, name, keys, arguments)

    monkeypatch.setattr(scripts, "run", run)
    return made


async def test_offers_of_several_pages_go_out_in_one_call(frontier, offering, calls):
    pages = [[content(10 * page + number) for number in range(3)] for page in range(5)]
    answers = await asyncio.gather(*map(offering.offers.offer, [*pages, pages[0]]))
    assert [answer.new for answer in answers] == [3] * 5 + [0]
    assert len(calls) == 1
    account = await frontier.account()
    assert (account.offered, account.known, account.ready) == (18, 3, 15)
    await offering.offers.close()


async def test_offers_of_another_edition_or_budget_go_out_apart(frontier, offering, calls):
    terms = [{"edition": 1}, {"edition": 2}, {"budget": 1}]
    seeds = [[content(2 * number), content(2 * number + 1)] for number in range(3)]
    offers = [offering.offers.offer(own, **how) for own, how in zip(seeds, terms, strict=True)]
    assert [answer.new for answer in await asyncio.gather(*offers)] == [2, 2, 1]
    assert [arguments[1] for arguments in calls] == [1, 2, 0]
    assert (await frontier.account()).failures == {"budget-follow": 1}


async def test_a_page_whose_offers_redis_can_t_take_holds_up_no_other(frontier, offering, caplog):
    await frontier.redis.set(frontier.key("ready:junk.test"), "junk")
    stuck = asyncio.create_task(offering.offers.offer([content(1, "junk.test")]))
    assert (await offering.offers.offer([content(2)])).new == 1
    assert (await offering.offers.offer([content(3)])).new == 1
    assert "2 offers are sent page by page" in caplog.text
    assert not stuck.done()
    await frontier.redis.delete(frontier.key("ready:junk.test"))
    await stuck


async def test_offers_wait_together_for_a_redis_that_takes_no_writes(frontier, offering, calls, caplog, monkeypatch):
    monkeypatch.setattr(offers, "RETRY_SECONDS", 0.01)
    await frontier.redis.config_set("min-replicas-to-write", 1)
    try:
        waiting = [asyncio.create_task(offering.offers.offer([content(number)])) for number in range(20)]

        async def was_refused_again():
            return len(calls) > 3

        await frontier.until(was_refused_again)
    finally:
        await frontier.redis.config_set("min-replicas-to-write", 0)
    assert [(await one).new for one in waiting] == [1] * 20
    assert len(set(map(len, calls))) == 1  # each call had all pages
    assert "page by page" not in caplog.text
    assert "20 offers: waiting for Redis: NOREPLICAS" in caplog.text


async def test_a_page_that_is_given_up_takes_no_other_with_it(frontier, offering):
    given_up = asyncio.create_task(offering.offers.offer([content(1)]))
    other = asyncio.create_task(offering.offers.offer([content(2)]))
    await asyncio.sleep(0)
    given_up.cancel()
    assert (await other).new == 1
    assert (await frontier.totals()).ready == 1


async def test_whoever_offers_hears_what_a_deleted_plan_was_refused(frontier, offering):
    keys = frontier.keys.partition(0).script_keys("content")
    await scripts.run(frontier.redis, "plan_state", keys, ["gone", 1, 1, "deleted"])
    gone, known = content(1, plan="gone"), content(2)
    await frontier.offer(known)
    assert await offering.offers.offer([gone, known, content(3)]) == (1, (gone,))
    assert await offering.offers.offer([known, gone]) == (0, (gone,))  # one of them is remembered


async def test_what_redis_said_to_be_known_is_only_counted(frontier, offering, calls):
    for page in range(3):
        await offering.offers.offer([content(1), content(2), content(3 + page)])
    assert [len(arguments) for arguments in calls] == [9 + 3 * 3, 9 + 3 + 3, 9 + 3 + 3]
    assert offering.stats.values["frontier/offered/remembered"] == 4
    account = await frontier.account()
    assert (account.offered, account.known, account.ready, account.difference) == (9, 4, 5, 0)
    assert await frontier.problems() == []


@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError])
async def test_whoever_waits_hears_why_nothing_is_sent_any_more(offering, monkeypatch, error):
    async def run(*_arguments):
        raise error

    monkeypatch.setattr(scripts, "run", run)
    died = []
    offering.events.subscribe(TaskDied, died.append)
    with pytest.raises(error):
        await offering.offers.offer([content(1)])
    assert [event.name for event in died] == ["offers to partition 0"]


async def test_links_of_pages_that_are_held_have_the_priority_that_their_plan_was_given_meanwhile(frontier, offering):
    seeds = [content(1), replace(content(2), why="its words"), replace(content(3), plan="q")]
    offering.events.publish(PriorityChanged("p", 8))
    await offering.offers.offer(seeds)
    offering.events.publish(PlansChanged("q"))  # says nothing of this one
    await offering.offers.offer([content(5)])
    offering.events.publish(PlansChanged("p"))  # what is claimed from now on has its own
    await offering.offers.offer([content(4)])
    claimed = (await frontier.claim()).seeds
    assert {number: each.seed.priority for number, each in zip(numbers(claimed), claimed, strict=True)} == {
        1: 8,
        2: 5,
        3: 5,
        4: 5,
        5: 8,
    }
