"""Redis loses writes that it had acknowledged; what an owner then seems to hold becomes ready again."""

from __future__ import annotations

import pytest
from frontier.driver import content, ends, turns
from redis.exceptions import ConnectionError as RedisConnectionError


async def test_what_the_owner_knows_of_stays(frontier):
    await frontier.polite(concurrency=4)
    await frontier.offer(*(content(number) for number in range(5)))
    claimed = (await frontier.claim("A")).seeds
    assert await frontier.queues["content"].recall(0, "A") == 0
    assert await frontier.finish("A", claimed) == (5, 0)


async def test_the_turns_of_one_claim_are_known_each_by_itself(frontier):
    """They share a token: releasing one must not release those of other hosts."""
    await frontier.offer(content(1), content(1, "b.test"))
    claimed = (await frontier.claim("A")).seeds
    assert len({one.turn for one in claimed}) == 1
    await frontier.finish("A", claimed[:1])
    await frontier.queues["content"].recall(0, "A")
    assert await frontier.redis.scard("t:{0}:turns:A") == 1
    assert (await frontier.queues["content"].acquire_turn(claimed[1].seed.host, "s", "B"))[0] == 0


async def test_a_forgotten_end_makes_the_seed_ready_again(frontier):
    await frontier.offer(content(1))
    claimed = (await frontier.claim("A")).seeds
    queue = frontier.queues["content"]
    queue._in_flight[0, "A"].seeds.clear()  # the owner has settled them, but Redis has lost that write
    queue._in_flight[0, "A"].turns.clear()
    assert await queue.recall(0, "A") == 1
    assert (await frontier.totals()).ready == 1
    again = (await frontier.claim("B")).seeds
    assert [one.seed for one in again] == [one.seed for one in claimed]
    assert await frontier.settle("A", ends(claimed), turns(claimed)) == (0, 1)
    assert await frontier.finish("B", again) == (1, 0)


async def test_an_end_that_is_heard_late_takes_nothing_from_a_later_claim(frontier, losing):
    """The seed was ended, the answer lost, and its owner has it again when the second try is answered."""
    await frontier.offer(content(1))
    first = (await frontier.claim("A")).seeds
    losing.add("settle")
    with pytest.raises(RedisConnectionError):
        await frontier.settle("A", ends(first, "release"), turns(first))
    losing.clear()
    second = (await frontier.claim("A")).seeds
    assert await frontier.settle("A", ends(first, "release"), turns(first)) == (0, 1)
    assert await frontier.queues["content"].recall(0, "A") == 0
    assert await frontier.finish("A", second) == (1, 0)


async def test_a_forgotten_turn_is_free_after_the_hosts_delay(frontier):
    await frontier.polite(delay_ms=60_000)
    queue = frontier.queues["content"]
    token, _ = await queue.acquire_turn("a.test", "s", "A")
    assert token > 0
    queue._in_flight[0, "A"].turns.clear()
    await queue.recall(0, "A")
    token, wait_ms = await queue.acquire_turn("a.test", "s", "A")
    assert token == 0
    assert wait_ms > 1_000
    assert not await frontier.redis.exists("t:{0}:turns:A")


async def test_a_turn_whose_answer_is_on_its_way_is_left_alone(frontier):
    queue = frontier.queues["content"]
    with queue._in_flight[0, "A"].call() as serial:
        token, _ = await queue._run("acquire_turn", 0, ["A", "a.test", "s", serial])
        await queue.recall(0, "A")
        assert await frontier.redis.scard("t:{0}:turns:A") == 1
    assert token > 0
