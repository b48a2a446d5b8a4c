"""A frontier of an older format becomes one of today's, however often that is broken off."""

from __future__ import annotations

import itertools
import random
import re

import orjson
import pytest
from frontier.driver import LONG_MS

from crawler.base.errors import FrontierError
from crawler.frontier import clock, from_2_to_3, migration, scripts
from crawler.frontier.finished import bucket_of, finished_for, number_of_records
from crawler.frontier.keys import SCHEMA_VERSION, Keys
from crawler.frontier.migration import migrate

KEYS = Keys("t")
PARTITIONS = 3
READ_TO_MOVE = 99  # fields at a time, by which a test tells that reading from others
PARTS = PARTITIONS + 1  # plans and sites after the partitions
FRONTIER_PARTS = PARTITIONS * 2  # then the frontiers of the partitions
FINISHED = (0, 1, 700)  # seeds in each partition's frontiers; so many that their script is called again
FINISHED_S = 1_790_000_000
RECORDS = {name: orjson.dumps({"name": name, "edition": number}) for number, name in enumerate(("a", "b", "c"), 7)}
TOLD = {"a": "100 active", "b": "101 8 paused", "c": "102 cancelled", "gone": "103 deleted"}
TODAY = {"a": "100 7 active", "b": "101 8 paused", "c": "102 9 cancelled", "gone": "103 0 deleted"}


class BrokenOffError(Exception):
    """Stands for a kill between two parts."""


@pytest.fixture
async def old(redis):
    """A Redis with a frontier of format 2."""
    await fill(redis)
    return redis


async def fill(redis):
    """Writes a frontier of format 2, as its first and last versions wrote it."""
    await redis.hset(KEYS.schema, mapping={"version": "2", "partitions": PARTITIONS})
    await redis.hset("t:plans", mapping=RECORDS)
    await redis.hset("t:sites", "s", "{}")
    await fill_finished(redis)
    await redis.zadd("t:nodes", {"n": 1})
    for number in range(PARTITIONS):
        await redis.hset(KEYS.partition(number).plan_states, mapping=TOLD)
        await redis.sadd(f"{KEYS.partition(number).stem}:paused", "pause b", "cancel c")
        await redis.zadd(KEYS.partition(number).sessions, {"n:1:1:lapsed": 1})


def records_of(number, frontier):
    """The fingerprint of each finished seed, and its mark: of plan 1 or 2, and of every second kind."""
    source = random.Random(f"{number} {frontier}")
    return {source.randbytes(16): place % 4 + 2 for place in range(FINISHED[number])}


async def fill_finished(redis):
    """Writes finished seeds as format 3 had them: 14 bytes each, some 24 in a bucket."""
    for number, frontier in itertools.product(range(PARTITIONS), ("nav", "content")):
        part, buckets = KEYS.partition(number), max(1, FINISHED[number] // 24)
        if not FINISHED[number]:
            continue
        contents = dict.fromkeys(range(buckets), b"")
        for one, mark in records_of(number, frontier).items():
            contents[bucket_of(one, buckets)] += one[:8] + FINISHED_S.to_bytes(4, "big")[:3] + mark.to_bytes(3, "big")
        contents[buckets - 1] = contents[buckets - 1] or b"junk"
        await redis.hset(f"{part.stem}:{frontier}:finish", mapping=contents)
        counts = {"finished": FINISHED[number], "offered": FINISHED[number], "buckets": buckets}
        await redis.hset(part.of(frontier, "counts"), mapping=counts)


async def check_finished(redis):
    """All of them are where this format has them, for the same plans; search pages of runs with their times."""
    for number, frontier in itertools.product(range(PARTITIONS), ("nav", "content")):
        part, prints = KEYS.partition(number), records_of(number, frontier)
        assert not await redis.exists(f"{part.stem}:{frontier}:finish")
        counts = await redis.hgetall(part.of(frontier, "counts"))
        assert b"buckets" not in counts
        packed = await redis.hgetall(part.of(frontier, "finish"))
        assert sum(map(number_of_records, packed.values())) == FINISHED[number]
        for one, mark in prints.items():
            at = b"%d" % bucket_of(one, int(counts[b"finished_buckets"]))
            is_of_run = frontier == "nav" and mark % 2 == 1
            assert list(finished_for(packed[at], one)) == [(mark // 2, FINISHED_S // 256 * 256 if is_of_run else None)]


async def look(redis):
    """What lies in Redis, by key."""
    states = [await redis.hgetall(KEYS.partition(number).plan_states) for number in range(PARTITIONS)]
    assert await redis.exists("t:plans") + await redis.exists("t:sites") + await redis.exists("t:nodes") == 0
    for number in range(PARTITIONS):
        assert not await redis.exists(f"{KEYS.partition(number).stem}:paused")
    await check_finished(redis)
    return states, await redis.hgetall(KEYS.plans), await redis.hgetall(KEYS.sites), await version(redis)


async def version(redis):
    return (await redis.hget(KEYS.schema, "version")).decode()


def as_bytes(texts):
    return {name.encode(): value if isinstance(value, bytes) else value.encode() for name, value in texts.items()}


EXPECTED = ([as_bytes(TODAY)] * PARTITIONS, as_bytes(RECORDS), {b"s": b"{}"}, str(SCHEMA_VERSION))


async def test_format_2_becomes_today_s(old):
    said = []
    assert await migrate(old, KEYS, PARTITIONS, lambda *progress: said.append(progress)) == 2
    assert await look(old) == EXPECTED
    of_frontiers = [(3, done, FRONTIER_PARTS) for done in range(1, FRONTIER_PARTS + 1)]
    assert said == [(2, done, PARTS) for done in range(1, PARTS + 1)] + of_frontiers
    assert await migrate(old, KEYS, PARTITIONS, said.append) == SCHEMA_VERSION  # there is nothing to do
    assert len(said) == PARTS + FRONTIER_PARTS


@pytest.mark.parametrize("partition", range(PARTITIONS))
async def test_it_doesn_t_begin_while_a_worker_is_alive(old, partition):
    open_session = [KEYS.partition(partition).script_keys("nav"), ["open", "node:10:1:x", LONG_MS]]
    await scripts.run(old, "session", *open_session)
    with pytest.raises(FrontierError, match=r"1 workers are alive \(node:10:1\): stop them by SIGTERM"):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)
    assert await version(old) == "2"


async def test_a_worker_that_starts_at_that_moment_is_seen_and_nothing_is_changed(old, monkeypatch):
    real = migration.compare_and_set

    async def then_a_worker_starts(*arguments):
        answer = await real(*arguments)
        if arguments[-1].endswith(b" 0"):
            keys = KEYS.partition(1).script_keys("nav")
            await scripts.run(old, "session", keys, ["open", "node:10:1:x", LONG_MS])
        return answer

    monkeypatch.setattr(migration, "compare_and_set", then_a_worker_starts)
    with pytest.raises(FrontierError, match="1 workers are alive"):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)
    assert await version(old) == "2"
    assert await old.hgetall("t:plans") == as_bytes(RECORDS)


async def test_of_two_at_once_one_ends(old, monkeypatch):
    said = []

    async def interrupted(*arguments):
        async for part in from_2_to_3.migrate(*arguments):
            said.append(part)
            if len(said) == 1:
                await migrate(old, KEYS, PARTITIONS, lambda *_: None)
            yield part

    monkeypatch.setattr(migration, "STEPS", {**migration.STEPS, 2: migration.STEPS[2]._replace(run=interrupted)})
    with pytest.raises(FrontierError, match="another scrapy frontier migrate"):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)
    assert await look(old) == EXPECTED


async def test_a_plan_that_was_deleted_since_another_one_ended_doesn_t_come_back(old, monkeypatch):
    """The slower one has read the plan before, and not written it yet."""
    real = old.hscan

    async def then_another_one_ends(key, *arguments, **options):
        answer = await real(key, *arguments, **options)
        if key == "t:plans" and await version(old) != str(SCHEMA_VERSION) and options["count"] == READ_TO_MOVE:
            monkeypatch.setattr(old, "hscan", real)
            await migrate(old, KEYS, PARTITIONS, lambda *_: None)
            await old.hdel(KEYS.plans, "a")
        return answer

    monkeypatch.setattr(from_2_to_3, "SCAN_COUNT", READ_TO_MOVE)
    monkeypatch.setattr(old, "hscan", then_another_one_ends)
    with pytest.raises(FrontierError, match="another scrapy frontier migrate"):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)
    assert sorted(await old.hkeys(KEYS.plans)) == [b"b", b"c"]


async def test_it_doesn_t_begin_while_a_plan_is_being_submitted(old, monkeypatch):
    now_ms = await clock.now_ms(old, KEYS.partition(0))
    under_way = {"edition": 8, "offering_until_ms": now_ms + LONG_MS}
    await old.hset("t:plans", "b", orjson.dumps(under_way))
    await old.hset("t:plans", "c", orjson.dumps({"edition": 9, "offering_until_ms": now_ms - 1}))  # it was killed
    with pytest.raises(FrontierError, match=r"plans are being submitted \('b'\): wait"):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)
    assert await version(old) == "2"
    await old.hset("t:plans", "b", orjson.dumps(under_way | {"offering_until_ms": 0}))
    assert await migrate(old, KEYS, PARTITIONS, lambda *_: None) == 2


@pytest.mark.parametrize("found", ["1", str(SCHEMA_VERSION + 1)])
async def test_a_format_that_no_step_begins_with_is_refused(old, found):
    await old.hset(KEYS.schema, "version", found)
    with pytest.raises(FrontierError, match=f"has format {found}, and this version can bring formats 2, 3 to"):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)


async def test_what_a_newer_version_has_begun_is_left_to_it(old):
    await old.hset(KEYS.schema, "version", f"{SCHEMA_VERSION}-to-{SCHEMA_VERSION + 1} 1")
    with pytest.raises(FrontierError, match="use the version that fits it"):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)


async def test_nothing_is_migrated_where_there_is_nothing(redis):
    with pytest.raises(FrontierError, match="no frontier under KEY_PREFIX 't'"):
        await migrate(redis, KEYS, PARTITIONS, lambda *_: None)


async def test_damaged_plans_stay_for_the_commands_that_tell_of_them(old):
    await old.hset("t:plans", "a", b"[1")
    await old.hset("t:plans", "c", b"[]")
    await migrate(old, KEYS, PARTITIONS, lambda *_: None)
    assert await old.hget(KEYS.plans, "a") == b"[1"
    assert await old.hmget(KEYS.partition(0).plan_states, "a", "c") == [b"100 0 active", b"102 0 cancelled"]


class Mortal:
    """A client of Redis whose process is killed at a call of a given number, from 0, before or after it arrives."""

    def __init__(self, redis, dies_at, *, arrives):
        self._redis = redis
        self._left = dies_at
        self._arrives = arrives

    def __getattr__(self, name):
        real = getattr(self._redis, name)
        if name == "hscan_iter":
            return real  # what it reads changes nothing
        if not callable(real):
            return real

        async def call(*arguments, **options):
            self._left -= 1
            if self._left >= 0:
                return await real(*arguments, **options)
            if self._arrives:
                await real(*arguments, **options)
            raise BrokenOffError

        return call


@pytest.mark.parametrize("arrives", [False, True])
async def test_it_may_be_killed_at_every_call(old, arrives):
    """Once at each, one kill after the other, until a try comes to its end."""
    for number in range(1_000):
        try:
            await migrate(Mortal(old, number, arrives=arrives), KEYS, PARTITIONS, lambda *_: None)
        except BrokenOffError:
            continue
        break
    assert await look(old) == EXPECTED
    assert number >= PARTS  # a try that goes on behind what is done is shorter


@pytest.mark.parametrize("arrives", [False, True])
async def test_a_single_kill_at_any_call_does_no_harm(old, arrives):
    for number in range(1_000):
        await old.flushdb()
        await fill(old)
        try:
            await migrate(Mortal(old, number, arrives=arrives), KEYS, PARTITIONS, lambda *_: None)
        except BrokenOffError:
            await migrate(old, KEYS, PARTITIONS, lambda *_: None)
            assert await look(old) == EXPECTED, number
        else:
            break
    assert number > 20


@pytest.mark.parametrize("key", ["t:plans", "t:sites", KEYS.plans, KEYS.partition(1).plan_states, KEYS.schema])
async def test_a_key_of_another_kind_is_named_and_when_it_is_gone_the_rest_goes_on(old, key):
    before = await old.hgetall(key)
    await old.delete(key)
    await old.set(key, "junk")
    with pytest.raises(FrontierError, match=f"Redis holds something else than a frontier's at {re.escape(key)}: "):
        await migrate(old, KEYS, PARTITIONS, lambda *_: None)
    await old.delete(key)
    if before:
        await old.hset(key, mapping=before)
    assert await migrate(old, KEYS, PARTITIONS, lambda *_: None) == 2
    assert await look(old) == EXPECTED
