"""Does any priority starve, or a host stand idle that has something due? By the real scripts, on a clock of their own.

    .venv/bin/python -m benchmarks.order                             # 10,000 hosts, 1,000,000 seeds: some 20 minutes
    .venv/bin/python -m benchmarks.order --hosts 100 --seconds 400

Each host may be asked once a second, and has ten due seeds of each of the ten priorities. For each seed that is claimed
there is a new one of the highest priority, so that there is always something that comes before the others. Shown is how
long each priority waited for its next seed on a host at most, while it had one. Then each host has pages of two plans:
those of one are ten links deep, the other has new start pages without end; of equal priority, and the deep one's lower.
Exit status 1 says that the lowest priority waited for more than 60 s, or a host was idle.

Time is what the benchmark says it is: the scripts' clock is read from a key, and goes on by a second when all is
claimed that can be.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import itertools
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

from crawler.base.models import MAX_PRIORITY, Seed
from crawler.frontier import scripts
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.queue import MAX_SETTLE_CALL, Queue
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.servers.redis import redis_async
from testbed.servers import Redis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.base.models import Claimed

HOSTS, SECONDS = 10_000, 200
EACH = 10  # seeds of each priority on a host
DELAY_MS, BURST = 1_000, 10
CLAIM_SEEDS, CHUNK = 500, 10_000
LOWEST_MAX_S = 60
OWNER, SITE = "node:1:1700000000:abcdef01", "s"
BEGIN_MS, SESSION_MS = 1_790_000_000_000, 10**9
CLOCK = "clock"  # the key that holds the time, in ms
TIME = "local redis_time = call('TIME')"  # as in lua/lib/clock.lua
OWN_TIME = f"""local own_ms = tonumber(call('GET', '{CLOCK}'))
local redis_time = {{ string.format('%d', math.floor(own_ms / 1000)), string.format('%d', own_ms % 1000 * 1000) }}"""


class Waits(NamedTuple):
    """What was seen of one scenario.

    Attributes:
        longest_s: By kind of seed: the longest that a host had one and gave none.
        given: By kind, how many were claimed.
        idle_s: Seconds in which hosts had something due and were asked nothing, added up over hosts.
    """

    longest_s: Counter[int]
    given: Counter[int]
    idle_s: int


class Clocked:
    """A frontier on a clock of its own, and one worker who claims all that can be claimed.

    Args:
        kind_of: What a seed is counted as.
        next_of: What is offered for a seed that was claimed, by a number that no other has.
    """

    def __init__(self, server: Redis, kind_of: Callable[[Seed], int], next_of: Callable[[str, int], Seed]) -> None:
        self._redis = redis_async({"REDIS_URL": server.url})
        self._partition = Keys("hr").partition(0)
        self._queue = Queue(self._redis, FrontierConfig(Keys("hr")), "content")
        self._kind_of, self._next_of = kind_of, next_of
        self._claims, self._numbers = itertools.count(1), itertools.count(1_000)
        self._waiting: dict[str, Counter[int]] = defaultdict(Counter)  # by host: seeds of each kind
        self._given_at: dict[tuple[str, int], int] = {}

    async def run(self, seeds: Iterable[Seed], seconds: int) -> Waits:
        """Offers seeds, and lets so much time pass."""
        await self._redis.flushall()
        await self._redis.set(CLOCK, BEGIN_MS)
        await self._redis.hset(self._partition.politeness, SITE, f"{DELAY_MS} 1 {BURST}")
        keys = self._partition.script_keys("content")
        await scripts.run(self._redis, "session", keys, ["open", OWNER, SESSION_MS])
        to_offer = iter(seeds)
        while chunk := list(itertools.islice(to_offer, CHUNK)):
            await self._offer(chunk)
        ending: dict[int, list[list[Claimed]]] = defaultdict(list)
        waits, busy = Waits(Counter(), Counter(), 0), set[str]()
        for second in range(seconds):
            await self._redis.set(CLOCK, BEGIN_MS + 1_000 * second)
            for batch in ending.pop(second, []):
                busy.discard(batch[0].seed.host)
                await self._finish(batch)
            for batch in await self._claim():
                busy.add(batch[0].seed.host)
                self._note(batch, second, waits)
                ending[second + len(batch)].append(batch)
            waits = waits._replace(idle_s=waits.idle_s + len(self._waiting) - len(busy))
        for host, kinds in self._waiting.items():
            for kind in +kinds:  # and what waits still
                waited_s = seconds - self._given_at.get((host, kind), 0)
                waits.longest_s[kind] = max(waits.longest_s[kind], waited_s)
        await self._redis.aclose()
        return waits

    def _note(self, batch: list[Claimed], second: int, waits: Waits) -> None:
        """Notes what a host gave: its pages are asked for one a second."""
        for at_s, claimed in enumerate(batch, second):
            host, kind = claimed.seed.host, self._kind_of(claimed.seed)
            waits.given[kind] += 1
            waits.longest_s[kind] = max(waits.longest_s[kind], at_s - self._given_at.get((host, kind), 0))
            self._given_at[host, kind] = at_s
            self._waiting[host][kind] -= 1

    async def _offer(self, seeds: Iterable[Seed]) -> None:
        offered = list(seeds)
        await self._queue.offer(offered)
        for seed in offered:
            self._waiting[seed.host][self._kind_of(seed)] += 1

    async def _claim(self) -> list[list[Claimed]]:
        """Claims until nothing can be claimed now; returns what each host gave."""
        by_host: dict[str, list[Claimed]] = defaultdict(list)
        while True:
            claim = f"{OWNER}#{next(self._claims)}"
            answer = await self._queue.claim(0, OWNER, claim, max_seeds=CLAIM_SEEDS, carrying=0)
            for claimed in answer.seeds:
                by_host[claimed.seed.host].append(claimed)
            if not answer.seeds and answer.wait_ms != 0:
                return list(by_host.values())

    async def _finish(self, batch: list[Claimed]) -> None:
        """Ends what a host gave; its last request began a second ago. As many new seeds of it are offered."""
        host, turn = batch[0].seed.host, batch[0].turn
        await self._offer(self._next_of(host, next(self._numbers)) for _ in batch)
        ends = [Settlement("finish", claimed) for claimed in batch]
        assert len(ends) <= MAX_SETTLE_CALL
        await self._queue.settle(0, OWNER, ends, [TurnRelease(host, turn, DELAY_MS, answers=len(batch))])


def priorities(server: Redis, hosts: int, seconds: int) -> int:
    """All priorities on each host. Returns 1 where the lowest starves, or a host idles."""

    def seed(host: str, number: int, priority: int = MAX_PRIORITY) -> Seed:
        return Seed(f"http://{host}/{number}", "p", SITE, priority=priority)

    every = (
        seed(f"h{host}.test", EACH * priority + number, priority)
        for host in range(hosts)
        for priority in range(MAX_PRIORITY + 1)
        for number in range(EACH)
    )
    waits = asyncio.run(Clocked(server, lambda seed: seed.priority, seed).run(every, seconds))
    print("| priority | seeds claimed | longest wait on a host, s |\n|--:|--:|--:|")
    for priority in range(MAX_PRIORITY, -1, -1):
        print(f"| {priority} | {waits.given[priority]:,} | {waits.longest_s[priority]} |")
    print(f"\nhosts' seconds without a request, though something was due: {waits.idle_s}", flush=True)
    return int(waits.longest_s[0] > LOWEST_MAX_S or waits.idle_s > 0)


def plans(server: Redis, hosts: int, seconds: int) -> None:
    """Two plans on each host, of which one has new start pages as long as it runs, and one deep pages."""
    deep_depth = 10
    print(
        "\n| the deep plan's priority by the other's | its pages claimed | longest wait on a host, s |\n|---|--:|--:|"
    )
    for what, priority in (("equal", 5), ("1 lower", 4)):

        def start_page(host: str, number: int) -> Seed:
            return Seed(f"http://{host}/{number}", "wide", SITE)

        def deep_page(host: str, number: int, priority: int = priority) -> Seed:
            return Seed(f"http://{host}/deep/{number}", "deep", SITE, depth=deep_depth, priority=priority)

        every = (
            page(f"h{host}.test", number)
            for host in range(hosts)
            for page in (deep_page, start_page)
            for number in range(2 * EACH)
        )
        waits = asyncio.run(Clocked(server, lambda seed: seed.depth, start_page).run(every, seconds))
        print(f"| {what} | {waits.given[deep_depth]:,} | {waits.longest_s[deep_depth]} |", flush=True)


@functools.cache
def _with_own_time(name: str) -> str:
    text = _SOURCE(name)
    assert text.count(TIME) == text.count("call('TIME')"), "lua/lib/clock.lua reads the time otherwise by now"
    return text.replace(TIME, OWN_TIME)


_SOURCE = scripts.source


def main() -> int:
    """Returns 0; 1 where the lowest priority starves, or a host idles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of the frontier's own time")
    options = parser.parse_args()
    digest = functools.cache(scripts.digest.__wrapped__)
    with (
        mock.patch.object(scripts, "source", _with_own_time),
        mock.patch.object(scripts, "digest", digest),
        tempfile.TemporaryDirectory() as folder,
        Redis(Path(folder)) as server,
    ):
        status = priorities(server, options.hosts, options.seconds)
        plans(server, max(1, options.hosts // EACH), options.seconds)
    return status


if __name__ == "__main__":
    sys.exit(main())
