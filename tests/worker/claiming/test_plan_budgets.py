"""What plans have taken of their budgets, as Redis counts it for all workers, whichever of them die."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from frontier.conftest import redis_settings  # noqa: F401 -- in a cluster, too, by its pytest.mark.faults
from frontier.driver import FrontierDriver, content, turns
from samples import TURN, a_visit

from crawler.base import crawl_time
from crawler.base.errors import UnavailableError
from crawler.base.events import Events
from crawler.base.models import Seed
from crawler.base.reasons import budget_reason
from crawler.frontier import scripts
from crawler.frontier.keys import partition_of
from crawler.plans.plan_budget import PlanBudget
from crawler.servers.redis import redis_async
from crawler.worker.claiming.plan_budgets import PlanBudgets
from crawler.worker.settling.settler import BudgetsUsed
from crawler.worker.visits.visit import Lane, Visit, VisitEnded

PARTITIONS = 2
HOSTS = ("a.test", "b.test")  # in different partitions
PAGE_BYTES = 10


class KilledError(Exception):
    """What a worker ends by that is killed."""


class Fuse:
    """Kills whoever sends the nth command: before Redis has run it, or after."""

    def __init__(self, client, number, *, after):
        self.left, self.after = number, after
        self.send, self.pipe = client.execute_command, client.pipeline
        client.execute_command, client.pipeline = self.guarded(self.send), self.pipeline

    def pipeline(self, **options):
        pipe = self.pipe(**options)
        pipe.execute = self.guarded(pipe.execute)
        return pipe

    def guarded(self, call):
        async def run(*arguments, **options):
            self.left -= 1
            if self.left == 0 and not self.after:
                raise KilledError
            answer = await call(*arguments, **options)
            if self.left == 0:
                raise KilledError
            return answer

        return run


class Node:
    """A worker that crawls all that it can claim; each page is an item."""

    def __init__(self, redis, owner, budget, edition=1):
        self.driver = FrontierDriver(redis, PARTITIONS)
        self.owner, self.budget, self.edition = owner, budget, edition
        self.events, self.settlements = Events(), []
        self.budgets = PlanBudgets(redis, self.driver.keys, PARTITIONS, self.events)
        self.events.subscribe(VisitEnded, lambda event: self.settlements.append(event.settlement))

    async def claim(self, partition, **options):
        claimed = (await self.driver.claim(self.owner, partition=partition, **options)).seeds
        return [Visit(seed, Lane(seed.seed.host, TURN, partition, 0.0), self.events) for seed in claimed]

    async def take(self, visit):
        return await self.budgets.take(visit, visit.seed, self.budget, self.edition)

    async def visit(self, visit):
        """Crawls a page if its budget has room for it."""
        if bound := await self.take(visit):
            visit.end_as("fail", budget_reason(bound))
        else:
            visit.items, visit.use.bytes = 1, PAGE_BYTES
        visit.end_part()
        return bound

    async def settle(self, partition, visits):
        settlements = [end for end in self.settlements if end.claimed.partition == partition]
        self.settlements = [end for end in self.settlements if end.claimed.partition != partition]
        await self.driver.settle(self.owner, settlements, turns(visit.claimed for visit in visits), partition=partition)
        self.events.publish(BudgetsUsed(partition))
        await self.budgets.close()

    async def work(self):
        await self.driver.session(self.owner)
        for partition in range(PARTITIONS):
            while visits := await self.claim(partition, max_seeds=2):
                for visit in visits:
                    await self.visit(visit)
                await self.settle(partition, visits)


async def begin(driver):
    await driver.polite()
    await driver.redis.hset(driver.keys.plans, mapping={"p": "its record", "q": "its record"})


@pytest.fixture
async def frontier(redis):
    driver = FrontierDriver(redis, PARTITIONS)
    await begin(driver)
    for owner in "AB":
        await driver.session(owner)
    return driver


async def counted(frontier, plan="p"):
    """What the plan has taken of its budget, and how many of its pages are in flight."""
    budget = await frontier.redis.hgetall(frontier.keys.plan_budget(plan))
    numbers = {name.decode(): int(number) for name, number in budget.items() if not name.startswith(b"began")}
    return numbers, await frontier.redis.hlen(frontier.keys.held_pages(plan))


def pages(number):
    return [content(index, host) for host in HOSTS for index in range(number)]


@pytest.mark.parametrize("after", [False, True])
async def test_a_page_counts_once_at_whichever_command_its_worker_is_killed(redis, redis_settings, after):  # noqa: F811
    budget, number, killed = PlanBudget(pages=7, per_host=3), 0, True
    by_host = {"host a.test": 3, "host b.test": 3, "host c.test": 1}
    while killed:
        number += 1
        await redis.flushdb()
        frontier = FrontierDriver(redis, PARTITIONS)
        await begin(frontier)
        await frontier.offer(*pages(3))
        async with redis_async(redis_settings) as dying:
            Fuse(dying, number, after=after)
            try:
                await Node(dying, "A", budget).work()
                killed = False
            except KilledError:
                await frontier.lapse("A")
        await frontier.offer(content(1, "c.test"))  # with which comes what a worker left that was killed at its end
        await Node(redis, "B", budget).work()
        account = await frontier.account()
        assert (account.finished, account.failed) == (7, 0), number
        numbers, in_flight = await counted(frontier)
        assert in_flight == 0, number
        assert numbers == {"pages": 7, "items": 7, "bytes": 7 * PAGE_BYTES} | by_host, number
        assert not await frontier.problems()
    assert number > 20


async def test_a_page_that_was_not_tried_is_given_back(redis, frontier):
    await frontier.offer(*pages(2))
    node = Node(redis, "A", PlanBudget(pages=2))
    visits = await node.claim(0)
    assert [await node.take(visit) for visit in visits] == ["", ""]
    assert [await node.take(visit) for visit in visits] == ["", ""]  # again, as after an answer that was lost
    other = (await node.claim(1))[0]
    assert await Node(redis, "B", PlanBudget(pages=2)).take(other) == "pages"
    visits[0].release()
    visits[1].end_as("retry", "timeout")
    visits[1].end_part()
    await node.settle(0, visits)
    assert await counted(frontier) == ({"pages": 1, "items": 0, "bytes": 0}, 0)
    assert [await node.visit(visit) for visit in [other, *await node.claim(0)]] == ["", "pages", "pages"]


async def test_a_plan_that_a_page_is_left_out_for_gets_it_back(redis, frontier):
    await frontier.offer(content(1), content(1, plan="q"))
    node = Node(redis, "A", PlanBudget(pages=1))
    (visit,) = await node.claim(partition_of("a.test", PARTITIONS))
    assert [await node.budgets.take(visit, seed, node.budget, 1) for seed in visit.seeds] == ["", ""]
    visit.leave_out(visit.seeds[1])
    visit.items = 1
    visit.end_part()
    await node.settle(visit.claimed.partition, [visit])
    assert await counted(frontier) == ({"pages": 1, "items": 1, "bytes": 0}, 0)
    assert await counted(frontier, "q") == ({"pages": 0, "items": 0, "bytes": 0}, 0)


async def test_a_worker_whose_session_has_lapsed_takes_nothing_from_the_one_that_has_the_page(redis, frontier):
    await frontier.offer(content(1))
    budget = PlanBudget(pages=1)
    late, node = Node(redis, "A", budget), Node(redis, "B", budget)
    partition = partition_of("a.test", PARTITIONS)
    (lapsed,) = await late.claim(partition)
    assert await late.take(lapsed) == ""
    await frontier.lapse("A")
    (visit,) = await node.claim(partition)
    assert await node.take(visit) == ""
    with pytest.raises(UnavailableError, match="held by somebody else"):
        await late.take(lapsed)
    assert await node.visit(visit) == ""
    await node.settle(partition, [visit])
    assert await counted(frontier) == ({"pages": 1, "items": 1, "bytes": PAGE_BYTES}, 0)
    lapsed.abandon()
    assert await late.take(lapsed) == "pages"
    assert (await counted(frontier))[1] == 0


async def test_a_page_comes_back_that_an_old_edition_of_its_budget_refuses(redis, frontier):
    await frontier.offer(*pages(1))
    old = Node(redis, "A", PlanBudget(pages=1), edition=1)
    (first,), (second,) = await old.claim(0), await old.claim(1)
    assert [await old.visit(visit) for visit in (first, second)] == ["", "pages"]
    for partition in range(PARTITIONS):
        keys = frontier.keys.partition(partition).script_keys("content")
        await scripts.run(redis, "plan_state", keys, ["p", 2, 2, "active"])
    for partition in range(PARTITIONS):
        await old.settle(partition, [(first, second)[partition]])
    assert (await frontier.account()).failed == 0
    await Node(redis, "B", PlanBudget(pages=2), edition=2).work()
    account = await frontier.account()
    assert (account.finished, account.failed) == (2, 0)


@pytest.mark.parametrize(
    ("bound", "has_room", "has_none"),
    [
        ("per_domain", "http://www.example.org/", "http://b.example.net/"),
        ("per_depth", "depth 1", "http://www.example.org/"),
        ("per_template", "http://a.example.net/news/archive", "http://a.example.net/news/2/"),
    ],
)
async def test_a_bound_counts_what_its_name_says(redis, frontier, bound, has_room, has_none):
    first = "http://a.example.net/news/1/"
    depth = int(has_room == "depth 1")
    room = Seed(first if depth else has_room, "p", "s", depth=depth)
    node = Node(redis, "A", PlanBudget(**{bound: 1}))
    visits = [a_visit(number=number) for number in range(3)]
    seeds = [Seed(first, "p", "s"), Seed(has_none, "p", "s"), room]
    bounds = [await node.budgets.take(*of, node.budget, 1) for of in zip(visits, seeds, strict=True)]
    assert bounds == ["", bound, ""]


@pytest.mark.parametrize(("bound", "most"), [("items", 2), ("bytes", 2 * PAGE_BYTES)])
async def test_after_what_was_brought_only_pages_in_flight_bring_more(redis, frontier, bound, most):
    await frontier.offer(*pages(4))
    budget = PlanBudget(**{bound: most})
    one, other = Node(redis, "A", budget), Node(redis, "B", budget)
    ours, theirs = await one.claim(0), await other.claim(1)
    assert await other.take(theirs[0]) == ""  # in flight
    assert [await one.visit(visit) for visit in ours[:2]] == ["", ""]
    await one.settle(0, ours)
    assert [await one.visit(ours[2]), await other.visit(theirs[1])] == [bound, bound]
    assert await other.visit(theirs[0]) == ""
    await other.settle(1, theirs)
    assert (await counted(frontier))[0][bound] == most * 3 // 2
    one.budget = PlanBudget(**{bound: most * 2})
    assert await one.visit(ours[3]) == ""


async def test_seconds_count_from_the_first_page_of_an_edition(redis, frontier, monkeypatch):
    await frontier.offer(*pages(2))
    node = Node(redis, "A", PlanBudget(seconds=50))
    visits = await node.claim(0)
    assert await node.take(visits[0]) == ""
    later = datetime.now(UTC) + timedelta(seconds=60)
    monkeypatch.setattr(crawl_time, "now", lambda: later)
    assert await node.take(visits[1]) == "seconds"
    node.edition = 2
    assert await node.take(visits[1]) == ""


async def test_a_page_is_released_while_redis_is_away(redis, frontier, losing):
    await frontier.offer(content(1))
    node = Node(redis, "A", PlanBudget(pages=1))
    (visit,) = await node.claim(partition_of("a.test", PARTITIONS))
    losing.add("take_page")
    with pytest.raises(UnavailableError, match="the budget of plan p"):
        await node.take(visit)
    losing.clear()
    visit.release()
    await node.settle(visit.claimed.partition, [visit])
    assert (await counted(frontier))[0]["pages"] == 0


async def test_junk_in_one_plan_s_key_stops_no_other_s_budget(frontier, redis):
    node = Node(redis, "A", PlanBudget(pages=5))
    await frontier.offer(content(1, HOSTS[0]), content(2, HOSTS[0], plan="q"))
    await node.work()
    await redis.set(frontier.keys.plan_budget("p"), "junk")
    await redis.hset(frontier.keys.partition(0).of("content", "used"), b"0" * 16 + b"claim", "p 1 1 1 10")
    await frontier.offer(content(3, HOSTS[0], plan="q"))
    await Node(redis, "B", PlanBudget(pages=5)).work()
    assert (await counted(frontier, "q"))[0]["pages"] == 2


async def test_a_page_in_flight_brings_back_no_budget_of_a_plan_that_was_deleted(redis, frontier):
    await frontier.offer(*pages(1))
    node = Node(redis, "A", PlanBudget(pages=5))
    visits = await node.claim(0) + await node.claim(1)
    await node.take(visits[0])
    forgotten = [frontier.keys.plan_budget("p"), frontier.keys.held_pages("p")]
    assert await scripts.compare_and_set(redis, frontier.keys.plans, "p", b"its record", None, forgotten=forgotten)
    with pytest.raises(UnavailableError, match="plan p was deleted"):
        await node.take(visits[1])
    visits[0].end_part()
    await node.settle(0, visits)
    assert not await redis.exists(*forgotten)
