"""What a worker remembers as known to a plan is offered again as soon as it may be known no more."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from frontier.driver import content, ends, turns
from frontier.observed import LOAD, SAVE
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier import scripts
from crawler.frontier.offer import IS_NEW, OfferTerms, Proposal
from crawler.frontier.seed_admin import SeedAdmin
from crawler.worker.offers import known_pages
from crawler.worker.offers.known_pages import KnownPages


class Remembering:
    """A worker's memory of a content frontier."""

    def __init__(self, frontier, owner="A", most=100):
        self.owner = owner
        self.known = KnownPages(frontier.queues["content"], most)

    async def offer(self, *seeds, **terms):
        """Returns which seeds were new, and how many were only counted."""
        proposals = list(map(Proposal.of, seeds))
        answers, counted = await self.known.offer(0, self.owner, proposals, OfferTerms(confirmed=True, **terms))
        return [answer in IS_NEW for answer in answers], counted


@pytest.fixture
def memory(frontier):
    return Remembering(frontier)


async def state(frontier, plan, what, version, edition=1):
    keys = frontier.keys.partition(0).script_keys("content")
    await scripts.run(frontier.redis, "plan_state", keys, [plan, version, edition, what])


async def test_a_seed_is_offered_once_and_counted_each_time(frontier, memory):
    assert await memory.offer(content(1)) == ([True], 0)
    assert await memory.offer(content(1), content(2)) == ([False, True], 1)
    assert await memory.offer(content(1), content(2)) == ([False, False], 2)
    account = await frontier.account()
    assert (account.offered, account.known, account.ready, account.difference) == (5, 3, 2, 0)
    assert await frontier.problems() == []


async def test_each_plan_and_site_asks_for_itself(frontier, memory):
    await memory.offer(content(1))
    assert await memory.offer(content(1, plan="q"), content(1, site="t")) == ([True, True], 0)
    await memory.offer(content(1), content(1, plan="q"), content(1, site="t"))
    assert [(await frontier.account(*of)).known for of in (("p", "s"), ("q", "s"), ("p", "t"))] == [1, 1, 1]


async def test_other_words_that_find_a_waiting_page_are_told_once(frontier, memory):
    assert [await memory.offer(content(1, keywords=words)) for words in (("a",), ("b",))] == [([True], 0), ([False], 0)]
    assert await memory.offer(*(content(1, keywords=words) for words in (("a",), ("b",), ("c",)))) == ([False] * 3, 2)
    (claimed,) = (await frontier.claim()).seeds
    assert claimed.seed.combinations == [["a"], ["b"], ["c"]]


async def test_a_finished_page_is_remembered_for_all_words(frontier, memory):
    await frontier.offer(content(1, keywords=("a",)))
    await frontier.finish("A", (await frontier.claim()).seeds)
    answers = [await memory.offer(content(1, keywords=words)) for words in (("b",), ("c",), ())]
    assert [counted for _, counted in answers] == [0, 1, 1]


async def test_what_failed_or_a_paused_plan_asks_for_is_not_remembered(frontier, memory):
    """What failed is forgotten some day, without a word to anybody."""
    await frontier.fail(content(1))
    assert [await memory.offer(content(1)) for _ in range(2)] == [([False], 0)] * 2
    await state(frontier, "p", "paused", 1)
    assert [await memory.offer(content(2)) for _ in range(2)] == [([True], 0), ([False], 0)]


async def test_what_is_over_the_budget_is_not_remembered(frontier, memory):
    await memory.offer(content(1), content(2), budget=1)
    assert (await frontier.account()).ready == 1
    assert await memory.offer(content(1), content(2), budget=2) == ([False, False], 1)
    assert (await frontier.account()).ready == 2


async def test_a_plan_that_was_cancelled_and_begun_anew_asks_for_its_pages_again(frontier, memory):
    await memory.offer(content(1))
    await state(frontier, "p", "cancelled", 1)
    await SeedAdmin(frontier.queues["content"]).set_aside("p")
    await state(frontier, "p", "active", 2, edition=2)
    assert await memory.offer(content(1), edition=2) == ([True], 0)


async def test_a_page_of_an_older_edition_counts_what_it_leads_to_as_replaced(frontier, memory):
    await state(frontier, "p", "active", 1, edition=2)
    await memory.offer(content(1), edition=2)
    assert await memory.offer(content(1), edition=1) == ([False], 1)
    account = await frontier.account()
    assert (account.offered, account.known, account.notes) == (1, 0, {"replaced": 1})


async def test_a_seed_taken_away_from_its_plan_is_offered_again(frontier, memory):
    await memory.offer(content(1))
    await SeedAdmin(frontier.queues["content"]).drop("p", lambda _found: True, "replaced")
    assert await memory.offer(content(1)) == ([True], 0)


async def test_a_page_out_of_scope_is_offered_again_while_it_is_on_its_way_for_another_plan(frontier, memory):
    await memory.offer(content(1))
    claimed = (await frontier.claim()).seeds
    await frontier.offer(content(1, plan="q"))
    await frontier.settle("A", ends(claimed, "fail", reason="out-of-scope"), turns(claimed))
    assert await memory.offer(content(1)) == ([True], 0)


async def test_nothing_is_remembered_that_redis_may_have_lost(frontier, memory):
    await memory.offer(content(1))
    stem = frontier.keys.partition(0).stem
    before = await frontier.redis.eval(SAVE, 0, f"{stem}:*")
    await memory.offer(content(2))
    await frontier.redis.eval(LOAD, 0, f"{stem}:*", *before)
    assert await memory.offer(content(1), content(2)) == ([False, True], 0)


async def test_nothing_is_remembered_after_a_call_without_an_answer(memory, monkeypatch):
    await memory.offer(content(1))
    real = scripts.run

    async def run(*arguments):
        await real(*arguments)
        raise RedisConnectionError("its answer is lost")

    monkeypatch.setattr(scripts, "run", run)
    with pytest.raises(RedisConnectionError):
        await memory.offer(content(2))
    monkeypatch.setattr(scripts, "run", real)
    assert await memory.offer(content(1), content(2)) == ([False, False], 0)


async def test_what_a_first_batch_has_counted_is_not_counted_again(frontier, memory, monkeypatch):
    await memory.offer(content(1))
    queue = frontier.queues["content"]
    real, calls = queue.offer_batch, 0

    async def offer_batch(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == 2:
            await frontier.redis.delete(f"{frontier.keys.partition(0).stem}:receipts")
        return await real(*arguments, **options)

    monkeypatch.setattr(known_pages, "OFFER_BATCH", 1)
    monkeypatch.setattr(queue, "offer_batch", offer_batch)
    assert await memory.offer(content(1), content(2), content(3)) == ([False, True, True], 1)
    account = await frontier.account()
    assert (calls, account.offered, account.known) == (3, 4, 1)


async def test_nothing_is_remembered_under_a_new_lease(memory):
    await memory.offer(content(1))
    memory.owner = "B"
    assert [(await memory.offer(content(1)))[1] for _ in range(2)] == [0, 1]


async def test_all_pages_are_forgotten_long_before_a_failed_one_may_be_new_again(frontier, monkeypatch):
    now_s = [0.0]
    monkeypatch.setattr(known_pages, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    memory = Remembering(frontier)
    await memory.offer(content(1))
    for at_s, remembered in ((known_pages.MAX_AGE_SECONDS - 1, 1), (known_pages.MAX_AGE_SECONDS, 0)):
        now_s[0] = at_s
        assert (await memory.offer(content(1)))[1] == remembered


async def test_the_pages_that_were_asked_for_longest_ago_make_room(frontier):
    memory = Remembering(frontier, most=16)
    for first in range(0, 45, 15):
        await memory.offer(content(0), *(content(first + number) for number in range(1, 16)))
    assert (await memory.offer(content(0)))[1] == 1
    assert (await memory.offer(*(content(number) for number in range(1, 16))))[1] == 0


async def test_a_better_priority_is_asked_for(frontier, memory):
    assert [(await memory.offer(content(1, priority=priority)))[1] for priority in (3, 3, 7, 7)] == [0, 1, 0, 1]


async def test_receipts_go_with_their_workers(frontier, memory):
    receipts = f"{frontier.keys.partition(0).stem}:receipts"
    others = [Remembering(frontier, owner) for owner in ("B", "C")]
    for number, one in enumerate((memory, *others)):
        await frontier.session(one.owner)
        await one.offer(content(number))
    await frontier.session("B", what="end")
    await frontier.lapse("C")
    await frontier.claim("A")
    assert await frontier.redis.hkeys(receipts) == [b"A"]
    await others[1].offer(content(3))  # it doesn't know yet that its session has lapsed
    assert await frontier.redis.hkeys(receipts) == [b"A"]
