"""Which hosts a worker's claims ask for, and how far Redis follows that."""

from __future__ import annotations

import asyncio
import functools

import pytest
from frontier.driver import FrontierDriver, content
from frontier.interleavings import BEGIN_MS, CLOCK, with_own_time
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.cluster.node_shares import Members
from crawler.frontier import scripts
from crawler.frontier.keys import Keys
from crawler.frontier.queue import ClaimAnswer
from crawler.worker.claiming import preference as preference_module
from crawler.worker.claiming.preference import LEAST_PREFERRED, LONGEST_LINE, MOST_PREFERRED, Preference

TWO = Members({"a": 1.0, "b": 1.0}, {"a": ["a:1:1"], "b": ["b:1:1"]})
HOSTS = [f"h{number}.test" for number in range(100)]
OURS = [host for host in HOSTS if TWO.first_worker(host) == "a:1:1"]


@pytest.fixture
def preference(redis):
    preference = Preference(redis, Keys("t"), "content", "a:1:1:x")
    preference.heed(TWO)
    return preference


@pytest.fixture
async def driver(redis):
    driver = FrontierDriver(redis)
    await driver.polite()
    await driver.session("A")
    for number, host in enumerate(HOSTS[:20]):
        await driver.offer(content(number, host), due_ms=1_000)
    return driver


def answered(*seeds, line=()):
    return ClaimAnswer("ok", None, list(seeds), line=tuple(line))


def test_it_asks_for_its_own_hosts_of_the_line(preference):
    preference.heard(0, [], answered(line=HOSTS))
    assert preference.next_hosts(0, 1) == OURS[:LEAST_PREFERRED]
    assert preference.next_hosts(0, 500) == OURS[:MOST_PREFERRED]
    assert preference.next_hosts(1, 500) == []


async def test_hosts_that_were_tried_make_way(preference, driver):
    given = (await driver.claim("A", preferred=OURS[1:2], max_seeds=1)).seeds
    preference.heard(0, [], answered(line=HOSTS))
    preference.heard(0, OURS[:3], ClaimAnswer("locked", 0, []))
    assert preference.next_hosts(0, 2) == OURS[:2]
    preference.heard(0, OURS[:3], answered(*given))
    assert preference.next_hosts(0, 2) == OURS[2:4]
    preference.heard(0, OURS[2:5], answered())
    assert preference.next_hosts(0, 2) == OURS[5:7]


def test_hosts_are_named_now_and_then_once_none_is_known(preference):
    lengths = []
    for _ in range(20):
        lengths.append(preference.line_length(0, []))
        preference.heard(0, [], answered(line=HOSTS[:1] if lengths[-1] and HOSTS[0] not in OURS else ()))
    assert max(lengths) <= LONGEST_LINE
    assert 0 < sum(lengths) <= 20 * preference_module.NAMES_OF_CLAIM + LONGEST_LINE * 20
    preference.heard(0, [], answered(line=OURS))
    assert preference.line_length(0, OURS[:2]) == 0  # more are known


def test_a_worker_that_is_alone_prefers_nothing(preference):
    preference.heed(Members({"a": 1.0}, {"a": ["a:1:1"]}))
    for _ in range(100):
        preference.heard(0, [], answered())
    assert (preference.next_hosts(0, 10), preference.line_length(0, [])) == ([], 0)


def test_where_no_worker_is_told_of_any_more_a_line_that_was_asked_for_has_nobody_s_hosts(preference):
    preference.heed(Members())
    preference.heard(0, [], answered(line=OURS))
    assert preference.next_hosts(0, 10) == []


async def test_members_are_those_of_before_while_redis_is_away(preference, monkeypatch):
    asked = asyncio.Event()

    async def read_members(_redis, _keys):
        asked.set()
        raise RedisConnectionError

    monkeypatch.setattr(preference_module, "read_members", read_members)
    preference.heard(0, [], answered(line=OURS))
    following = asyncio.create_task(preference.follow())
    await asked.wait()
    assert preference.next_hosts(0, 2) == OURS[:2]
    following.cancel()


async def test_preferred_hosts_come_first_and_others_fill_the_claim(driver):
    answer = await driver.claim("A", max_seeds=4, preferred=["h9.test", "gone.test", "+", "h7.test"], line_length=3)
    assert [claimed.seed.host for claimed in answer.seeds] == ["h9.test", "h7.test", "h0.test", "h1.test"]
    assert answer.line == ("h10.test", "h11.test", "h12.test")  # those offered at one moment are in the order of names


async def test_no_host_is_passed_by_that_has_waited_for_five_seconds_longer(driver):
    hosts = driver.keys.partition(0).of("content", "hosts")
    now_ms = await driver.now_ms()
    await driver.redis.zadd(hosts, dict.fromkeys(HOSTS[:20], now_ms))
    await driver.redis.zadd(hosts, {"h3.test": now_ms - 60_000, "h4.test": now_ms - 55_001, "h5.test": now_ms - 54_000})
    answer = await driver.claim("A", max_seeds=3, preferred=["h9.test", "h5.test", "h4.test"])
    assert [claimed.seed.host for claimed in answer.seeds] == ["h4.test", "h3.test", "h5.test"]


async def test_hosts_of_a_member_that_never_claims_wait_some_seconds_longer_at_most(redis, preference, monkeypatch):
    monkeypatch.setattr(scripts, "source", with_own_time(scripts.source))
    monkeypatch.setattr(scripts, "digest", functools.cache(scripts.digest.__wrapped__))
    await redis.set(CLOCK, BEGIN_MS)
    driver = FrontierDriver(redis)
    await driver.polite(burst=1)
    await driver.session("A", 10**9)
    hosts, claim_ms = HOSTS[:40], 250  # so a round of all hosts takes 10 s
    await driver.offer(*(content(number, host) for host in hosts for number in range(20)))
    given_at_ms, longest_ms, ours = dict.fromkeys(hosts, BEGIN_MS), 0, 0
    for now_ms in range(BEGIN_MS, BEGIN_MS + 60_000, claim_ms):
        await redis.set(CLOCK, now_ms)
        asked = preference.next_hosts(0, 1)
        length = preference.line_length(0, asked)
        answer = await driver.claim("A", max_seeds=1, preferred=asked, line_length=length)
        preference.heard(0, asked, answer)
        host = answer.seeds[0].seed.host
        ours += host in OURS
        longest_ms = max(longest_ms, now_ms - given_at_ms[host])
        given_at_ms[host] = now_ms
        await driver.finish("A", answer.seeds)
    longest_ms = max(longest_ms, now_ms - min(given_at_ms.values()))
    assert ours > 60_000 / claim_ms * len(set(OURS) & set(hosts)) / len(hosts)
    assert longest_ms <= len(hosts) * claim_ms + 5_000 + 2_000
