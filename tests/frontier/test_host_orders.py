"""What operators want of hosts binds every claim and every turn at once, on a real Redis."""

from __future__ import annotations

import pytest
from frontier.driver import content, ends, turns
from frontier.test_turns import acquire, messages

from crawler.base.errors import HeadroomError
from crawler.frontier.host_orders import HostOrder, HostOrders

HOST = "a.test"


@pytest.fixture
def orders(frontier):
    return HostOrders(frontier.redis, frontier.keys, frontier.partitions)


async def claimed(frontier, number):
    seeds = (await frontier.claim(max_seeds=number)).seeds
    assert len(seeds) == number
    return seeds


async def test_a_delay_binds_all_turns_of_a_host_from_now_on(frontier, orders):
    await frontier.polite(delay_ms=2_000, concurrency=3, burst=1)
    await frontier.offer(*(content(number) for number in range(4)))
    seeds = await claimed(frontier, 3)
    await frontier.settle("A", ends(seeds[:1]), turns(seeds[:1], since_start_ms=500))
    assert await orders.change(HOST, delay_s=30) == HostOrder(30.0)
    assert (await frontier.claim("B")).seeds == []  # two turns are held, and there is one by now
    lower = min(seeds[1:], key=lambda one: one.turn)
    assert await frontier.queues["content"].turn_start(HOST, 0, "A", lower.turn) == (1, 30_000, 30_000)
    await frontier.settle("A", ends(seeds[1:]), turns(seeds[1:], since_start_ms=4_000))
    assert (await frontier.claim("B")).seeds == []
    answer = await acquire(frontier)
    assert answer.state == "busy"
    assert 10_000 < answer.wait_ms <= 15_000  # a delay after the last start on any turn; it is asked for again before
    await orders.change(HOST, delay_s=0)
    answer = await acquire(frontier)
    assert answer.state == "acquired"  # by the site's delay again, on one of its turns
    assert answer.delay_ms == 2_000
    assert await orders.all() == {}


@pytest.mark.parametrize(
    ("site_ms", "crawl_delay_ms", "delay_ms"), [(9_000, 0, 9_000), (0, 7_000, 7_000), (0, 0, 5_000)]
)
async def test_a_delay_never_takes_the_place_of_a_longer_one(frontier, orders, site_ms, crawl_delay_ms, delay_ms):
    await frontier.polite(delay_ms=site_ms)
    await frontier.offer(content(1))
    seeds = await claimed(frontier, 1)
    await orders.change(HOST, delay_s=5)
    assert (await frontier.queues["content"].turn_start(HOST, crawl_delay_ms, "A", seeds[0].turn)).delay_ms == delay_ms


async def test_a_paused_host_is_asked_nothing_and_goes_on_at_once(frontier, orders, redis):
    await frontier.offer(content(1), content(2, "b.test"))
    assert await orders.change(HOST, paused=True) == HostOrder(paused=True)
    seeds = (await frontier.claim()).seeds
    assert [one.seed.host for one in seeds] == ["b.test"]
    answer = await acquire(frontier)
    assert answer.state == "backoff"
    assert answer.wait_ms > 60_000
    async with redis.pubsub() as channel:
        await channel.subscribe(frontier.keys.wake("content"))
        await orders.change(HOST, paused=False)
        assert await messages(channel, 2) == [b"politeness a.test", b"turn"]
    assert [one.seed.host for one in (await frontier.claim("B")).seeds] == [HOST]


async def test_an_order_outlives_what_is_known_of_the_host_s_turns(frontier, orders, redis):
    await orders.change(HOST, delay_s=20, paused=True)
    await redis.delete(frontier.keys.partition(0).turn(HOST))  # as after two hours without a seed
    await frontier.offer(content(1))
    assert (await frontier.claim()).seeds == []
    await orders.change(HOST, paused=False)
    seeds = await claimed(frontier, 1)
    assert seeds[0].delay_s == 20
    assert await orders.all() == {HOST: HostOrder(20.0)}
    assert await redis.ttl(frontier.keys.partition(0).host_orders) == -1


async def test_errors_are_forgotten_with_the_backoff(frontier, orders):
    await frontier.polite(concurrency=2)
    await frontier.offer(content(1), content(2))
    seeds = await claimed(frontier, 2)
    failed = turns(seeds[:1], since_start_ms=10, backoff_ms=200_000, overloads=3)
    await frontier.settle("A", ends(seeds, "release"), failed + turns(seeds[1:]))
    assert (await frontier.claim("B")).wait_ms > 10_000
    await orders.change(HOST, forget_errors=True)
    assert len((await frontier.claim("B")).seeds) == 2


async def test_junk_in_place_of_an_order_wants_nothing(frontier, orders, redis):
    await redis.hset(frontier.keys.partition(0).host_orders, mapping={HOST: "soon", "b.test": "-5 1", "c.test": "5 2"})
    await frontier.offer(content(1), content(1, "b.test"), content(1, "c.test"))
    assert len((await frontier.claim()).seeds) == 3
    assert await orders.all() == {}
    await redis.hset(frontier.keys.partition(0).host_orders, HOST, "99999999999 0")
    assert (await orders.all())[HOST].delay_s == 3_600


async def test_as_many_hosts_as_are_kept_have_orders(frontier, orders, redis):
    key = frontier.keys.partition(0).host_orders
    await redis.hset(key, mapping={f"{number}.test": "5000 0" for number in range(1_000)})
    with pytest.raises(HeadroomError, match="too many hosts have orders"):
        await orders.change(HOST, paused=True)
    await orders.change("7.test", paused=True)
    await orders.change("8.test", delay_s=0)
    await orders.change(HOST, paused=True)
    assert await redis.hlen(key) == 1_000
