"""A frontier in a Valkey, eight owners who work on it, and a meter of what each kind of call costs Redis."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import redis as sync

from crawler.base.models import Claimed, Seed
from crawler.cluster.node_shares import Members
from crawler.frontier import scripts
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.owners import owner_node, process_of
from crawler.frontier.queue import ClaimAnswer, Queue
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.servers.redis import redis_async
from crawler.worker.claiming.preference import Preference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from testbed.servers import Redis as Server

OWNERS = [f"node{number}:1:1700000000:abcdef0{number}" for number in range(8)]
BATCH = 100  # seeds in one call, as workers send them
FILL_BATCH = 200  # seeds in one call while the frontier is filled: what a call has time for
BURST = 10  # the default politeness: seeds that a claim takes of one host
URL_CHARACTERS = 80
SESSION_MS = 86_400_000  # so that no session lapses meanwhile
PLAN, SITE = "flood-2026", "city_news"
# Of offer.lua: for any edition, of nobody who remembers seeds, without a budget and counts.
OFFER_HEAD = ("wake", 0, "", "", "", "", "", "", 0)


def seeds_of(hosts: int, first: int = 0, run: int = BURST) -> Iterator[Seed]:
    """Yields seeds without end from number `first` on; `run` in a row are of one host, as links of a page are."""
    for number in itertools.count(first):
        host = f"www{number // run % hosts:06}.example.org"
        yield Seed(f"http://{host}/{number}/".ljust(URL_CHARACTERS, "x"), PLAN, SITE)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a seed costs Redis: CPU in microseconds, commands inside scripts, and scripts."""

    cpu_us: float
    inner: float
    scripts: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu_us + other.cpu_us, self.inner + other.inner, self.scripts + other.scripts)


class Meter:
    """Adds up what Redis spends between `start` and `stop`."""

    def __init__(self, client: sync.Redis) -> None:
        self._client: Any = client
        self._begun: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()

    def start(self) -> None:
        """Begins a measurement."""
        calls = self._calls()
        self._begun = Counter(calls)
        self._begun["us"] = self._cpu_us()  # last, so that the cost of INFO is left out

    def stop(self, seeds: int) -> None:
        """Ends a measurement, in which `seeds` seeds were moved."""
        now = Counter(us=self._cpu_us())
        now.update(self._calls())
        now.subtract(self._begun)
        self._spent.update(now)
        self._spent["seeds"] += seeds

    @property
    def cost(self) -> Cost:
        """What one seed cost, over all measurements."""
        seeds = max(1, self._spent["seeds"])
        return Cost(*(self._spent[name] / seeds for name in ("us", "inner", "scripts")))

    def _cpu_us(self) -> int:
        cpu: dict[str, float] = self._client.info("cpu")
        return round((cpu["used_cpu_sys_main_thread"] + cpu["used_cpu_user_main_thread"]) * 1e6)

    def _calls(self) -> dict[str, int]:
        stats = self._client.info("commandstats")
        calls = {name.removeprefix("cmdstat_"): each["calls"] for name, each in stats.items()}
        outer = sum(calls.pop(name, 0) for name in ("evalsha", "eval"))
        calls.pop("info", None)
        return {"inner": sum(calls.values()), "scripts": outer}


class Rig:
    """A frontier in an empty Redis, and the owners who work on it."""

    def __init__(self, server: Server, *, durable: bool) -> None:
        self.server = server
        self.client: Any = sync.Redis(port=server.port)
        self.client.config_set("auto-aof-rewrite-percentage", 0)  # a rewrite's fork would be counted
        self.client.config_set("appendonly", "yes" if durable else "no")
        self.client.config_set("lazyfree-lazy-user-flush", "no")
        self.client.flushall()
        self.redis = redis_async({"REDIS_URL": server.url})  # as workers connect
        self.keys = Keys("hr")
        self.part = self.keys.partition(0)
        self.script_keys = self.part.script_keys("content")
        self.queue = Queue(self.redis, FrontierConfig(self.keys), "content")
        self.meters = {name: Meter(self.client) for name in ("offer", "claim", "settle")}
        self._claims = itertools.count(1)
        workers = {owner_node(owner): [process_of(owner)] for owner in OWNERS}
        members = Members(dict.fromkeys(workers, 1.0), workers)
        self.preferences = {owner: Preference(self.redis, self.keys, "content", owner) for owner in OWNERS}
        for preference in self.preferences.values():
            preference.heed(members)
        for owner in OWNERS:
            self.run_now("session", "open", owner, SESSION_MS)
        self.polite()
        self.empty_bytes = self.used_bytes()

    def polite(self, burst: int = BURST) -> None:
        """Sets the site's politeness: no delay, one turn, `burst` seeds on it."""
        self.client.hset(self.part.politeness, SITE, f"0 1 {burst}")

    def run_now(self, name: str, *arguments: object) -> Any:
        """Runs a script."""
        return self.client.eval(scripts.source(name), len(self.script_keys), *self.script_keys, *arguments)

    def used_bytes(self) -> int:
        """Returns the memory that Redis uses, without what connections hold for a moment."""
        memory = self.client.info("memory")
        return int(memory["used_memory"] - memory.get("mem_clients_normal", 0) - memory.get("mem_aof_buffer", 0))

    def fill(self, seeds: Iterator[Seed], number: int) -> None:
        """Offers `number` seeds by ready-made calls."""
        self.run_now("offer", *OFFER_HEAD)
        digest, pipeline = scripts.digest("offer"), self.client.pipeline(transaction=False)
        for start in range(0, number, FILL_BATCH):
            arguments: list[object] = [*OFFER_HEAD]
            for seed in itertools.islice(seeds, min(FILL_BATCH, number - start)):
                arguments += (seed.fingerprint, seed.dump(), 0)
            pipeline.evalsha(digest, len(self.script_keys), *self.script_keys, *arguments)
            if len(pipeline) == 20:  # noqa: PLR2004 -- some MB on their way
                pipeline.execute()
        pipeline.execute()

    async def offer(self, seeds: Iterator[Seed], number: int = BATCH) -> int:
        """Offers a batch, measured; returns how many were new."""
        batch = list(itertools.islice(seeds, number))
        self.meters["offer"].start()
        fresh = sum(await self.queue.offer(batch))
        self.meters["offer"].stop(len(batch))
        return fresh

    async def claim(self, number: int, max_seeds: int = BATCH) -> dict[str, list[Claimed]]:
        """Has the owners claim until they have `number` seeds or there is nothing more; returns what each got."""
        taken: dict[str, list[Claimed]] = {owner: [] for owner in OWNERS}
        wanted = itertools.repeat(None, number // max_seeds)

        async def contend(owner: str) -> None:
            for _ in wanted:
                state = "locked"
                while state == "locked":
                    answer = await self.claim_once(owner, max_seeds, len(taken[owner]))
                    state = answer.state
                taken[owner] += answer.seeds

        self.meters["claim"].start()
        await asyncio.gather(*map(contend, OWNERS))
        self.meters["claim"].stop(sum(map(len, taken.values())))
        return taken

    async def claim_once(
        self, owner: str, max_seeds: int = BATCH, carrying: int = 0, *, prefers: bool = True
    ) -> ClaimAnswer:
        """Claims for an owner, as workers do; one that doesn't prefer its own hosts takes any."""
        preference = self.preferences[owner]
        hosts = preference.next_hosts(0, max_seeds) if prefers else []
        answer = await self.queue.claim(
            0,
            owner,
            f"{owner}#{next(self._claims)}",
            max_seeds=max_seeds,
            carrying=carrying,
            preferred=hosts,
            line_length=preference.line_length(0, hosts) if prefers else 0,
        )
        if prefers:
            preference.heard(0, hosts, answer)
        return answer

    async def finish(self, taken: dict[str, list[Claimed]], operation: Any = "finish") -> None:
        """Settles what was claimed, in batches, with the turns it ran on."""
        batches = []
        for owner, held in taken.items():
            for start in range(0, len(held), BATCH):
                batch = held[start : start + BATCH]
                pages = Counter((one.seed.host, one.turn) for one in batch)
                turns = [TurnRelease(host, turn, 5, 0, -number, 0) for (host, turn), number in pages.items()]
                batches.append((owner, [Settlement(operation, one) for one in batch], turns))
        self.meters["settle"].start()
        for owner, ends, turns in batches:
            await self.queue.settle(0, owner, ends, turns)
        self.meters["settle"].stop(sum(len(ends) for _owner, ends, _turns in batches))

    def cost(self, *names: str) -> Cost:
        """Returns what was measured, summed over some kinds of calls."""
        costs = [self.meters[name].cost for name in names]
        return sum(costs[1:], costs[0])
