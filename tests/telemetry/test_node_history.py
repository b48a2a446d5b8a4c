"""The load of nodes over time, on a real Redis: bounded, and never that of another day."""

from __future__ import annotations

from crawler.frontier.keys import Keys
from crawler.telemetry import node_history
from crawler.telemetry.history import HOUR
from crawler.telemetry.node_history import NodeSample

KEYS = Keys("t")
NOW = 1_800_000_030
SAMPLE = NodeSample(20.5, 41.25, 1.5, 12.0, 3, 7, 120)
NODE_BYTES_MAX, STEPS_OF_TWO_DAYS = 13_500, 2 * 24 * 60


async def write(redis, now_s, sample=SAMPLE, node="n"):
    async with redis.pipeline(transaction=False) as pipeline:
        node_history.add(pipeline, KEYS, node, now_s, sample)
        await pipeline.execute()


async def samples(redis, last_s, step=0, seconds=HOUR):
    read = await node_history.read(redis, KEYS, "n", node_history.STEPS[step], last_s=last_s, seconds=seconds)
    return [(last_s - begin, sample) for begin, sample in read if sample]


async def test_samples_of_each_step(redis):
    await write(redis, NOW - 120, SAMPLE._replace(room=1))
    await write(redis, NOW, SAMPLE)
    assert await samples(redis, NOW) == [(150, SAMPLE._replace(room=1)), (30, SAMPLE)]
    assert (await samples(redis, NOW, 1))[-1][1] == SAMPLE
    assert await samples(redis, NOW + 3 * HOUR) == []  # their places are those of other minutes by now
    await write(redis, NOW + 3 * HOUR, SAMPLE._replace(room=9))
    assert await samples(redis, NOW + 3 * HOUR) == [(30, SAMPLE._replace(room=9))]
    assert 0 < await redis.ttl(KEYS.node_history("n")) <= node_history.KEPT_SECONDS


async def test_junk_and_what_is_too_large(redis):
    await write(redis, NOW, NodeSample(20, 1e9, -1, 0, 10**9, 0, 0))
    ((_ago, sample),) = await samples(redis, NOW)
    assert sample == NodeSample(20, 655.35, 0, 0, 65_535, 0, 0)
    for field in await redis.hkeys(KEYS.node_history("n")):
        await redis.hset(KEYS.node_history("n"), field, "junk")
    assert await samples(redis, NOW) == []


def test_what_the_workers_of_a_node_report_is_one_sample():
    first = {"memory_percent": 20, "cpu_percent": 40, "own_memory_percent": 1, "own_cpu_percent": 10, "room": 3}
    reports = [first | {"carrying": 5, "pages_per_minute": 60}, first | {"cpu_percent": 41, "room": None}, {}]
    assert NodeSample.of(reports) == NodeSample(20, 41, 2, 20, 3, 5, 60)
    assert NodeSample.of([]) == NodeSample(0, 0, 0, 0, 0, 0, 0)
    absurd = dict.fromkeys(NodeSample._fields, 1e308)
    assert NodeSample.of([absurd, absurd]).room == NodeSample.of([absurd, absurd]).carrying == 2e9


async def test_a_node_takes_as_little_of_redis_as_is_said(redis):
    for step in range(STEPS_OF_TWO_DAYS):
        await write(redis, NOW + 60 * step)
    assert await redis.hlen(KEYS.node_history("n")) <= node_history.SAMPLES
    assert await redis.memory_usage(KEYS.node_history("n"), samples=0) < NODE_BYTES_MAX
