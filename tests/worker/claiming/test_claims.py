"""A worker claims from partition after partition, and agrees with Redis about what it holds."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from frontier.driver import FrontierDriver, content
from samples import Leases, Stats
from waiting import PATIENCE_SECONDS

from crawler.base.events import Events
from crawler.frontier import scripts
from crawler.frontier.keys import Keys, partition_of
from crawler.servers.redis_full import RedisFull
from crawler.worker.claiming import claims as claims_module
from crawler.worker.claiming.claims import Claims
from crawler.worker.claiming.preference import Preference
from crawler.worker.settling.settler import Settler

SEND_SECONDS = 5.0
PARTITIONS = 3


class Parts(SimpleNamespace):
    """The claims of owner A over a frontier, and what they are built of."""

    def __init__(self, driver):
        stats = Stats()
        queue = driver.queues["content"]
        session = Leases("A", PARTITIONS)
        settler = Settler(queue, batch=10, wait_s=0.0, events=Events(), stats=stats)
        settler.start()
        redis_full = RedisFull()
        browser = SimpleNamespace(why_no_browser="")
        wake = asyncio.Event()
        claims = Claims(
            queue,
            session,
            settler,
            wake=wake,
            stats=stats,
            send_s=SEND_SECONDS,
            redis_full=redis_full,
            browser=browser,
            preference=Preference(driver.redis, driver.keys, "content", "A:x"),
        )
        super().__init__(
            browser=browser,
            driver=driver,
            session=session,
            settler=settler,
            redis_full=redis_full,
            wake=wake,
            claims=claims,
            stats=stats.values,
        )


@pytest.fixture
async def parts(redis):
    """Over three partitions."""
    driver = FrontierDriver(redis, PARTITIONS)
    await driver.polite()
    await driver.session("A")
    claiming = Parts(driver)
    yield claiming
    await claiming.claims.close()
    await claiming.settler.close()


async def test_partitions_are_asked_in_turn_until_one_has_seeds(parts):
    await parts.driver.offer(*(content(1, f"h{number}.test") for number in range(30)))
    hosts, carrying = set(), []
    for _ in range(PARTITIONS):
        answer = await parts.claims.claim(100)
        assert answer.seeds
        assert len({claimed.partition for claimed in answer.seeds}) == 1
        hosts |= {claimed.seed.host for claimed in answer.seeds}
        carrying.append(parts.claims.carrying)
    assert len(hosts) == 30
    assert carrying[-1] == 30
    answer = await parts.claims.claim(100)
    assert (answer.state, answer.seeds) == ("ok", [])
    assert answer.wait_ms is not None  # until a session lapses, should its worker die
    assert parts.stats["frontier/claimed"] == 30


async def test_an_empty_answer_has_the_shortest_wait_of_all_partitions(parts):
    now_ms = await parts.driver.now_ms()
    for number in range(30):
        await parts.driver.offer(content(1, f"h{number}.test"), due_ms=now_ms + 60_000 - number * 1_000)
    answer = await parts.claims.claim(100)
    assert answer.seeds == []
    assert 25_000 < answer.wait_ms <= 31_000


async def test_seeds_claimed_for_a_session_that_was_lost_meanwhile_are_dropped(parts, monkeypatch):
    await parts.driver.offer(content(1))
    queue = parts.driver.queues["content"]
    real = queue.claim

    async def claim(*arguments, **options):
        answer = await real(*arguments, **options)
        parts.session.lease_of("a.test").owner = "A2"
        return answer

    monkeypatch.setattr(queue, "claim", claim)
    answer = await parts.claims.claim(100)
    assert (answer.seeds, parts.claims.carrying) == ([], 0)


async def test_seeds_that_only_redis_believes_to_be_held_are_released_now_and_then(parts, monkeypatch, caplog):
    now_s = [0.0]
    monkeypatch.setattr(claims_module.time, "monotonic", lambda: 100.0 + now_s[0])
    await parts.claims.claim(100)
    await parts.driver.offer(content(1))
    claims = [await parts.driver.claim("A", partition=number) for number in range(PARTITIONS)]
    [partition] = [number for number, answer in enumerate(claims) if answer.seeds]
    parts.driver.queues["content"].forget(partition, "A")  # as if Redis had lost the settlement
    assert (await parts.claims.claim(100)).seeds == []
    now_s[0] = claims_module.RECALL_SECONDS
    for _ in range(PARTITIONS):
        if (answer := await parts.claims.claim(100)).seeds:
            break
    assert [claimed.partition for claimed in answer.seeds] == [partition]
    assert "Redis had forgotten how 1 seeds of this worker ended" in caplog.text


async def test_a_full_redis_is_noted_until_it_has_room(parts, redis):
    await parts.driver.offer(content(1))
    await redis.config_set("maxmemory", 1)
    try:
        answer = await parts.claims.claim(100)
    finally:
        await redis.config_set("maxmemory", 0)
    assert (answer.state, parts.redis_full.now) == ("full", True)
    answers = [await parts.claims.claim(100) for _ in range(PARTITIONS)]
    assert sum(len(answer.seeds) for answer in answers) == 1
    assert not parts.redis_full.now


# -- A partition that doesn't answer -----------------------------------------------------------------------------------


@pytest.fixture
def frozen(monkeypatch):
    """The partition of `slow.test`, whose answers to claims come when the event is set."""
    real, silent, thawed = scripts.run_after, partition_of("slow.test", PARTITIONS), asyncio.Event()

    async def run_after(redis, name, keys, *arguments, **options):
        answer = await real(redis, name, keys, *arguments, **options)
        if keys == Keys("t").partition(silent).script_keys("content"):
            await thawed.wait()
        return answer

    monkeypatch.setattr(scripts, "run_after", run_after)
    return SimpleNamespace(partition=silent, thawed=thawed)


async def claimed_once_each(parts):
    """Asks each partition once; returns the states of the answers, and the hosts of their seeds."""
    answers = [await parts.claims.claim(100) for _ in range(PARTITIONS)]
    return {one.state for one in answers}, {claimed.seed.host for one in answers for claimed in one.seeds}


async def test_others_are_claimed_while_a_partition_is_silent_and_its_answer_comes_late(parts, frozen):
    others = {f"h{number}.test" for number in range(9)} - {
        host for number in range(9) if partition_of(host := f"h{number}.test", PARTITIONS) == frozen.partition
    }
    await parts.driver.offer(content(1, "slow.test"), *(content(1, host) for host in others))
    async with asyncio.timeout(PATIENCE_SECONDS):
        _states, hosts = await claimed_once_each(parts)
    assert hosts == others
    assert not parts.wake.is_set()
    frozen.thawed.set()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await parts.wake.wait()
    _, late = await claimed_once_each(parts)
    assert late == {"slow.test"}
    assert parts.claims.carrying == len(others) + 1


async def test_nothing_but_silence_says_so(parts, frozen, monkeypatch):
    parts.session.leases[:] = [parts.session.leases[frozen.partition]]
    parts.session.leases[0].partition = frozen.partition
    monkeypatch.setattr(claims_module, "ANSWER_SECONDS", 0.01)
    parts.claims._partition = 0
    assert (await parts.claims.claim(100)).state == "late"


async def test_a_quarantined_seed_that_comes_late_is_handed_back(parts, frozen):
    driver = parts.driver
    await driver.offer(content(1, "slow.test"))
    await driver.redis.hset(driver.key("crashes", partition=frozen.partition), content(1, "slow.test").fingerprint, 0)
    suspects = {content(1, "slow.test").fingerprint: 1}
    await driver.redis.zadd(driver.key("quarantine", partition=frozen.partition), suspects)
    await driver.redis.delete(driver.key("ready:slow.test", partition=frozen.partition))
    other = next(
        f"h{number}.test" for number in range(9) if partition_of(f"h{number}.test", PARTITIONS) != frozen.partition
    )
    await driver.offer(content(1, other))
    _, hosts = await claimed_once_each(parts)
    assert hosts == {other}
    frozen.thawed.set()
    await parts.wake.wait()
    _states, hosts = await claimed_once_each(parts)
    assert hosts == set()
    assert await parts.settler.send_all(SEND_SECONDS)
    assert await driver.problems() == []
    assert (await driver.totals()).executing == 1


@pytest.mark.parametrize("has_come", [True, False])
async def test_what_a_claim_gave_that_is_broken_off_is_given_back(parts, frozen, has_come):
    await parts.driver.offer(content(1, "slow.test"))
    await claimed_once_each(parts)
    assert (await parts.driver.totals()).executing == 1
    if has_come:
        frozen.thawed.set()
        await parts.wake.wait()
    await parts.claims.close()
    frozen.thawed.set()
    await parts.settler.send_all(SEND_SECONDS)
    await parts.driver.queues["content"].recall(frozen.partition, "A")
    assert (await parts.driver.totals()).ready == 1
    assert await parts.driver.problems() == []


async def test_a_worker_without_a_browser_leaves_pages_that_need_one_until_it_has_one(parts):
    await parts.driver.rendered()
    await parts.driver.offer(content(1))
    parts.browser.why_no_browser = "no browser"
    assert (await parts.claims.claim(100)).seeds == []
    assert len(parts.claims.left_seeds_in) == 1
    parts.browser.why_no_browser = ""
    assert len((await parts.claims.claim(100)).seeds) == 1
    assert parts.claims.left_seeds_in == set()
