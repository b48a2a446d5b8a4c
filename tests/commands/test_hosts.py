"""`scrapy hosts`, on a real Redis."""

from __future__ import annotations

import getpass

import pytest
from commands.answers import error_of, json_of, lines_of
from commands.conftest import content_seed

from crawler.base.events import Events
from crawler.cluster import audit
from crawler.cluster.host_steering import orders_of
from crawler.frontier.host_orders import HostOrder
from crawler.robots.file import RobotsFile
from crawler.robots.shared import SharedRobots
from crawler.telemetry import host_history
from crawler.telemetry.host_history import HostCounts

HOST = "board.test"
ROBOTS = b"User-agent: *\nCrawl-delay: 7\nDisallow: /private\nDisallow: /\xe7\xa7\x81\n"


@pytest.fixture
def robots(operator):
    """Returns a function that stores what asking for a robots.txt has brought."""

    async def store(file, authority=f"http://{HOST}"):
        shared = SharedRobots(operator.redis, operator.keys, operator.partitions, Events())
        await shared.finish_asking(authority, file)

    return store


@pytest.fixture
async def _busy(operator):
    now_s = await operator.registry.now_ms() // 1000
    async with operator.redis.pipeline(transaction=False) as pipeline:
        host_history.add(pipeline, operator.keys, now_s, {HOST: HostCounts(9, 2_500_000, 3)})
        await pipeline.execute()


def test_no_host_is_known(scrapy):
    none = "no host is known to have answered in the last hour (workers say so once a minute), and none has orders"
    assert lines_of(scrapy("hosts")) == [none]
    shown = lines_of(scrapy("hosts", "show", "http://Board.test./x"))
    assert shown == [
        "board.test",
        "why Nothing is known of it: no seed of it is ready, and it wasn't asked for anything of late.",
        "delay 0 s",
        "turns 0 of 1 taken",
        "ready seeds 0 nav, 0 content",
    ]


@pytest.mark.usefixtures("_busy")
async def test_how_a_host_stands(scrapy, operator, claim, robots):
    await operator.redis.hset(operator.keys.partition(0).politeness, "board", "2000 1 10")
    await operator.queues["content"].offer([content_seed(number) for number in range(3)])
    assert (
        lines_of(scrapy("hosts", "show", HOST))[1]
        == "why It can be claimed from now: 3 seeds wait for a worker that has room."
    )
    await claim(2)
    await robots(RobotsFile("rules", ROBOTS))
    await orders_of(operator).change(HOST, delay_s=30)
    lines = lines_of(scrapy("hosts", "show", HOST))
    assert lines == [
        HOST,
        "why All of its turns are taken: 1 of 1, by node-1.",
        "delay 30 s: operator 30 s, site board 2 s",
        "turns 1 of 1 taken, by node-1",
        "ready seeds 0 nav, 1 content",
        f"http://{HOST} robots.txt has 3 lines for this crawler",
        "Disallow: /private",
        "Disallow: /私",
        "Crawl-delay: 7",
        *(f"last {period} 9 answers, 3 of them errors, 2.5 MB" for period in ("hour", "day")),
    ]
    answer = json_of(scrapy("hosts", "show", HOST, "--json"))
    assert (answer["delay_s"], answer["taken"], answer["robots"][0]["crawl_delay_s"]) == (30.0, {"1": "node-1"}, 7.0)


async def test_why_a_host_waits(scrapy, operator, robots):
    await operator.queues["content"].offer([content_seed(1)], due_ms=await operator.registry.now_ms() + 500_000)
    now_ms = await operator.registry.now_ms()
    await operator.redis.hset(operator.keys.partition(0).turn(HOST), mapping={"x": now_ms + 90_000, "e": 3})
    await robots(RobotsFile("unreachable", failures=2, fresh_s=60))
    scrapy("hosts", "pause", HOST)
    why = json_of(scrapy("hosts", "show", HOST, "--json"))["why"]
    for sentence, beginning in zip(
        why,
        (
            "An operator has paused it.",
            "It is asked nothing for ",
            "Its robots.txt is unreachable, so its pages wait; that is asked for again in ",
            "Its first seed is due in ",
        ),
        strict=True,
    ):
        assert sentence.startswith(beginning)
    assert "an operator has paused board.test" in lines_of(scrapy("seeds", "show", content_seed(1).url))[1]


@pytest.mark.usefixtures("_busy")
async def test_hosts_are_slowed_down_paused_and_let_go_on(scrapy, operator):
    orders = orders_of(operator)
    assert lines_of(scrapy("hosts", "slow", HOST, "b.test", "--delay", "2.5")) == [
        f"{HOST}: delay 2.5 s",
        "b.test: delay 2.5 s",
    ]
    assert lines_of(scrapy("hosts", "pause", "https://b.test/page")) == ["b.test: paused, delay 2.5 s"]
    assert lines_of(scrapy("hosts")) == [
        "host answers bytes errors order",
        "b.test 0 0 B 0 paused, delay 2.5 s",
        f"{HOST} 9 2.5 MB 3 delay 2.5 s",
    ]
    assert lines_of(scrapy("hosts", "reset", "b.test")) == ["b.test: paused"]
    assert json_of(scrapy("hosts", "resume", "b.test", "--json")) == {
        "orders": {"b.test": {"delay_s": 0, "paused": False}}
    }
    assert await orders.all() == {HOST: HostOrder(2.5)}
    assert lines_of(scrapy("hosts", "forgive", HOST)) == [f"{HOST}: delay 2.5 s"]
    entries = await audit.read(operator)
    acts = [(one.action, one.target) for one in reversed(entries)]
    assert sorted(acts[:2]) == [("host-slow", f"{host} delay=2.5") for host in ("b.test", HOST)]  # at one moment
    assert acts[2:] == [
        ("host-pause", "b.test"),
        ("host-reset", "b.test"),
        ("host-resume", "b.test"),
        ("host-forgive", HOST),
    ]
    assert {one.user for one in entries} == {entries[0].user}
    assert entries[0].user.startswith(f"{getpass.getuser()}@")


async def test_what_can_not_be_ordered_changes_nothing(scrapy, operator):
    assert error_of(scrapy("hosts", "slow", HOST)) == "hosts slow: expected --delay SECONDS"
    for delay in ("0", "soon", "3601", "nan"):
        assert error_of(scrapy("hosts", "slow", HOST, "--delay", delay)).startswith(
            f"delay: got '{delay}', expected seconds"
        )
    assert error_of(scrapy("hosts", "pause", HOST, "a b")).startswith("not ")
    assert await orders_of(operator).all() == {}
