"""A random crawl by owners who die, pause, lose answers and come late: nothing is ever lost, doubled or stuck."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from frontier.driver import FrontierDriver, content, nav
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier import ledger, scripts
from crawler.frontier.settlement import Settlement, TurnRelease

pytestmark = pytest.mark.faults  # hundreds of random crawls of the frontier

STEPS = 1_000  # for each of the seeds
CHECK_EVERY = 50
DRAIN_ROUNDS = 4_000
HOSTS = [f"h{number}.test" for number in range(12)]
PLANS = [f"plan{number}" for number in range(4)]
SITES = {"quick": (0, 3, 4), "slow": (3, 1, 2)}  # delay in ms, concurrency, burst
SOON_MS = 60
# What turns are released with: ms since the last start, backoff in ms, and how many requests the host answered, failed
# and refused.
REPORTS = [(-1, 0, 0, 0, 0), (0, 0, 1, 0, 0), (5, 0, 3, 0, 0), (1, 0, 1, 1, 0), (0, SOON_MS, 1, 0, 1), (2, 0, 0, 1, 0)]
YIELD_MS = 1_200  # as in claim.lua
FRONTIERS = ("nav", "content")


class RandomCrawl:
    """Does random things to the frontier, and knows what each owner holds."""

    def __init__(self, driver, losing, seed):
        self.driver = driver
        self.losing = losing
        self.random = random.Random(seed)
        self.names = iter(f"owner{number}" for number in range(10_000))
        self.holds = {}  # (owner, frontier) -> claimed seeds and turns without seeds
        self.ghosts = []  # owners who died: (owner, frontier, what they held)
        self.accepted = Counter()  # offers that were new to their plan, by frontier
        self.states = dict.fromkeys(PLANS, "active")

    async def join(self):
        owner = next(self.names)
        await self.driver.session(owner)
        self.holds[owner, self.random.choice(FRONTIERS)] = []

    async def step(self):
        action = self.random.choices(
            (self.offer, self.claim, self.settle, self.die, self.haunt, self.acquire, self.lose, self.plan, self.retry),
            (20, 40, 45, 2, 3, 5, 2, 2, 2),
        )[0]
        await action()

    async def offer(self):
        frontier, seeds = self.random.choice(FRONTIERS), []
        for _ in range(self.random.randint(1, 12)):
            make = content if frontier == "content" else nav
            more = {"interval_s": 3_600} if frontier == "nav" and self.random.random() < 0.3 else {}
            seeds.append(
                make(
                    self.random.randrange(200),
                    self.random.choice(HOSTS),
                    plan=self.random.choice(PLANS),
                    site=self.random.choice(list(SITES)),
                    **more,
                )
            )
        due_ms = self.random.choice((0, 0, await self.driver.now_ms() + self.random.randint(1, SOON_MS)))
        fresh = await self.driver.offer(*seeds, due_ms=due_ms)
        self.accepted[frontier] += sum(fresh)

    async def claim(self):
        owner, frontier = self.random.choice(list(self.holds))
        held = self.holds[owner, frontier]
        carrying = sum(not isinstance(one, TurnRelease) for one in held)
        answer = await self.driver.claim(owner, self.random.randint(1, 30), carrying=carrying, frontier=frontier)
        to_fetch = [one for one in answer.seeds if not one.delivered]  # no worker begins what needs no fetch
        await self.driver.begin(to_fetch[: self.random.randint(0, 10)])
        assert len(answer.seeds) <= 30
        if answer.state == "quarantined":
            assert carrying == 0
            assert len(answer.seeds) == 1
        for claimed in answer.seeds:
            assert any(self.states[seed.plan] == "active" for seed in claimed.seeds)
            assert all(self.states[seed.plan] != "cancel" for seed in claimed.seeds)
        held += answer.seeds

    async def settle(self):
        owner, frontier = self.random.choice(list(self.holds))
        held = self.holds[owner, frontier]
        ending = self.random.sample(held, self.random.randint(0, len(held)))
        self.holds[owner, frontier] = held = [one for one in held if one not in ending]
        assert await self.tell(owner, frontier, ending, held) == (self.seeds_in(ending), 0)

    @staticmethod
    def seeds_in(what):
        return sum(not isinstance(one, TurnRelease) for one in what)

    async def tell(self, owner, frontier, ending, kept):
        settlements, backs, on_turns = [], [], set()
        for one in ending:
            if isinstance(one, TurnRelease):
                backs.append(one)
                continue
            if one.turn:
                on_turns.add((one.seed.host, one.turn))
            operation = self.random.choices(("finish", "retry", "fail", "release"), (60, 20, 10, 10))[0]
            reason = "" if operation == "finish" else self.random.choice(("timeout", "http-500"))
            tellable = self.random.random() < 0.5
            settlements.append(Settlement(operation, one, self.random.randint(0, SOON_MS), reason, tellable))
        on_turns -= {(one.seed.host, one.turn) for one in kept if not isinstance(one, TurnRelease)}
        backs += [TurnRelease(host, turn, *self.random.choice(REPORTS)) for host, turn in sorted(on_turns)]
        return await self.driver.settle(owner, settlements, backs, frontier)

    async def acquire(self):
        owner, frontier = self.random.choice(list(self.holds))
        host = self.random.choice(HOSTS)
        turn, _number = await self.driver.queues[frontier].acquire_turn(host, "quick", owner)
        if turn > 0:
            self.holds[owner, frontier].append(TurnRelease(host, turn))

    async def die(self):
        await self.die_of(*self.random.choice(list(self.holds)))

    async def die_of(self, owner, frontier):
        self.ghosts.append((owner, frontier, self.holds.pop((owner, frontier))))
        await self.driver.lapse(owner)
        await self.join()

    async def haunt(self):
        """A dead owner's settle arrives late, perhaps twice: it ends what nobody has reclaimed, and nothing else."""
        if self.ghosts:
            owner, frontier, held = self.random.choice(self.ghosts)
            await self.tell(owner, frontier, held, [])

    async def lose(self):
        owner, frontier = self.random.choice(list(self.holds))
        self.losing.add(self.random.choice(("claim", "acquire_turn")))
        try:
            if self.random.random() < 0.5:
                await self.driver.claim(
                    owner, 10, carrying=self.seeds_in(self.holds[owner, frontier]), frontier=frontier
                )
            else:
                await self.driver.queues[frontier].acquire_turn(self.random.choice(HOSTS), "quick", owner)
        except RedisConnectionError:
            return
        finally:
            self.losing.clear()
        await self.die_of(owner, frontier)  # it had an answer that we dropped: as good as dead

    async def plan(self):
        plan = self.random.choice(PLANS)
        self.states[plan] = self.random.choice(("active", "pause", "cancel"))
        await self.mark()
        if self.states[plan] == "active":
            for frontier in FRONTIERS:
                await self.driver.resume(plan, frontier)

    async def mark(self):
        await self.driver.mark(*(f"{state} {plan}" for plan, state in self.states.items() if state != "active"))

    async def retry(self):
        frontier = self.random.choice(FRONTIERS)
        failed = await self.driver.redis.zrange(self.driver.key("fail", frontier), 0, 20)
        keys = self.driver.keys.partition(0).script_keys(frontier)
        retried, done = await scripts.run(self.driver.redis, "retry", keys, ["wake", *failed])
        kept = [one for one in failed if await self.driver.redis.zscore(self.driver.key("fail", frontier), one)]
        assert (retried, done) == (len(failed) - len(kept), len(failed))
        for fingerprint in kept:
            assert {self.states[plan] for plan in await self.plans_of(fingerprint, frontier)} == {"cancel"}

    async def plans_of(self, fingerprint, frontier):
        stored = await self.driver.redis.hget(self.driver.key("seed", frontier), fingerprint)
        further = await self.driver.redis.hget(self.driver.key("also", frontier), fingerprint) or b""
        return [stored.split()[1].decode(), *(line.split()[0].decode() for line in further.splitlines())]


async def members(driver, pattern):
    found = {}
    async for key in driver.redis.scan_iter(match=pattern, count=1_000):
        kind = await driver.redis.type(key)
        read = driver.redis.smembers(key) if kind == b"set" else driver.redis.zrange(key, 0, -1)
        found[key.decode()] = set(await read)
    return found


async def check(driver):
    """All that must hold between any two script calls."""
    assert await driver.problems() == []
    redis, stem = driver.redis, driver.keys.partition(0).stem
    accounts = await ledger.read(redis, driver.keys, 1)
    for frontier in FRONTIERS:
        key = lambda name: driver.key(name, frontier)  # noqa: B023, E731 -- used at once
        by_set = {
            **await members(driver, key("ready:*")),
            **{name: set(await redis.zrange(key(name), 0, -1)) for name in ("execute", "suspects", "fail", "parked")},
        }
        everywhere = Counter(fp for fps in by_set.values() for fp in fps)
        assert not [fp for fp, places in everywhere.items() if places > 1]
        assert set(everywhere) == set(await redis.hkeys(key("seed")))
        assert by_set["execute"] == set(await redis.hkeys(key("claims")))
        crashes = await redis.hgetall(key("crashes"))
        ready = set().union(*(fps for name, fps in by_set.items() if "ready:" in name))
        assert crashes.keys() <= set(everywhere) - by_set["fail"]
        assert by_set["suspects"] <= {fp for fp, count in crashes.items() if int(count) >= 0}
        assert {count for fp, count in crashes.items() if fp in ready} <= {b"-1", b"-2"}  # suspected, not quarantined
        held = await members(driver, key("held:*"))
        assert sum(map(len, held.values())) == len(by_set["execute"])
        assert set().union(*held.values()) == by_set["execute"]
        await check_hosts(driver, frontier, {name.rpartition("ready:")[2] for name in by_set if "ready:" in name})
        totals = await driver.totals(frontier)
        sums = Counter()
        for by_frontier in accounts.values():
            account = by_frontier[frontier]
            assert account.difference == 0
            sums.update(
                {name: getattr(account, name) for name in ("offered", "executing", "finished", "failed", "ready")}
            )
        assert {name: getattr(totals, name) for name in ("offered", "executing", "finished", "failed")} == {
            name: sums[name] for name in ("offered", "executing", "finished", "failed")
        }
        assert totals.ready + totals.waiting + totals.parked == sums["ready"]
        claimable = set().union(*(fps for name, fps in by_set.items() if "ready:" in name), by_set["suspects"])
        assert totals.waiting == len(claimable & await redis.smembers(key("scheduled")))
    by_owner = Counter()
    for name, entries in (await members(driver, f"{stem}:turns:*")).items():
        by_owner.update((name.rpartition(":")[2], *entry.decode().split(" ")) for entry in entries)
    by_host = Counter()
    for host in HOSTS:
        state = await redis.hgetall(driver.keys.partition(0).turn(host))
        held = [value.decode().split(" ") for field, value in state.items() if field.startswith(b"h")]
        by_host.update((owner, token, host) for owner, token in held)
    assert by_owner == by_host


async def check_hosts(driver, frontier, with_ready):
    """Every host with ready seeds stands in hosts, no later than a claim could succeed."""
    redis, now = driver.redis, await driver.now_ms()
    scores = {
        host.decode(): at for host, at in await redis.zrange(driver.key("hosts", frontier), 0, -1, withscores=True)
    }
    assert set(scores) == with_ready
    for host, at in scores.items():
        state = {
            field.decode(): value.decode()
            for field, value in (await redis.hgetall(driver.keys.partition(0).turn(host))).items()
        }
        concurrency = 1 if "e" in state else min(SITES[site][1] for site in state.get("s", "quick").split(","))
        free = [turn for turn in range(1, concurrency + 1) if f"h{turn}" not in state]
        if sum(field.startswith("h") for field in state) >= concurrency or not free:
            continue
        first = (await redis.zrange(driver.key(f"ready:{host}", frontier), 0, 0, withscores=True))[0][1]
        start = max(float(state.get("x", 0)), min(float(state.get(f"n{turn}", 0)) for turn in free))
        assert at <= max(first, start, now) + YIELD_MS


async def drain(crawl):
    """Everybody but one per frontier dies; these two finish all there is, waiting as they are told."""
    driver = crawl.driver
    for owner, _frontier in list(crawl.holds):
        await driver.lapse(owner)
    crawl.states = dict.fromkeys(PLANS, "active")
    await crawl.mark()
    for frontier in FRONTIERS:
        await driver.session(f"last-{frontier}")
        for plan in PLANS:
            await driver.resume(plan, frontier)
    for _ in range(DRAIN_ROUNDS):
        left = 0
        for frontier in FRONTIERS:
            answer = await driver.claim(f"last-{frontier}", 100, frontier=frontier)
            await driver.finish(f"last-{frontier}", answer.seeds, frontier=frontier)
            totals = await driver.totals(frontier)
            left += totals.ready + totals.executing + totals.parked
        if not left:
            return
    raise AssertionError(f"stuck: {left} seeds left")


@pytest.mark.parametrize("seed", [1, 2])
async def test_whatever_happens_nothing_is_lost_doubled_or_stuck(redis, losing, seed):
    driver = FrontierDriver(redis, max_attempts=3)
    for site, (delay_ms, concurrency, burst) in SITES.items():
        await driver.polite(site, delay_ms, concurrency, burst)
    crawl = RandomCrawl(driver, losing, seed)
    for _ in range(4):
        await crawl.join()
    for number in range(STEPS):
        await crawl.step()
        if number % CHECK_EVERY == 0:
            await check(driver)
    await drain(crawl)
    await check(driver)
    for frontier in FRONTIERS:
        totals = await driver.totals(frontier)
        assert totals.finished + totals.failed + totals.waiting == crawl.accepted[frontier]
        assert not await redis.exists(driver.key("execute", frontier), driver.key("suspects", frontier))
