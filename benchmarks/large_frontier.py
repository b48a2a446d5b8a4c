"""How long may one script hold Redis up, in a frontier of millions?

    .venv/bin/python -m benchmarks.large_frontier            # 2 million seeds on a million hosts: 3 minutes, 2 GB

Half of the seeds are of one plan, half of another, one of each on every host. They are written by a script of its own,
with fingerprints that aren't those of their URLs, since that is fast; what workers claim are real seeds, offered for
the same plans, on hosts of their own, since the others come due later. The table gives the processor time of Redis's
main thread, as the kernel counts it, with the reading of a call and the writing of its answer: it says something on a
busy machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import random
import statistics
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from benchmarks.frontier_rig import BATCH, OWNERS, PLAN, SITE, URL_CHARACTERS, Rig, seeds_of
from crawler.base.models import Seed
from crawler.frontier import scripts
from crawler.frontier.offer import OFFER_BATCH
from crawler.frontier.preflight import prepare
from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.settlement import Operation, Settlement, TurnRelease
from crawler.frontier.turn_answers import NO_TURN
from crawler.plans.plan_record import PlanRecord
from crawler.plans.registry import Registry
from testbed.servers import Redis as Server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.base.models import Claimed
    from crawler.plans.plan_record import PlanState

SEEDS, HOSTS = 2_000_000, 1_000_000
REAL_HOSTS = 20_000  # those that claims come to; each has a real seed of both plans
LATER_MS = 3_600_000  # until the other seeds come due
FILL_BATCH = 5_000  # seeds in one call of FILL
OTHER_PLAN, SHARING_PLAN = "storm-2026", "sharing-2026"
WIDE_HOST, WIDE_SITE, WIDE_SEEDS = "wide.example.org", "wide", 20_000  # one host whose site allows claims of 500
CLAIM_SEEDS = 500  # the most that a worker asks for
ROUNDS = 20  # of each kind of call
CALLS = 200  # that are watched of an operation which takes thousands
# Writes seeds as offers would, from a template for `seed` with places for the host's number, twice, and the seed's.
FILL = """
local part, frontier, plan, site, template = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local first, number, hosts, due = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
for n = first, first + number - 1 do
  local fingerprint, name = string.sub(redis.sha1hex(n), 1, 16), n % hosts
  local host = string.format('www%07d.example.org', name)
  redis.call('HSET', frontier .. 'seed', fingerprint, string.format(template, name, name, n))
  redis.call('SADD', frontier .. 'wanted:' .. plan, fingerprint)
  redis.call('ZADD', frontier .. 'ready:' .. host, due, fingerprint)
  redis.call('ZADD', frontier .. 'hosts', 'NX', due, host)
end
for _, state in ipairs({ 'offered', 'ready' }) do
  redis.call('HINCRBY', part .. 'ledger:' .. plan .. ':' .. site, 'content:' .. state, number)
  redis.call('HINCRBY', frontier .. 'counts', state, number)
end
redis.call('SADD', part .. 'ledgers', plan .. ' ' .. site)
"""


class EnoughError(Exception):
    """As many calls were watched as are wanted."""


class Longest:
    """Notes what each call of a script costs Redis's main thread, by what the calls are made for."""

    def __init__(self, client: Any) -> None:
        pid = client.info("server")["process_id"]
        self._account = Path(f"/proc/{pid}/task/{pid}/schedstat")  # its first number: ns on a processor
        self._ms: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._what = ""

    def cpu_ms(self) -> float:
        """Returns the processor time that the main thread has had so far."""
        return int(self._account.read_text().split()[0]) / 1e6

    @contextlib.contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Says what the calls in the block are made for, one after the other; ends the block after CALLS of them."""
        self._what = what
        with (
            contextlib.suppress(EnoughError),
            mock.patch.multiple(scripts, run=self._timed(scripts.run), run_after=self._timed(scripts.run_after)),
        ):
            yield

    def _timed(self, run: Any) -> Any:
        async def timed(redis: Any, name: str, *rest: Any, **options: Any) -> Any:
            before = self.cpu_ms()
            answer = await run(redis, name, *rest, **options)
            self._ms[name, self._what].append(self.cpu_ms() - before)
            if len(self._ms[name, self._what]) == CALLS:
                raise EnoughError
            return answer

        return timed

    def show(self) -> None:
        """Prints the calls as Markdown."""
        print("\n| script | called for | calls | median, ms | longest, ms |\n|---|---|--:|--:|--:|")
        for (name, what), times in self._ms.items():
            print(f"| {name} | {what} | {len(times):,} | {statistics.median(times):.1f} | {max(times):.1f} |")


class Large:
    """The large frontier, and what is done to it."""

    def __init__(self, server: Server, seeds: int, hosts: int) -> None:
        self.rig = Rig(server, durable=False)
        self.longest = Longest(self.rig.client)
        self._admin = SeedAdmin(self.rig.queue)
        self._registry = Registry(self.rig.redis, self.rig.keys, 1)
        self._seeds, self._hosts = seeds, hosts
        self._real = min(REAL_HOSTS, hosts)
        self._new = seeds_of(self._real, 2 * REAL_HOSTS, run=1)  # seeds that nobody has offered
        self._claims = itertools.count(1)
        for file in (resources.files("crawler.frontier") / "lua").iterdir():
            if file.name.endswith(".lua"):
                self.rig.client.script_load(scripts.source(file.name.removesuffix(".lua")))

    async def fill(self) -> None:
        """Fills the frontier, and prints how many bytes a seed takes."""
        await prepare(self.rig.redis, self.rig.keys, 1)
        half, due_ms = self._seeds // 2, await self._registry.now_ms() + LATER_MS
        for plan, first in ((PLAN, 0), (OTHER_PLAN, half)):
            self._write(plan, first, half, due_ms)
        each = (self.rig.used_bytes() - self.rig.empty_bytes) / self._seeds
        print(f"{each:.0f} bytes a ready seed, with its part of its host; URLs have {URL_CHARACTERS} characters\n")
        self.rig.fill(seeds_of(self._real, run=1), self._real)
        others = (replace(seed, plan=OTHER_PLAN) for seed in seeds_of(self._real, REAL_HOSTS, run=1))
        self.rig.fill(others, self._real)
        self.rig.client.hset(self.rig.part.politeness, WIDE_SITE, f"0 1 {CLAIM_SEEDS}")
        urls = (f"http://{WIDE_HOST}/{number}/".ljust(URL_CHARACTERS, "x") for number in itertools.count())
        self.rig.fill((Seed(url, PLAN, WIDE_SITE) for url in urls), WIDE_SEEDS)
        for plan in (PLAN, OTHER_PLAN, SHARING_PLAN):
            await self._decide(plan, "active")

    def _write(self, plan: str, first: int, number: int, due_ms: int) -> None:
        """Writes seeds from number `first` on, one to a host after the other."""
        sample = Seed("http://www0000000.example.org/00000000/".ljust(URL_CHARACTERS, "x"), plan, SITE).dump()
        template = sample.replace(b"www0000000", b"www%07d").replace(b"/00000000/", b"/%08d/")
        names = (f"{self.rig.part.stem}:", self.rig.part.of("content", ""))
        for start in range(first, first + number, FILL_BATCH):
            size = min(FILL_BATCH, first + number - start)
            self.rig.client.eval(FILL, 2, *names, plan, SITE, template, start, size, self._hosts, due_ms)

    async def offers(self) -> None:
        """Offers: new seeds, known ones, and those that another plan wants already."""
        first = list(itertools.islice(seeds_of(self._real, run=1), ROUNDS * OFFER_BATCH))
        wide = itertools.count(WIDE_SEEDS)
        for number in range(ROUNDS):
            batch = first[number * OFFER_BATCH : (number + 1) * OFFER_BATCH]
            with self.longest.during(f"{OFFER_BATCH} new seeds of as many hosts"):
                await self.rig.queue.offer(itertools.islice(self._new, OFFER_BATCH))
            with self.longest.during(f"{OFFER_BATCH} new seeds of a host"):
                urls = (f"http://{WIDE_HOST}/{next(wide)}/".ljust(URL_CHARACTERS, "x") for _ in range(OFFER_BATCH))
                await self.rig.queue.offer([Seed(url, PLAN, WIDE_SITE) for url in urls])
            with self.longest.during(f"{OFFER_BATCH} known seeds"):
                await self.rig.queue.offer(batch)
            with self.longest.during(f"{OFFER_BATCH} seeds that wait for another plan"):
                await self.rig.queue.offer([replace(seed, plan=SHARING_PLAN) for seed in batch])

    async def claims(self) -> None:
        """Claims of 500 seeds, and how they end."""
        endings: tuple[Operation, ...] = ("finish", "retry", "fail", "release", "postpone")
        for operation, _ in itertools.product(endings, range(ROUNDS // 4)):
            taken = await self._claim("500 seeds of 500 hosts")
            await self._settle(taken, operation)
            self.rig.client.zadd(self.rig.part.of("content", "hosts"), {WIDE_HOST: 1})  # its turn comes first
            taken = await self._claim("500 seeds of a host")
            await self._settle(taken, operation)

    async def vain_claims(self) -> None:
        """Claims that come to hosts all of whose turns are held."""
        taken = [await self._claim("500 seeds of 500 hosts", owner) for owner in OWNERS[:4]]
        for _ in range(ROUNDS // 4):
            busy = {one.seed.host: 1 for held in taken for one in held}
            self.rig.client.zadd(self.rig.part.of("content", "hosts"), busy, xx=True)
            await self._settle(
                await self._claim("500 seeds, where 2,000 hosts are busy", OWNERS[4]), "release", OWNERS[4]
            )
        for owner, held in zip(OWNERS, taken, strict=False):
            await self._settle(held, "release", owner)

    async def losses(self) -> None:
        """What was claimed comes back: its owner never learned of it, or died."""
        for _ in range(4):
            await self._claim("500 seeds of 500 hosts")
        self.rig.queue.forget(0, OWNERS[0])
        with self.longest.during("2,000 seeds on 2,000 turns"):
            await self.rig.queue.recall(0, OWNERS[0])
        for owner in OWNERS[1:]:
            await self._claim("500 seeds of 500 hosts", owner)
        self.rig.client.zadd(self.rig.part.sessions, dict.fromkeys(OWNERS[1:], 1))
        reclaimed: list[Claimed] = []
        for _ in range(3 * len(OWNERS)):
            reclaimed += await self._claim("500 seeds of 500 hosts, after seven owners died with as many each")
        await self._settle(reclaimed, "release")
        for owner in OWNERS[1:]:
            with self.longest.during("open"):
                keys, arguments = self.rig.script_keys, ["open", owner, 86_400_000]
                await scripts.run(self.rig.redis, "session", keys, arguments)

    async def stops(self) -> None:
        """A plan that has half of the seeds is paused, resumed, cancelled, retried and dropped; claims meet it."""
        stops: tuple[tuple[PlanState, str], ...] = (("paused", "pause"), ("cancelled", "cancellation"))
        for state, what in stops:
            await self._decide(PLAN, state)
            for _ in range(ROUNDS):
                await self._settle(await self._claim(f"500 seeds, meeting a {what}"), "release")
            self.rig.client.zadd(self.rig.part.of("content", "hosts"), {WIDE_HOST: 1})
            await self._settle(await self._claim(f"500 seeds, meeting a {what} on one host"), "release")
            with self.longest.during(f"{what} of a plan of {self._seeds // 2:,} seeds"):
                await self._admin.set_aside(PLAN)
            await self._decide(PLAN, "active")
            if state == "paused":
                with self.longest.during("its end"):
                    await self._admin.resume(PLAN)
        with self.longest.during("all that failed of it"):
            await self._admin.retry(lambda _found: True, PLAN)
        with self.longest.during("all of it"):
            await self._admin.drop(PLAN, lambda _found: True, "replaced")

    async def _claim(self, what: str, owner: str = OWNERS[0]) -> list[Claimed]:
        with self.longest.during(what):
            claim = f"{owner}#{next(self._claims)}"
            return (await self.rig.queue.claim(0, owner, claim, max_seeds=CLAIM_SEEDS, carrying=0)).seeds

    async def _settle(self, taken: Sequence[Claimed], operation: Operation, owner: str = OWNERS[0]) -> None:
        """Ends claims in batches, as workers do, with the turns that they ran on."""
        amount_ms = 60_000 if operation in ("retry", "postpone") else 0
        for start in range(0, len(taken), BATCH):
            batch = taken[start : start + BATCH]
            ends = [Settlement(operation, one, amount_ms, "http-503") for one in batch]
            pages = Counter((one.seed.host, one.turn) for one in batch if one.turn != NO_TURN)
            turns = [TurnRelease(host, turn, 5, answers=number) for (host, turn), number in pages.items()]
            with self.longest.during(f"{operation} 100 seeds"):
                await self.rig.queue.settle(0, owner, ends, turns)

    async def _decide(self, plan: str, state: PlanState) -> None:
        """Tells the frontier a plan's state, as the commands do."""
        now_ms = await self._registry.now_ms()

        def decided(record: PlanRecord | None) -> PlanRecord:
            return (record or PlanRecord(plan, {}, [SITE], now_ms, 0)).decided(state, now_ms)

        with self.longest.during(state):
            await self._registry.tell_partitions(await self._registry.change_plan(plan, decided))


async def measure(seeds: int, hosts: int) -> None:
    """Measures the scripts and prints the table."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        large = Large(server, seeds, hosts)
        await large.fill()
        for calls in (large.offers, large.claims, large.vain_claims, large.losses, large.stops):
            await calls()
        large.longest.show()
        await large.rig.redis.aclose()


def main() -> None:
    """Reads the options and measures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    options = parser.parse_args()
    random.seed(1)
    asyncio.run(measure(options.seeds, options.hosts))


if __name__ == "__main__":
    main()
