"""The ledger reconciles, and a recount finds what doesn't."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from frontier.driver import FrontierDriver, content, ends, nav, turns

from crawler.frontier import ledger, recount
from crawler.frontier.ledger import Account
from crawler.frontier.recount import PartRecount
from crawler.frontier.settlement import Settlement


@pytest.fixture
async def busy(frontier):
    """A frontier with seeds in every state."""
    await frontier.offer(*(content(number) for number in range(9)), content(1))
    await frontier.offer(nav(1), nav(2, site="t"))
    claimed = (await frontier.claim(max_seeds=5)).seeds
    await frontier.settle("A", ends(claimed[:2]))
    await frontier.settle("A", ends(claimed[2:3], "fail", reason="robots"))
    await frontier.settle("A", ends(claimed[3:4], "retry", 60_000, "http-503"))
    await frontier.offer(content("parked", "b.test", plan="q"))
    await frontier.mark("pause q")
    await frontier.claim("B", max_seeds=1)
    return frontier


async def test_every_state_is_counted(busy):
    account = await busy.account()
    assert account.as_dict() == {
        "offered": 10,
        "known": 1,
        "ready": 5,
        "executing": 1,
        "finished": 2,
        "failed": 1,
        "difference": 0,
        "failures": {"robots": 1},
        "notes": {"retried": 1},
    }
    assert (await busy.account("p", "t", "nav")).ready == 1
    assert await busy.problems() == []


async def test_where_a_scheduled_page_has_moved_is_no_name_in_the_ledger(frontier):
    await frontier.offer(content(1, interval_s=60))
    (claimed,) = (await frontier.claim()).seeds
    moved = Settlement("finish", claimed, reason="redirected", moved_to="http://b.test/?sid=1")
    await frontier.settle("A", [moved])
    assert (await frontier.account()).notes == {"redirected": 1, "visits": 1, "waiting": 1}


async def test_one_plans_ledger_is_read_without_the_others(busy, redis):
    assert set(await ledger.read(redis, busy.keys, 1, "q")) == {("q", "s")}
    assert await ledger.read(redis, busy.keys, 1, "none") == {}


async def test_partitions_are_added_up(redis):
    driver = FrontierDriver(redis, partitions=3)
    await driver.offer(*(content(number, f"{number}.test") for number in range(20)))
    assert (await driver.account()).ready == 20
    assert await driver.problems() == []


@pytest.mark.parametrize(
    ("command", "problems"),
    [
        ("ZREM ready:a.test SEED", ["content: 6 seeds wait, ready holds 4, parked 1"]),
        ("DEL hosts", ["content: 1 hosts have ready seeds but no place in hosts, such as a.test"]),
        ("DEL held:A", ["content: 1 in execute, 1 claims, 0 held"]),
        ("HINCRBY LEDGER content:finished 1", ["p s content: difference -1"]),
        ("HINCRBY counts finished 1", ["content: ledger finished 3, counted 2"]),
        ("SREM LEDGERS PLACE", ["p t nav: {'ready': 1} seeds without a ledger"]),
    ],
)
async def test_each_problem_is_named(busy, redis, command, problems):
    part = busy.keys.partition(0)
    (seed,) = await redis.zrange(busy.key("ready:a.test"), 0, 0)
    named = {"SEED": seed, "LEDGER": part.ledger("p", "s"), "LEDGERS": part.ledgers, "PLACE": "p t"}
    word, key, *rest = command.split(" ")
    await redis.execute_command(word, named.get(key) or busy.key(key), *(named.get(value, value) for value in rest))
    assert [problem for problem in await busy.problems() if problem in problems] == problems


async def test_a_lost_seed_is_a_problem_of_its_plan_and_of_its_frontier(busy, redis):
    (fingerprint,) = await redis.zrange(busy.key("ready:a.test"), 0, 0)
    await redis.hdel(busy.key("seed"), fingerprint)
    problems = await busy.problems()
    assert "p s content: ledger ready 5, counted 4" in problems
    assert any(problem.startswith("content: 5 seeds wait, ready holds 5") for problem in problems)


@pytest.mark.parametrize(
    "planted",
    [
        ("DEL", "execute"),
        ("DEL", "claims"),
        ("DEL", "fail"),
        ("DEL", "parked"),
        ("DEL", "finish"),
        ("DEL", "also"),
        ("DEL", "wanted:q"),
        ("DEL", "hosts"),
        ("ZADD", "ready:a.test", 1, "nobody's"),
        ("ZADD", "parked", 1, "nobody's"),
        ("SADD", "held:B", "nobody's"),
        ("SADD", "wanted:p", "nobody's"),
        ("HSET", "seed", "nobody's", "a.test p s 0 {}"),
    ],
    ids=lambda planted: " ".join(planted[:2]),
)
async def test_whatever_is_lost_or_put_there_is_a_problem(busy, redis, planted):
    await busy.offer(*(content(number, plan="q") for number in range(9)))  # which p wants, too
    assert await busy.problems() == []
    command, name, *rest = planted
    await redis.execute_command(command, busy.key(name), *rest)
    assert await busy.problems() != []


async def test_seeds_are_counted_in_batches(frontier, redis, monkeypatch):
    monkeypatch.setattr(recount, "COUNT_BATCH", 50)
    await frontier.offer(*(content(number) for number in range(1_000)))
    part = PartRecount(redis, frontier.keys.partition(0), "content", defaultdict(Counter))
    batches = [number async for number in part.count_seeds()]
    assert sum(batches) == 1_000
    assert max(batches) < 200
    monkeypatch.setattr(recount, "SCAN_COUNT", 7)
    await frontier.offer(*(content(number, f"h{number}.test") for number in range(100)))
    assert await frontier.problems() == []


async def test_what_else_is_in_redis_is_nobody_s_seed(frontier, redis):
    await frontier.offer(content(1))
    await redis.set("t:{0}:content:held", "x")
    await redis.hset(frontier.keys.partition(0).ledger("p", "s"), "other", 3)
    assert await frontier.problems() == []


def test_a_sum_of_accounts_has_the_counts_and_failures_of_both():
    one, two = Account(offered=3, ready=1, failed=2, failures={"a": 1, "b": 1}), Account(offered=1, known=1)
    two.add(one)
    assert (two.offered, two.known, two.failed, two.failures, two.difference) == (4, 1, 2, {"a": 1, "b": 1}, 0)


def test_a_reason_that_was_retried_away_is_not_shown():
    account = Account()
    account.count("failed:robots", 0)
    account.count("redirected", 2)
    assert (account.failures, account.notes) == ({}, {"redirected": 2})


async def test_of_very_many_pages_that_have_moved_some_are_forgotten(frontier):
    key = frontier.key("moved")
    await frontier.redis.hset(key, mapping={number.to_bytes(16): "http://a.test/" for number in range(50_000)})
    await frontier.offer(content(1))
    (claimed,) = (await frontier.claim("A")).seeds
    end = Settlement("finish", claimed, reason="moved", moved_to="http://a.test/2")
    await frontier.settle("A", [end], turns([claimed]))
    assert await frontier.redis.hget(key, claimed.fingerprint) == b"http://a.test/2"
    assert await frontier.redis.hlen(key) < 50_000
