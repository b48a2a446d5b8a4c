"""Submitting a plan: once, again, anew; what dies half-way, the same call completes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler import plans
from crawler.base.errors import PlanError
from crawler.base.models import Seed
from crawler.frontier import ledger, recount
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.offer import OFFER_BATCH
from crawler.frontier.preflight import prepare
from crawler.frontier.queue import Queue, queues_of
from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.settlement import Settlement
from crawler.plans.plan import with_priority
from crawler.plans.registry import Registry
from crawler.plans.submission import submit

PLAN = """
name: flood
sites: [{{use: demo_forum, name: board, base: "http://board.test"}}]
keywords: {{event: {{optional: {words}}}}}
pages: {pages}
"""

MINE = Seed("http://board.test/thread/2", "flood", "board", keywords=("洪水1",), depth=1)
THEIRS = replace(MINE, plan="other", keywords=("x",))


def a_plan(searches=10, schedule=""):
    """A plan of so many searches, of each of which the first page is offered."""
    words = [f"洪水{number}" for number in range(searches)]
    text = PLAN.format(words=words, pages=5) + (f"schedule: {schedule}\n" if schedule else "")
    return plans.parse(text, "flood.yaml", max_seeds=100_000)


class Node:
    """A registry with both queues, and what tests look at."""

    def __init__(self, redis):
        self.redis, self.keys = redis, Keys("t")
        self.registry = Registry(redis, self.keys, 1)
        self.queues = queues_of(FrontierConfig(self.keys), redis)
        self.nav, self.content = self.queues["nav"], self.queues["content"]

    async def submit(self, plan, **options):
        return [step async for step in self.submission(plan, **options)]

    def submission(self, plan, **options):
        return submit(plan, self.registry, self.queues, **options)

    async def account(self, frontier="nav"):
        return (await ledger.read(self.redis, self.keys, 1))["flood", "board"][frontier]

    async def claim(self, queue, max_seeds=100):
        await self.redis.zadd(self.keys.partition(0).sessions, {"A": 10**15})
        await self.redis.delete(self.keys.partition(0).turn("board.test"))
        number = await self.redis.incr("test:claims")
        return (await queue.claim(0, "A", f"A#{number}", max_seeds=max_seeds, carrying=0)).seeds

    async def decide(self, state):
        record = await self.registry.change_plan("flood", lambda old: old.decided(state, 0))
        await self.registry.tell_partitions(record)

    async def sound(self):
        return await recount.recount(self.redis, self.keys, 1) == []


@pytest.fixture
async def node(redis):
    await prepare(redis, Keys("t"), 1)
    return Node(redis)


class TestSubmit:
    async def test_all_nav_seeds_are_offered_and_the_record_is_there(self, node):
        assert await node.submit(a_plan()) == [(10, 10)]
        record = await node.registry.plan("flood")
        assert (record.nav_seeds, record.sites, record.state) == (10, ["board"], "active")
        assert (record.offering_until_ms, record.replacing) == (0, False)
        assert record.definition == a_plan().definition()
        assert (await node.account()).ready == 10
        assert await node.sound()

    async def test_big_plans_go_in_steps(self, node):
        steps = await node.submit(a_plan(600))
        assert steps == [(OFFER_BATCH, OFFER_BATCH), (600, 600)]

    async def test_the_same_plan_again_is_all_known(self, node):
        await node.submit(a_plan())
        edition = (await node.registry.plan("flood")).edition
        assert await node.submit(a_plan()) == [(10, 0)]
        assert (await node.registry.plan("flood")).edition == edition

    async def test_another_plan_of_the_name_is_refused_and_changes_nothing(self, node):
        await node.submit(a_plan())
        before = await node.redis.hgetall(node.keys.plans)
        with pytest.raises(PlanError, match="another content: give it another name, or use --replace"):
            await node.submit(a_plan(6))
        assert await node.redis.hgetall(node.keys.plans) == before
        assert (await node.account()).offered == 10

    async def test_one_that_died_half_way_is_completed(self, node):
        big = a_plan(600)
        submission = node.submission(big)
        await anext(submission)
        await submission.aclose()
        assert await node.registry.is_offering()
        assert await node.submit(big) == [(OFFER_BATCH, 0), (600, 600 - OFFER_BATCH)]
        assert not await node.registry.is_offering()
        assert await node.sound()

    async def test_a_paused_plan_goes_on_unless_its_sites_alone_are_replaced(self, node):
        await node.submit(a_plan())
        await node.decide("paused")
        assert await node.claim(node.nav) == []
        assert await node.submit(a_plan(), replace_sites=True) == [(10, 0)]
        assert (await node.registry.plan("flood")).state == "paused"
        assert await node.submit(a_plan(), replace_sites=False) == [(10, 0)]
        assert (await node.registry.plan("flood")).state == "active"
        assert await node.claim(node.nav) != []

    async def test_a_pause_during_submission_stays(self, node):
        big = a_plan(600)
        async for _ in node.submission(big):
            await node.decide("paused")
        record = await node.registry.plan("flood")
        assert (record.state, record.offering_until_ms) == ("paused", 0)

    @pytest.mark.parametrize("change", ["cancelled", "replaced"])
    async def test_it_ends_when_somebody_else_ends_the_plan(self, node, change):
        big = a_plan(600)
        submission = node.submission(big)
        await anext(submission)
        if change == "cancelled":
            await node.decide("cancelled")
        else:
            await node.registry.change_plan("flood", lambda old: replace(old, edition=old.edition + 1))
        with pytest.raises(PlanError, match=f"was {change} while it was being submitted"):
            await anext(submission)
        assert (await node.account()).ready == 0
        assert await node.sound()

    async def test_a_cancelled_plan_is_refused(self, node):
        await node.submit(a_plan())
        await node.decide("cancelled")
        with pytest.raises(PlanError, match="was cancelled: delete it first, or use --replace"):
            await node.submit(a_plan())


class TestReplace:
    async def test_old_search_pages_are_dropped_and_new_ones_offered(self, node):
        await node.submit(a_plan())
        held = await node.claim(node.nav, max_seeds=1)
        assert await node.submit(a_plan(6), replace=True) == [(6, 6)]
        account = await node.account()
        assert (account.offered, account.ready, account.executing, account.failures) == (16, 6, 0, {"replaced": 10})
        assert (account.difference, await node.sound()) == (0, True)
        assert await node.nav.settle(0, "A", [Settlement("finish", held[0])]) == (0, 1)
        claimed = await node.claim(node.nav)
        edition = (await node.registry.plan("flood")).edition
        assert {one.seed.edition for one in claimed} == {edition}

    async def test_content_pages_that_were_found_stay(self, node):
        await node.submit(a_plan())
        page = Seed("http://board.test/thread/1", "flood", "board")
        await node.content.offer([page])
        await node.submit(a_plan(6), replace=True)
        assert (await node.account("content")).ready == 1

    @pytest.mark.parametrize("reason", ["lacks-words", "out-of-scope", "scope-hosts", "budget-pages", "timeout"])
    @pytest.mark.parametrize("by_old_word", [False, True])
    async def test_a_page_comes_back_that_its_old_edition_refuses_meanwhile(self, node, reason, by_old_word):
        """It was claimed before the new one, or by a worker that hadn't heard of that yet."""
        await node.submit(a_plan())
        await node.content.offer([MINE])
        before, held = await node.registry.plan("flood"), () if by_old_word else await node.claim(node.content)
        await node.submit(a_plan(6), replace=True)
        editions = {"flood": before.edition} if by_old_word else None
        (claimed,) = held or await node.claim(node.content)
        await node.content.settle(0, "A", [Settlement("fail", claimed, reason=reason, editions=editions)])
        again = await node.claim(node.content)
        assert (len(again), await node.sound()) == (reason != "timeout", True)
        for claimed in again:  # judged by the new one, it fails
            editions = {"flood": (await node.registry.plan("flood")).edition}
            await node.content.settle(0, "A", [Settlement("fail", claimed, reason=reason, editions=editions)])
        assert (await node.account("content")).failures == {reason: 1}

    async def test_a_cancelled_plan_s_pages_come_back_though_what_led_to_them_is_finished(self, node):
        """As by a link, a redirect or a search; but for those of words or sites that the plan doesn't have any more."""
        await node.submit(a_plan())
        finished = Seed("http://board.test/thread/1", "flood", "board", keywords=("洪水1",))
        await node.content.offer([finished])
        await node.content.settle(0, "A", [Settlement("finish", (await node.claim(node.content))[0])])
        pages = [
            Seed("http://board.test/thread/2", "flood", "board", keywords=("洪水1",), depth=1),
            Seed("http://board.test/thread/3", "flood", "board", keywords=("洪水8",), further_keywords=(("洪水2",),)),
            Seed("http://board.test/thread/4", "flood", "board", hops=1),
        ]
        others = [
            Seed("http://board.test/thread/5", "flood", "board", keywords=("洪水9",)),
            Seed("http://board.test/thread/6", "flood", "gone"),
        ]
        await node.content.offer([*pages, *others])
        await node.decide("cancelled")
        await node.claim(node.content)
        assert (await node.account("content")).failures == {"cancelled": 4}
        await node.submit(a_plan(6), replace=True)
        assert (await node.registry.plan("flood")).state == "active"
        assert {claimed.seed.url for claimed in await node.claim(node.content)} == {page.url for page in pages}
        assert await node.content.offer([finished, *others]) == [False, True, True]
        assert await node.sound()

    @pytest.mark.parametrize(
        ("others_first", "they_end", "tellable"),
        [(True, None, False), (False, None, False), (False, "finish", True), (False, "finish", False)],
    )
    async def test_a_cancelled_plan_s_pages_come_back_that_another_plan_has_too(
        self, node, others_first, they_end, tellable
    ):
        """Whether they still wait for that plan, or it was given them, by a page that can be told of or not."""
        await node.submit(a_plan())
        for seed in [THEIRS, MINE] if others_first else [MINE, THEIRS]:
            await node.content.offer([seed])
        await node.decide("cancelled")
        await SeedAdmin(node.content).set_aside("flood")
        if they_end:
            (claimed,) = await node.claim(node.content)
            assert claimed.seeds == (THEIRS,)
            await node.content.settle(0, "A", [Settlement(they_end, claimed, tellable=tellable)])
        await node.submit(a_plan(6), replace=True)
        (claimed,) = await node.claim(node.content)
        assert claimed.seeds == ((MINE,) if they_end else (THEIRS, MINE))
        assert claimed.delivered is tellable
        assert await node.sound()

    async def test_a_page_comes_back_that_another_plan_took_over_after_it_was_cancelled(self, node):
        await node.submit(a_plan())
        await node.content.offer([MINE])
        await node.decide("cancelled")
        await SeedAdmin(node.content).set_aside("flood")
        assert await node.content.offer([THEIRS]) == [True]
        await node.submit(a_plan(6), replace=True)
        assert (await node.claim(node.content))[0].seeds == (THEIRS, MINE)

    async def test_a_page_comes_back_that_was_found_for_a_plan_after_it_was_cancelled(self, node):
        """By a page that was on its way then, and that other plan's wait for."""
        await node.submit(a_plan())
        await node.content.offer([THEIRS])
        await node.decide("cancelled")
        await node.content.offer([MINE, replace(MINE, keywords=("洪水2",))])
        await node.submit(a_plan(6), replace=True)
        mine = replace(MINE, further_keywords=(("洪水2",),))
        assert (await node.claim(node.content))[0].seeds == (THEIRS, mine)

    async def test_a_page_of_two_cancelled_plans_comes_back_for_the_one_s_words(self, node):
        await node.submit(a_plan())
        await node.content.offer([THEIRS, MINE])
        await node.decide("cancelled")
        await node.redis.hset(node.keys.partition(0).plan_states, "other", "9 1 cancelled")
        await SeedAdmin(node.content).set_aside("flood")
        await node.submit(a_plan(6), replace=True)
        assert (await node.claim(node.content))[0].seeds == (MINE,)

    async def test_what_other_words_have_found_stays_noted_until_the_plan_is_deleted(self, node):
        await node.submit(a_plan())
        await node.content.offer([MINE, THEIRS])
        await node.decide("cancelled")
        admin = SeedAdmin(node.content)
        await admin.set_aside("flood")
        await node.submit(a_plan(1), replace=True)
        assert (await node.claim(node.content))[0].seeds == (THEIRS,)
        assert await node.redis.keys("*cancelled:flood") != []
        await admin.forget_cancelled("flood")
        assert await node.redis.keys("*cancelled:flood") == []

    async def test_a_schedule_of_the_old_edition_ends(self, node):
        await node.submit(a_plan(schedule="every 1h"))
        claimed = await node.claim(node.nav, max_seeds=1)
        await node.nav.settle(0, "A", [Settlement("finish", claimed[0])])
        await node.submit(a_plan(), replace=True)
        assert (await node.nav.totals()).waiting == 0

    @pytest.mark.parametrize("steps", range(14))
    async def test_whatever_dies_half_way_the_same_call_completes_it(self, node, monkeypatch, steps):
        """Dies at the first, second ... write of the replacement, or never."""
        await node.submit(a_plan(schedule="every 1h"))
        left = [steps]
        writes = {
            Registry: ("change_plan", "save_sites", "tell_partitions"),
            SeedAdmin: ("drop", "retry", "offer_cancelled", "resume"),
            Queue: ("offer",),
        }
        for kind, name in ((kind, name) for kind, names in writes.items() for name in names):
            monkeypatch.setattr(kind, name, _dying(getattr(kind, name), left))
        died = False
        try:
            await node.submit(a_plan(6), replace=True)
        except ConnectionError:
            died = True
        monkeypatch.undo()
        await node.submit(a_plan(6), replace=died)
        assert await node.registry.is_offering() is False
        account = await node.account()
        edition = (await node.registry.plan("flood")).edition
        seeds = [one.seed async for one in _nav_seeds(node)]
        assert {seed.edition for seed in seeds} == {edition}
        assert (len(seeds), account.ready, account.difference) == (6, 6, 0)
        assert await node.sound()


async def test_a_site_name_that_another_plan_uses_for_another_place_is_refused(node):
    await node.submit(a_plan())
    elsewhere = (
        PLAN.format(words=["flood"], pages=1).replace("name: flood", "name: other").replace("board.test", "b.test")
    )
    plan = plans.parse(elsewhere, "other.yaml", max_seeds=100)
    with pytest.raises(PlanError, match=r"http://board\.test in plan 'flood' and http://b\.test in this one"):
        await node.submit(plan)
    assert list(await node.registry.plans()) == ["flood"]
    assert (await node.registry.site("board")).base == "http://board.test"


def _dying(method, left):
    async def dies(*arguments, **options):
        if left[0] == 0:
            raise ConnectionError
        left[0] -= 1
        return await method(*arguments, **options)

    return dies


async def _nav_seeds(node):
    async for found in SeedAdmin(node.nav).seeds():
        if found.state != "failed":
            yield found


async def test_what_waits_for_a_replaced_plan_has_its_new_priority_and_its_new_word_of_links(node):
    await node.submit(a_plan())
    scored = replace(MINE, url="http://board.test/thread/3", priority=2, why="a word")
    await node.content.offer([replace(MINE, depth=0), scored, replace(MINE, url="http://board.test/t/4", plan="q")])
    await node.content.offer([replace(MINE, url="http://board.test/t/4")])
    text = PLAN.format(words=["洪水1"], pages=5)
    await node.submit(
        plans.parse(f"{text}priority: 8\nfollow: {{depth: 2}}\n", "flood.yaml", max_seeds=10), replace=True
    )
    seeds = {
        seed.url[-1]: seed for each in await node.claim(node.content) for seed in each.seeds if seed.plan == "flood"
    }
    assert {end: (seed.priority, seed.general) for end, seed in seeds.items()} == {
        "2": (8, True),
        "3": (2, True),
        "4": (8, True),
    }
    await node.submit(
        plans.parse(f"{text}pages: 1\n".replace("pages: 5", ""), "flood.yaml", max_seeds=10), replace=True
    )
    (kept,) = [seed async for seed in _seeds(node, "2")]
    assert (kept.priority, kept.general, kept.keywords) == (5, False, ("洪水1",))
    assert await node.sound()


async def _seeds(node, end):
    for value in (await node.redis.hgetall(node.keys.partition(0).of("content", "seed"))).values():
        seed = Seed.load(value, "content")
        if seed.url.endswith(end):
            yield seed


async def test_a_priority_that_is_given_while_a_plan_is_submitted_holds_for_all_of_it(node):
    submission = node.submission(a_plan(600))
    await anext(submission)
    await node.registry.change_plan("flood", lambda old: replace(old, definition=with_priority(old.definition, 9)))
    async for _ in submission:
        pass
    values = await node.redis.hvals(node.keys.partition(0).of("nav", "seed"))
    assert [Seed.load(value, "nav").priority for value in values] == [9] * 600
