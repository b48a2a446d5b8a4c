"""Where a seed is, and why it is not done."""

from __future__ import annotations

import pytest
from frontier.driver import content, ends, turns

from crawler.base.errors import FrontierError
from crawler.base.models import Seed
from crawler.frontier.seed_info import seed_info


@pytest.fixture
def info_of(frontier):
    """A function that looks up a content seed."""
    return lambda seed: seed_info(frontier.queues["content"], seed)


async def test_a_seed_that_was_never_offered_is_unknown(info_of):
    info = await info_of(content(1))
    assert (info.state, info.seed) == ("unknown", None)


async def test_a_ready_seed_and_how_many_are_before_it(frontier, info_of):
    await frontier.offer(content(1), due_ms=1)
    await frontier.offer(content(2))
    assert (await info_of(content(1))).why == "due, the next of a.test"
    info = await info_of(Seed("http://a.test/2", "", "s"))  # its URL and site are enough
    assert (info.state, info.why) == ("ready", "due, 1 other of a.test before it")
    assert (info.seed["plan"], info.seed["site"]) == ("p", "s")


async def test_a_seed_that_is_due_later_after_a_failed_try(frontier, info_of):
    await frontier.offer(content(1))
    claimed = (await frontier.claim()).seeds
    await frontier.settle("A", ends(claimed, "retry", 60_000, "http-503"), turns(claimed, backoff_ms=90_000))
    info = await info_of(content(1))
    assert info.state == "ready"
    assert info.why.startswith("due in 60 s; a.test is asked nothing for ")
    assert info.why.endswith("; tried 1 times, the last ended with http-503")


@pytest.mark.parametrize(("mark", "word"), [("pause", "paused"), ("cancel", "cancelled")])
async def test_a_ready_seed_of_a_stopped_plan(frontier, info_of, mark, word):
    await frontier.offer(content(1))
    await frontier.mark(f"{mark} p")
    assert (await info_of(content(1))).why == f"plan p is {word}; due, the next of a.test"


async def test_a_seed_of_a_paused_plan_is_said_to_be_parked(frontier, info_of):
    await frontier.offer(content(1))
    await frontier.mark("pause p")
    await frontier.claim()
    assert (await info_of(content(1))).state == "parked"


async def test_an_executing_seed_of_a_living_worker_and_of_a_dead_one(frontier, info_of):
    await frontier.offer(content(1))
    (held,) = (await frontier.claim("B")).seeds
    info = await info_of(content(1))
    assert info.state == "executing"
    assert info.details["claim"] == held.claim
    assert info.why == f"held for 0 s by {held.claim}, which is alive"
    await frontier.lapse("B")
    assert "whose session has lapsed" in (await info_of(content(1))).why


async def test_a_seed_after_two_crashes_is_said_to_be_quarantined(frontier, info_of):
    await frontier.offer(content(1))
    await frontier.crash("C")
    await frontier.crash("D")
    assert (await frontier.claim("A", carrying=1)).state == "laden"
    info = await info_of(content(1))
    assert (info.state, info.details["crashes_alone"]) == ("quarantined", 0)


async def test_a_seed_after_one_crash_says_what_one_more_means(frontier, info_of):
    await frontier.offer(content(1))
    await frontier.crash("C")
    await frontier.claim("A", 0)
    info = await info_of(content(1))
    assert info.state == "ready"
    assert info.why.endswith("; a worker died while it held it: should one more, it is quarantined")


async def test_a_failed_seed_says_with_which_reason(frontier, info_of):
    await frontier.fail(content(1), reason="robots")
    info = await info_of(content(1))
    assert (info.state, info.why) == ("failed", "failed for good with robots")


async def test_a_finished_seed_in_whichever_bucket(frontier, info_of):
    await frontier.offer(*(content(number) for number in range(400)))
    while claimed := (await frontier.claim()).seeds:
        await frontier.finish("A", claimed)
    infos = [await info_of(content(number)) for number in range(400)]
    assert {(info.state, *info.details["plans"]) for info in infos} == {("finished", "p")}
    assert not any("finished_s" in info.details for info in infos)  # FINISHED_TIMES is off


async def test_a_damaged_record_is_an_error(frontier, info_of, redis):
    await redis.hset(frontier.key("seed"), content(1).fingerprint, b"rm -rf")
    with pytest.raises(FrontierError, match="not a seed"):
        await info_of(content(1))


async def test_junk_in_place_of_numbers_counts_as_none(frontier, info_of, redis):
    await frontier.offer(content(1))
    for name, field in (("tries", content(1).fingerprint), ("crashes", content(1).fingerprint)):
        await redis.hset(frontier.key(name), field, b"inf" if name == "tries" else b"rm -rf")
    await redis.hset(frontier.keys.partition(0).turn("a.test"), "x", b"rm -rf")
    info = await info_of(content(1))
    assert (info.state, info.details["tries"]) == ("ready", 0)
    await redis.zadd(frontier.key("quarantine"), {content(1).fingerprint: "-inf"})
    await redis.zrem(frontier.key("ready:a.test"), content(1).fingerprint)
    info = await info_of(content(1))
    assert (info.state, info.details["crashes_alone"], info.details["score_ms"]) == ("quarantined", 0, 0)
