"""Redis loses writes that it had acknowledged; what an owner then seems to hold becomes ready again."""

from __future__ import annotations


async def test_a_turn_whose_answer_is_on_its_way_is_left_alone(frontier):
    queue = frontier.queues["content"]
    with queue._in_flight[0, "A"].call() as serial:
        state, *_ = await queue._run("acquire_turn", 0, ["A", "a.test", "s", serial])
        await queue.recall(0, "A")
        assert await frontier.redis.scard("t:{0}:turns:A") == 1
    assert state == b"acquired"
