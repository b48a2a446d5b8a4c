"""Simulated nodes for simulation.py: real schedulers and workers over a simulated network and processor.

What is real: crawler.scheduler, crawler.worker.worker, the middleware that paces requests, and all below them: claims,
lanes, turns, settles, sessions with their threads, figures, wake-ups. What stands in: the engine (asks the scheduler,
as Scrapy's does), the network (a page takes `latency_s`), and the node's processor (a page takes its share of it, what
else runs there the rest), which the worker's headroom looks at. Time is real.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import secrets
import time
from array import array
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psutil
from scrapy.settings import Settings

from crawler.base.errors import HeadroomError
from crawler.base.tasks import cancel
from crawler.frontier import scripts, session
from crawler.middlewares.turns import TurnMiddleware
from crawler.scheduler import Scheduler
from crawler.worker.life.load import Load
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy import Request

    from crawler.frontier.queue import ClaimAnswer
    from crawler.worker.life.egress import Place
    from crawler.worker.visits.visit import Visit

PARALLEL = 64  # CONCURRENT_REQUESTS
MEMORY_PERCENT = 20.0  # never the limit here
SEED_MEMORY_PERCENT = 0.001
THREADS = 32  # a real worker has some to itself
ANSWER: Any = SimpleNamespace(url="", status=200, headers={}, body=b"", flags=[])
_node_name: contextvars.ContextVar[str] = contextvars.ContextVar("node")


def _named_owner(*, is_command: bool) -> str:  # noqa: ARG001 -- all are workers
    return f"{_node_name.get()}:1:{int(time.time())}:{secrets.token_hex(4)}"


async def _ask_nobody(_place: Place, _visit: Visit) -> None:
    """Stands in for a request that shows whether there is a way out to the web: there always is."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A node.

    Attributes:
        pages_per_s: What its processor could do with nothing else to do.
        other_percent: Of the processor, taken by other work.
        joins_s: When it joins, after the simulation's begin.
        late: It is one of those whose joining is looked at.
    """

    name: str
    pages_per_s: float
    other_percent: float = 0.0
    joins_s: float = 0.0
    late: bool = False

    def headroom_pages_per_s(self, limit_percent: float) -> float:
        """Returns what it may crawl under its CPU limit."""
        return self.pages_per_s * max(0.0, limit_percent - self.other_percent) / 100


@dataclass(slots=True)
class Account:
    """What was seen from outside the crawler.

    Attributes:
        starts: Host number, then when it got a request and when it had answered, in s by the machine's monotonic clock.
        pages: Finished pages by node and whole second since the begin.
        claims: Answers to claims by state; `seeds`: what they brought.
        claim_ms: How long a claim took.
        lock_ms: How long a claimant that met the lock waited until it had an answer.
        calls: Scripts run, by name; what their sessions' threads run isn't among them.
        failures: Nodes that ended early, by the error.
        first_s: Node -> s from its joining to its first page's start.
    """

    hosts: array[int] = field(default_factory=lambda: array("L"))
    begun: array[float] = field(default_factory=lambda: array("d"))
    ended: array[float] = field(default_factory=lambda: array("d"))
    pages: Counter[tuple[str, int]] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    claim_ms: array[float] = field(default_factory=lambda: array("d"))
    lock_ms: array[float] = field(default_factory=lambda: array("d"))
    calls: Counter[str] = field(default_factory=Counter)
    first_s: dict[str, float] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, other: Account) -> None:
        """Adds another process's account."""
        for name in ("hosts", "begun", "ended", "claim_ms", "lock_ms"):
            getattr(self, name).extend(getattr(other, name))
        self.pages.update(other.pages)
        self.claims.update(other.claims)
        self.calls.update(other.calls)
        self.failures.update(other.failures)
        self.first_s.update(other.first_s)


class Processor:
    """A node's processor: pages queue for it, and what it has done lately is the node's load."""

    def __init__(self, spec: Spec) -> None:
        self._page_s = 1 / (spec.pages_per_s * (1 - spec.other_percent / 100))
        self._page_percent_s = 100 / spec.pages_per_s
        self._other = spec.other_percent
        self._free_at = 0.0
        self._done = 0
        self._looked_at = time.monotonic()
        self.load = self.newest = Load()
        self._first = True
        self.memory_bytes = psutil.virtual_memory().total
        self.cores = 1  # a node has one processor, however fast

    async def work(self) -> None:
        """Reads a page."""
        now = time.monotonic()
        self._free_at = max(now, self._free_at) + self._page_s
        await asyncio.sleep(self._free_at - now)
        self._done += 1

    def sample(self) -> Load:
        """Stands in for crawler.worker.life.load.Sampler's."""
        now = time.monotonic()
        own = min(100 - self._other, self._done * self._page_percent_s / max(now - self._looked_at, 0.001))
        self._done, self._looked_at = 0, now
        self.newest = Load(MEMORY_PERCENT, self._other + own, SEED_MEMORY_PERCENT, own)
        self.load = self.newest if self._first else self.load.smoothed(self.newest)
        self._first = False
        return self.load


class Engine:
    """Asks the scheduler for requests as long as it has some and there is room; Scrapy's engine in small."""

    def __init__(self) -> None:
        self.running, self._stopping = True, False
        self._slot = SimpleNamespace(nextcall=self)
        self._asked = False
        self.pump: Any = None
        self.downloader = SimpleNamespace()  # `active` is what the node fetches

    def schedule(self) -> None:
        """Asks soon."""
        if not self._asked:
            self._asked = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        self._asked = False
        self.pump()

    def stop(self) -> None:
        """Tells the scheduler to stop."""
        self._stopping = True


class Node:
    """One simulated node with its one worker."""

    def __init__(self, spec: Spec, values: Mapping[str, Any], account: Account, begin: float, latency_s: float) -> None:
        _node_name.set(spec.name)
        self._spec, self._account, self._begin, self._latency_s = spec, account, begin, latency_s
        self._processor = Processor(spec)
        self._engine = Engine()
        self._engine.pump = self._pump
        self._fetching: set[asyncio.Task[None]] = set()
        self._engine.downloader.active = self._fetching
        ignore = SimpleNamespace(
            connect=lambda *_args, **_options: None, inc_value=lambda *_args, **_options: None, get_stats=dict
        )
        crawler: Any = SimpleNamespace(
            settings=Settings(values | {"SCHEDULER": Scheduler}),
            stats=ignore,
            signals=ignore,
            engine=self._engine,
            crawling=True,
            spider=SimpleNamespace(frontier="content"),
        )
        self._crawler = crawler
        self._worker = Worker.from_crawler(crawler)
        self._worker.life.headroom.sampler = self._processor  # type: ignore[assignment]
        self._scheduler = Scheduler(
            crawler, self._worker, parallel=PARALLEL, idle_wait_s=60, page_s=300, stop_when_done=False
        )
        self._turns = TurnMiddleware(self._worker, _ask_nobody)
        self._locked_since = 0.0

    async def run(self, until: float) -> None:
        """Lives from its joining till a moment of the monotonic clock."""
        _node_name.set(self._spec.name)
        self._joins_at = self._begin + self._spec.joins_s
        await asyncio.sleep(self._joins_at - time.monotonic())
        loop = asyncio.get_running_loop()
        await self._scheduler.open(self._crawler.spider).asFuture(loop)  # type: ignore[arg-type]
        self._watch_claims()
        await asyncio.sleep(until - time.monotonic())
        self._engine.stop()
        await self._scheduler.close("over").asFuture(loop)
        for task in list(self._fetching):
            task.cancel()

    def _watch_claims(self) -> None:
        queue: Any = self._worker.claiming.queue
        real = queue.claim

        async def claim(*args: Any, **options: Any) -> ClaimAnswer:
            asked = time.monotonic()
            answer: ClaimAnswer = await real(*args, **options)
            self._account.claims[answer.state] += 1
            self._account.claims["seeds"] += len(answer.seeds)
            self._account.claim_ms.append(1000 * (time.monotonic() - asked))
            if answer.state == "locked":
                self._locked_since = self._locked_since or asked
            elif self._locked_since:
                self._account.lock_ms.append(1000 * (time.monotonic() - self._locked_since))
                self._locked_since = 0.0
            return answer

        queue.claim = claim

    def _pump(self) -> None:
        while len(self._fetching) < PARALLEL and (request := self._scheduler.next_request()):
            task = asyncio.create_task(self._fetch(request))
            self._fetching.add(task)
            task.add_done_callback(self._fetched)

    def _fetched(self, task: asyncio.Task[None]) -> None:
        self._fetching.discard(task)
        self._engine.schedule()

    async def _fetch(self, request: Request) -> None:
        """Does with a visit what middlewares, network, spider and sinks do."""
        state = state_of(request)
        assert state is not None  # the scheduler gave it one
        visit = state.visit
        try:
            await self._turns.process_request(request)
            begun = time.monotonic()
            self._account.first_s.setdefault(self._spec.name, begun - self._joins_at)
            await asyncio.sleep(self._latency_s)
            self._account.hosts.append(int(visit.seed.host[1:].partition(".")[0]))
            self._account.begun.append(begun)
            self._account.ended.append(time.monotonic())
            self._turns.headers_received(request)
            self._turns.process_response(request, ANSWER)
        except (HeadroomError, RefusedError):
            visit.end_as("release", "refused")
        else:
            visit.end_fetch()
            await self._processor.work()
            self._account.pages[self._spec.name, int(time.monotonic() - self._begin)] += 1
        finally:
            visit.end_part()


def _count_scripts(account: Account) -> None:
    def counting(real: Any) -> Any:
        async def counted(redis: Any, script: str, *args: Any, **options: Any) -> Any:
            account.calls[script] += 1
            return await real(redis, script, *args, **options)

        return counted

    for name in ("run", "run_after"):
        setattr(scripts, name, counting(getattr(scripts, name)))


async def live(
    specs: Sequence[Spec], values: Mapping[str, Any], begin: float, until: float, latency_s: float
) -> Account:
    """Runs some nodes in this process till `until`; returns their account."""
    session.new_owner = _named_owner
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
    logging.disable(logging.WARNING)
    account = Account()
    _count_scripts(account)
    nodes = [Node(spec, values, account, begin, latency_s) for spec in specs]
    for end in await asyncio.gather(*(node.run(until) for node in nodes), return_exceptions=True):
        if isinstance(end, BaseException):
            account.failures[f"{type(end).__name__}: {end}"] += 1
    await cancel(*(asyncio.all_tasks() - {asyncio.current_task()}))
    return account
