"""Each seed is taken once; whoever offers it again is told so, and the ledger counts it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from frontier.driver import content
from waiting import PATIENCE_SECONDS

from crawler.frontier import recount
from crawler.frontier.offer import OfferTerms, Proposal
from crawler.frontier.seed_admin import SeedAdmin


async def test_an_offer_wakes_its_frontier_once(frontier):
    async with frontier.redis.pubsub() as channel:
        await channel.subscribe(frontier.keys.wake("content"))
        await frontier.offer(content(1), content(2))
        await frontier.offer(content(1))  # known already, so nobody is woken
        await frontier.redis.publish(frontier.keys.wake("content"), "end")
        heard = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"end" not in heard:
                message = await channel.get_message(ignore_subscribe_messages=True, timeout=None)
                heard += [message["data"]] if message else []
    assert heard == [b"offer", b"end"]


# -- The budget of followed links --------------------------------------------------------------------------------------


async def test_the_budget_is_forgotten_in_time(frontier):
    await frontier.offer(content(1), budget=1)
    (key,) = [key async for key in frontier.redis.scan_iter("*:followed:*")]
    ends_in_ms = await frontier.redis.pttl(key)
    assert 29 * 86_400_000 < ends_in_ms <= 30 * 86_400_000
    await frontier.redis.delete(key)
    assert await frontier.offer(content(2), budget=1) == [True]


# -- Traps -------------------------------------------------------------------------------------------------------------


async def offered(frontier, trap, refused_as="", plan="p"):
    """Offers a page with a mark; returns the ledger of its plan, and the mark that is stored."""
    proposal = Proposal.of(content(1, plan=plan, trap=trap))
    await frontier.queues["content"].offer_to(0, [proposal], OfferTerms(refused_as=refused_as))
    account = await frontier.account(plan)
    async for seed in SeedAdmin(frontier.queues["content"]).seeds(plan=plan):
        marks = {wanting.plan: wanting.trap for wanting in seed.seeds}
    return account.ready, account.failures, marks[plan]


async def test_a_page_that_is_refused_as_a_trap_is_ready_once_a_better_link_leads_there(frontier):
    assert await offered(frontier, "a1b2", "trap-template") == (0, {"trap-template": 1}, "a1b2")
    assert await offered(frontier, "c3d4") == (0, {"trap-template": 1}, "a1b2")  # no better
    assert await offered(frontier, "k", "trap-template") == (1, {}, "k")
    assert await offered(frontier, "s") == (1, {}, "s")
    assert await offered(frontier, "") == (1, {}, "")
    assert await offered(frontier, "k") == (1, {}, "")
    assert await recount.recount(frontier.redis, frontier.keys, 1) == []


async def test_a_page_that_pages_of_one_text_lead_to_is_ready_once_one_of_another_text_does(frontier):
    assert await offered(frontier, "a1b2", "trap-same-text") == (0, {"trap-same-text": 1}, "a1b2")
    assert await offered(frontier, "a1b2") == (0, {"trap-same-text": 1}, "a1b2")
    assert await offered(frontier, "c3d4") == (1, {}, "c3d4")


async def test_a_link_with_a_better_place_gives_a_page_no_heavier_mark(frontier):
    seed = content(1)
    for priority, trap in ((3, ""), (7, "a1b2")):
        proposals = [Proposal.of(replace(seed, priority=priority, trap=trap, why="said by a scorer"))]
        await frontier.queues["content"].offer_to(0, proposals, OfferTerms())
    (claimed,) = (await frontier.claim("A")).seeds
    assert (claimed.seed.priority, claimed.seed.trap) == (7, "")


async def test_refused_pages_take_of_their_host_s_budget_of_links_too(frontier):
    proposals = [Proposal.of(content(number)) for number in range(3)]
    terms = OfferTerms(budget=2, refused_as="trap-template")
    await frontier.queues["content"].offer_to(0, proposals, terms)
    account = await frontier.account()
    assert (account.failures, account.notes) == ({"trap-template": 2}, {"over-budget": 1})


async def test_links_that_a_host_has_no_room_for_are_kept_as_failed_until_it_has(frontier):
    """As many as its budget has, 100 at least; as soon as it is larger, and for links that don't count at once."""
    proposals = [Proposal.of(content(number)) for number in range(110)]

    async def offered(budget, *some):
        await frontier.queues["content"].offer_to(0, [proposals[number] for number in some], OfferTerms(budget=budget))
        account = await frontier.account()
        assert await recount.recount(frontier.redis, frontier.keys, 1) == []
        return account.ready, account.failures, account.notes

    assert await offered(2, *range(105)) == (2, {"budget-follow": 100}, {"over-budget": 3})
    assert await offered(2, 2, 3) == (2, {"budget-follow": 100}, {"over-budget": 3})
    assert await offered(5, 2, 3, 4, 5) == (5, {"budget-follow": 97}, {"over-budget": 3})
    assert await offered(5, 105, 106, 107, 108) == (5, {"budget-follow": 100}, {"over-budget": 4})
    assert await offered(0, 5) == (6, {"budget-follow": 99}, {"over-budget": 4})


async def test_a_page_that_is_a_trap_to_one_plan_is_none_to_another(frontier):
    assert await offered(frontier, "k", "trap-facets") == (0, {"trap-facets": 1}, "k")
    assert await offered(frontier, "k", "trap-facets", plan="q") == (1, {}, "k")
    assert await offered(frontier, "s", plan="q") == (1, {}, "s")
    assert await recount.recount(frontier.redis, frontier.keys, 1) == []
