"""Finished fingerprints stay in listpacks: 17 bytes each, for as long as no bucket gets past 128."""

from __future__ import annotations

import random

from frontier.hands import nav

from crawler.frontier import scripts

FINISHED = 50_000
OTHERS = 5_000
BATCH = 500
MOST_BYTES = 20  # per finished URL, keys and the allocator's rounding included; 16.7 measured


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
        entries = [part for one in batch for part in ("finish", one, "A#1", 0, "")]
        assert await scripts.run(
            frontier.redis, "settle", keys, ["wake", "other", "A", 4, 30, 1_000, 300_000, len(batch), *entries]
        ) == [len(batch), 0]


async def offer(frontier, prints):
    """Returns which were new."""
    keys = frontier.keys.partition(0).script_keys("content")
    answer = b""
    for start in range(0, len(prints), BATCH):
        entries = [part for one in prints[start : start + BATCH] for part in (one, b"a.test p s 0 {}", 0)]
        answer += await scripts.run(frontier.redis, "offer", keys, ["wake", *entries])
    return answer


async def test_fifty_thousand_are_known_others_are_not_and_no_bucket_is_large(frontier):
    prints = fingerprints(FINISHED, 1)
    await finish(frontier, prints)

    buckets = [key async for key in frontier.redis.scan_iter(match=frontier.key("finish:*"), count=1_000)]
    async with frontier.redis.pipeline(transaction=False) as pipeline:
        for key in buckets:
            pipeline.zcard(key)
        sizes = await pipeline.execute()
        for key in buckets:
            pipeline.object("encoding", key)
        encodings = await pipeline.execute()
        for key in buckets:
            pipeline.memory_usage(key, samples=0)
        used_bytes = await pipeline.execute()
    assert sum(sizes) == FINISHED
    assert max(sizes) <= 128
    assert set(encodings) == {b"listpack"}
    assert int(await frontier.redis.hget(frontier.key("counts"), "buckets")) == len(buckets)

    assert await offer(frontier, prints) == b"0" * FINISHED
    assert await offer(frontier, fingerprints(OTHERS, 2)) == b"1" * OTHERS

    each = sum(used_bytes) / FINISHED
    print(f"{each:.1f} bytes a finished URL, {len(buckets)} buckets of {min(sizes)} to {max(sizes)}")
    assert each < MOST_BYTES


async def test_the_first_ones_fit_one_bucket(frontier):
    prints = fingerprints(120, 3)
    await finish(frontier, prints)
    assert await frontier.redis.zcard(frontier.key("finish:1")) == 120
    await finish(frontier, fingerprints(1, 4))
    assert not await frontier.redis.exists(frontier.key("finish:1"))
    assert await offer(frontier, prints) == b"0" * 120


async def test_each_frontier_has_buckets_of_its_own(frontier):
    prints = fingerprints(10, 5)
    await finish(frontier, prints)
    await frontier.offer(nav(1))
    keys = frontier.keys.partition(0).script_keys("nav")
    entries = [part for one in prints for part in (one, b"a.test p s 0 {}", 0)]
    assert await scripts.run(frontier.redis, "offer", keys, ["wake", *entries]) == b"1" * 10
