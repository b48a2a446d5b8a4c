"""Finished seeds lie packed in small buckets, at some 17 bytes each; the number of buckets alone tells which one."""

from __future__ import annotations

import math
import random

from frontier.driver import content, nav, turns

from crawler.frontier import finished, scripts
from crawler.frontier.settlement import Settlement

RECORDS = 24  # in a bucket, on average
FINISHED = 50_000
OTHERS = 5_000
BATCH = 200
MOST_BYTES = 18  # per finished URL, keys and the allocator's rounding included


def fingerprints(number, seed):
    source = random.Random(seed)
    return [source.randbytes(16) for _ in range(number)]


async def finish(frontier, prints):
    """Seeds that are executing, as a claim would leave them, settled as finished."""
    keys = frontier.keys.partition(0).script_keys("content")
    for start in range(0, len(prints), BATCH):
        batch = prints[start : start + BATCH]
        async with frontier.redis.pipeline(transaction=False) as pipeline:
            pipeline.hset(frontier.key("claims"), mapping=dict.fromkeys(batch, "A#1"))
            pipeline.hset(frontier.key("seed"), mapping=dict.fromkeys(batch, b"a.test p s 0 {}"))
            await pipeline.execute()
        entries = [part for one in batch for part in ("finish", one, "A#1", 0, "", "1 p", "")]
        assert await scripts.run(
            frontier.redis, "settle", keys, ["wake", "other", "A", 4, 30, 1_000, 300_000, len(batch), *entries]
        ) == [len(batch), len(batch), 0]


async def offer(frontier, prints):
    """Returns which were new."""
    keys = frontier.keys.partition(0).script_keys("content")
    answer = b""
    for start in range(0, len(prints), BATCH):
        entries = [part for one in prints[start : start + BATCH] for part in (one, b"a.test p s 0 {}", 0)]
        answer += await scripts.run(frontier.redis, "offer", keys, ["wake", 0, "", "", "", "", "", "", 0, *entries])
    return answer


async def buckets_of(frontier):
    """The content of each bucket, by number."""
    return {int(number): packed for number, packed in (await frontier.redis.hgetall(frontier.key("finish"))).items()}


async def test_fifty_thousand_are_known_others_are_not_and_no_bucket_is_large(frontier):
    prints = fingerprints(FINISHED, 1)
    begun_s = int((await frontier.redis.time())[0])
    await finish(frontier, prints)

    buckets = await buckets_of(frontier)
    sizes = [len(packed) / finished.RECORD_BYTES for packed in buckets.values()]
    assert sum(sizes) == FINISHED
    assert max(sizes) <= 4 * RECORDS
    assert (
        int(await frontier.redis.hget(frontier.key("counts"), "buckets"))
        == math.ceil(FINISHED / RECORDS)
        == len(buckets)
    )

    assert await offer(frontier, prints) == b"0" * FINISHED
    assert await offer(frontier, fingerprints(OTHERS, 2)) == b"1" * OTHERS
    for one in prints:
        ((at_s, _plan),) = finished.finished_for(buckets[finished.bucket_of(one, len(buckets))], one)
        assert begun_s - 256 < at_s <= begun_s + 600

    each = await frontier.redis.memory_usage(frontier.key("finish"), samples=0) / FINISHED
    print(f"{each:.1f} bytes a finished URL, {len(buckets)} buckets of {min(sizes):.0f} to {max(sizes):.0f}")
    assert each < MOST_BYTES


async def test_the_first_ones_fit_one_bucket(frontier):
    prints = fingerprints(RECORDS, 3)
    await finish(frontier, prints)
    assert len((await buckets_of(frontier))[0]) == RECORDS * finished.RECORD_BYTES
    await finish(frontier, fingerprints(1, 4))
    assert len(await buckets_of(frontier)) == 2
    assert await offer(frontier, prints) == b"0" * RECORDS


async def test_a_fingerprint_is_no_part_of_two_others(frontier):
    """The same bytes across the bounds of two records are no record."""
    (one,) = fingerprints(1, 6)
    packed = b"abcd" + one[:8] + bytes(2 * finished.RECORD_BYTES - 12)
    await frontier.redis.hset(frontier.key("finish"), 0, packed)
    assert await offer(frontier, [one]) == b"1"
    assert finished.finished_for(packed, one) == []


async def test_they_leave_only_their_fingerprint(frontier):
    await frontier.offer(content(1), content(2))
    assert await frontier.finish("A", (await frontier.claim()).seeds) == (2, 0)
    account = await frontier.account()
    assert (account.finished, account.executing, account.ready, account.difference) == (2, 0, 0, 0)
    assert await frontier.problems() == []
    for name in ("seed", "claims", "execute", "held:A", "tries", "reasons", "crashes"):
        assert not await frontier.redis.exists(frontier.key(name))


async def test_search_pages_of_past_runs_are_forgotten_after_a_day_and_no_others(frontier, redis_clock):
    """However often a plan with a schedule runs, no more of them are known than of one day."""
    await frontier.polite(burst=RECORDS)
    for day in range(20):
        redis_clock(day * 86_400_000)
        await frontier.session("A")
        await frontier.offer(*(nav(number, run=day) for number in range(RECORDS)))
        claimed = (await frontier.claim(frontier="nav")).seeds
        settlements = [Settlement("finish", one, tellable=one.seed.run > 0) for one in claimed]
        await frontier.settle("A", settlements, turns(claimed), frontier="nav")
        assert not any(await frontier.offer(*(one.seed for one in claimed)))
    packed = await frontier.redis.hgetall(frontier.key("finish", "nav"))
    of_runs = [record for record in b"".join(packed.values())[13::14] if record % 2]
    assert len(b"".join(packed.values())) // finished.RECORD_BYTES - len(of_runs) == RECORDS
    assert RECORDS <= len(of_runs) < 4 * RECORDS
    assert not any(await frontier.offer(*(nav(number, run=0) for number in range(RECORDS))))
    assert await frontier.problems() == []
