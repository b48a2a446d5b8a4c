"""Finished seeds lie packed in small buckets, at some 9 bytes each; the number of buckets alone tells which one."""

from __future__ import annotations

import math
import random

import pytest
from frontier.driver import content, nav, turns

from crawler.frontier import finished, scripts
from crawler.frontier.settlement import Settlement

RECORDS = 64  # in a bucket, on average
FINISHED = 50_000
OTHERS = 5_000
BATCH = 200
MOST_BYTES = 10  # per finished URL, keys and the allocator's rounding included
MOST_BYTES_OF_MANY_PLANS = 17.4  # where no two seeds of a bucket are of one plan, each has a head of its own


def fingerprints(number, seed):
    source = random.Random(seed)
    return [source.randbytes(16) for _ in range(number)]


async def finish(frontier, prints, plan="p", has_times=0):
    """Seeds that are executing, as a claim would leave them, settled as finished."""
    keys = frontier.keys.partition(0).script_keys("content")
    for start in range(0, len(prints), BATCH):
        batch = prints[start : start + BATCH]
        async with frontier.redis.pipeline(transaction=False) as pipeline:
            pipeline.hset(frontier.key("claims"), mapping=dict.fromkeys(batch, "A#1"))
            pipeline.hset(frontier.key("seed"), mapping=dict.fromkeys(batch, f"a.test {plan} s 0 {{}}"))
            await pipeline.execute()
        entries = [part for one in batch for part in ("finish", one, "A#1", 0, "", f"1 {plan}", "")]
        assert await scripts.run(
            frontier.redis,
            "settle",
            keys,
            ["wake", "other", "A", 4, 30, has_times, 1_000, 300_000, len(batch), *entries],
        ) == [len(batch), len(batch), 0]


async def offer(frontier, prints, plan="p"):
    """Returns which were new."""
    keys = frontier.keys.partition(0).script_keys("content")
    answer = b""
    for start in range(0, len(prints), BATCH):
        entries = [part for one in prints[start : start + BATCH] for part in (one, f"a.test {plan} s 0 {{}}", 0)]
        answer += await scripts.run(frontier.redis, "offer", keys, ["wake", 0, "", "", "", "", "", "", 0, *entries])
    return answer


async def buckets_of(frontier):
    """The content of each bucket, by number."""
    return {int(number): packed for number, packed in (await frontier.redis.hgetall(frontier.key("finish"))).items()}


async def number_of_buckets(frontier):
    return int(await frontier.redis.hget(frontier.key("counts"), "finished_buckets"))


async def test_fifty_thousand_are_known_others_are_not_and_no_bucket_is_large(frontier):
    prints = fingerprints(FINISHED, 1)
    await finish(frontier, prints)

    buckets = await buckets_of(frontier)
    sizes = [finished.number_of_records(packed) for packed in buckets.values()]
    assert sum(sizes) == FINISHED
    assert max(sizes) <= 4 * RECORDS
    assert await number_of_buckets(frontier) == math.ceil(FINISHED / RECORDS) == len(buckets)
    assert {packed[0] for packed in buckets.values()} == {7}  # a seed's bytes: the bucket's number says the eighth

    assert await offer(frontier, prints) == b"0" * FINISHED
    assert await offer(frontier, fingerprints(OTHERS, 2)) == b"1" * OTHERS
    for one in prints:
        ((_plan, at_s),) = finished.finished_for(buckets[finished.bucket_of(one, len(buckets))], one)
        assert at_s is None

    each = await frontier.redis.memory_usage(frontier.key("finish"), samples=0) / FINISHED
    print(f"{each:.1f} bytes a finished URL, {len(buckets)} buckets of {min(sizes)} to {max(sizes)}")
    assert each < MOST_BYTES


async def test_the_first_ones_fit_one_bucket(frontier):
    prints = fingerprints(RECORDS, 3)
    await finish(frontier, prints)
    assert finished.number_of_records((await buckets_of(frontier))[0]) == RECORDS
    await finish(frontier, fingerprints(1, 4))
    assert len(await buckets_of(frontier)) == 2
    assert await offer(frontier, prints) == b"0" * RECORDS


@pytest.mark.parametrize(("bits", "before", "after"), [(7, 8, 7), (15, 7, 6), (23, 6, 5), (26, 5, 5)])
async def test_the_number_of_a_bucket_says_what_its_seeds_leave_out(frontier, bits, before, after):
    """Seeds of the first ten buckets, whose split makes numbers one bit longer: none is taken for another."""
    tails = [random.Random(5).randrange(2 ** (31 - bits)) << bits | number % 10 for number in range(2_000)]
    prints = [tail.to_bytes(4, "big") + one[4:] for tail, one in zip(tails, fingerprints(2_000, 6), strict=True)]
    # Others differ in a single bit of the 64 that are known, be it one that the bucket's number says.
    others = [(int.from_bytes(one) ^ 1 << 64 + place % 64).to_bytes(16) for place, one in enumerate(prints)]
    new = [other for other in others if other not in prints]
    await frontier.redis.hset(frontier.key("counts"), "finished_buckets", 2**bits)
    await finish(frontier, prints[:1_900])
    assert {packed[0] for packed in (await buckets_of(frontier)).values()} == {before}
    assert await offer(frontier, prints[:1_900]) == b"0" * 1_900
    assert b"0" not in await offer(frontier, new)

    await frontier.redis.hset(frontier.key("counts"), "finished", 2**bits * 2 * RECORDS)
    await finish(frontier, prints[1_900:])
    buckets = await buckets_of(frontier)
    assert await number_of_buckets(frontier) == 2**bits + 100
    assert {packed[0] for packed in buckets.values() if packed} == {after}
    assert sum(map(finished.number_of_records, buckets.values())) == 2_000
    assert await offer(frontier, prints) == b"0" * 2_000
    assert b"0" not in await offer(frontier, new)


async def test_a_seed_of_many_plans_is_known_to_each_and_to_no_other(frontier):
    prints = fingerprints(300, 7)
    for plan in range(150):
        await finish(frontier, prints[plan : plan + 150], f"p{plan}")
    for plan in (0, 1, 77, 149):
        wanted = prints[plan : plan + 150]
        assert await offer(frontier, wanted, f"p{plan}") == b"0" * 150
    records = sum(map(finished.number_of_records, (await buckets_of(frontier)).values()))
    assert records == 150 * 150
    each = await frontier.redis.memory_usage(frontier.key("finish"), samples=0) / records
    assert each < MOST_BYTES_OF_MANY_PLANS


async def test_a_fingerprint_is_no_part_of_two_others(frontier):
    """The same bytes across the bounds of two seeds are no seed."""
    (one,) = fingerprints(1, 6)
    packed = b"\x08\x02\0\0\x02abcd" + one[:8] + bytes(4)
    await frontier.redis.hset(frontier.key("finish"), 0, packed)
    assert finished.number_of_records(packed) == 2
    assert await offer(frontier, [one]) == b"1"
    assert list(finished.finished_for(packed, one)) == []


@pytest.mark.parametrize(
    "junk", [b"", b"\x08", b"\x08\x01", b"\0\0\0\0\0", b"\x08\x02\0\0\x02" + bytes(9), b"\xff" * 30]
)
async def test_junk_in_place_of_a_bucket_is_none_and_is_replaced(frontier, junk):
    (one,) = fingerprints(1, 8)
    await frontier.redis.hset(frontier.key("finish"), 0, junk)
    assert list(finished.finished_for(junk, one)) == []
    assert await offer(frontier, [one]) == b"1"
    await finish(frontier, [one])
    assert await offer(frontier, [one]) == b"0"
    assert finished.number_of_records((await buckets_of(frontier))[0]) == 1


async def test_times_are_kept_where_they_are_asked_for_beside_seeds_without(frontier):
    without, with_times = fingerprints(100, 9), fingerprints(200, 10)
    begun_s = int((await frontier.redis.time())[0])
    await finish(frontier, without)
    await finish(frontier, with_times, has_times=1)
    buckets = await buckets_of(frontier)
    assert sum(map(finished.number_of_records, buckets.values())) == 300
    assert await offer(frontier, without + with_times) == b"0" * 300
    for one in without + with_times:
        ((_plan, at_s),) = finished.finished_for(buckets[finished.bucket_of(one, len(buckets))], one)
        assert begun_s - 256 < at_s <= begun_s + 600 if one in with_times else at_s is None


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
    groups = [group for bucket in packed.values() for group in finished.groups_of(bucket)]
    of_runs = sum(len(group.seeds) // group.stride for group in groups if group.mark % 2)
    assert sum(map(finished.number_of_records, packed.values())) - of_runs == RECORDS
    assert RECORDS <= of_runs < 4 * RECORDS
    assert not any(await frontier.offer(*(nav(number, run=0) for number in range(RECORDS))))
    assert await frontier.problems() == []
