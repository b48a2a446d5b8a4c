"""What the crawl did of late, read by who looks again and again, on a real Redis."""

from __future__ import annotations

from crawler.cluster.activity import NOW_SECONDS, Activity, per_second_now
from crawler.telemetry import history
from crawler.telemetry.history import DAY, HOUR

NOW = 1_800_000_030


async def add(operator, ago_s, **counts):
    async with operator.redis.pipeline(transaction=False) as pipeline:
        history.add(pipeline, operator.keys, NOW - ago_s, counts)
        await pipeline.execute()


async def pages_of(activity, period):
    return [counts["pages"] for _begin, counts in activity.steps(period) if counts]


async def test_steps_of_each_period(operator):
    await add(operator, 0, pages=6, errors=2)
    await add(operator, 7_200, pages=30)
    await add(operator, 3 * DAY, pages=500)
    activity = Activity()
    assert activity.per_second() == {"pages": 0.0, "items": 0.0, "bytes": 0.0}
    await activity.refresh(operator, NOW)
    assert await pages_of(activity, "hour") == [6]
    assert await pages_of(activity, "day") == [30, 6]
    assert await pages_of(activity, "month") == [500, 30, 6] or await pages_of(activity, "month") == [500, 36]
    assert 0 < activity.per_second()["pages"] <= 6 / 30


async def test_a_step_that_has_ended_is_read_once_and_dropped_in_time(operator):
    await add(operator, 0, pages=6)
    activity = Activity()
    await activity.refresh(operator, NOW)
    await add(operator, 0, pages=1)  # the step that goes on
    await add(operator, 300, pages=9)  # one that had ended: nobody adds to those
    await activity.refresh(operator, NOW + 60)
    assert await pages_of(activity, "hour") == [7]
    await activity.refresh(operator, NOW + 4_000)
    assert await pages_of(activity, "hour") == []
    assert len(activity.steps("hour")) == 61


async def test_what_is_done_now_is_one_figure_for_all_who_show_it(operator):
    for ago_s in (0, 70, 130, 190, 250, 3_000):
        await add(operator, ago_s, pages=60)
    activity = Activity()
    await activity.refresh(operator, NOW)
    read = {"redis": operator.redis, "keys": operator.keys, "last_s": NOW}
    for seconds in (NOW_SECONDS, HOUR):  # as much as `scrapy stats` needs, and as it reads
        steps = await history.read(**read, resolution=history.RESOLUTIONS[0], seconds=seconds)
        assert per_second_now(steps, NOW) == activity.per_second()
    assert activity.per_second()["pages"] == round(3 * 60 / 150, 2)
    assert per_second_now([], NOW)["pages"] == 0.0
