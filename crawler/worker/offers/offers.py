"""Offers seeds to the frontier, in batches; an offer waits while Redis is away or full, until the worker stops."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from redis.exceptions import OutOfMemoryError, RedisError, ResponseError

from crawler.base import log_events, tasks
from crawler.base.errors import UnavailableError
from crawler.base.seldom import Seldom
from crawler.frontier.keys import partition_of
from crawler.frontier.offer import IS_NEW, OFFER_BATCH, OfferAnswer, OfferTerms, Proposal
from crawler.frontier.queue import FULL_MILLISECONDS
from crawler.servers.redis_refusal import is_of_a_key
from crawler.servers.redis_retry import RETRY_SECONDS
from crawler.worker.life.wakeups import PlansChanged, PriorityChanged

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from scrapy.statscollectors import StatsCollector

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger
    from crawler.base.models import Frontier, Seed
    from crawler.base.reasons import Note
    from crawler.frontier.queue import Queue
    from crawler.frontier.session import Lease
    from crawler.servers.redis_full import RedisFull
    from crawler.worker.offers.known_pages import KnownPages

T = TypeVar("T")

logger: EventLogger = logging.getLogger(__name__)
# How long the first offer of a batch waits for those of other pages, which then cost a third of what they cost one by
# one. The page's host is asked for the next page meanwhile. Of search pages there are few, and their search waits.
WAIT_SECONDS = 0.02


class Offered(NamedTuple):
    """What became of the seeds of an offer.

    Attributes:
        new: How many were new to their plans.
        refused: Those of plans that were deleted, maybe while the offer waited. They are neither in the frontier nor in
            the ledger: whoever has them from elsewhere must keep them there.
    """

    new: int
    refused: tuple[Seed, ...]


class _Bundle(NamedTuple):
    """What a page offers to one partition of a frontier; `Offers.offer` explains it.

    Attributes:
        answer: What offer.lua answers of each of the proposals, once that is known.
    """

    proposals: list[Proposal]
    terms: OfferTerms
    answer: asyncio.Future[bytes]


class Offers:
    """Offers the seeds that pages lead to, those of several pages together.

    Seeds that Redis has lately called known aren't offered again, but only counted.

    Args:
        leases: Of this worker, by partition.
        known_pages: Of the content frontier.
        redis_full: Told whether offers are refused for want of memory.
        stats: Counts the seeds offered, those of them that were new, and those that were only counted.
    """

    def __init__(
        self,
        queues: Mapping[Frontier, Queue],
        leases: Sequence[Lease],
        *,
        known_pages: KnownPages,
        redis_full: RedisFull,
        stopping: asyncio.Event,
        events: Events,
        stats: StatsCollector,
    ) -> None:
        self._queues = queues
        self._leases = leases
        self._redis_full = redis_full
        self._stopping = stopping
        self._events = events
        self._stats = stats
        self._warn = Seldom(logger.warning)
        self._known_pages = known_pages
        self._unsent: dict[tuple[Frontier, int], list[_Bundle]] = defaultdict(list)
        # By the same key as the bundles: the task that sends them.
        self._sending: dict[tuple[Frontier, int], asyncio.Task[None]] = {}
        self._alone: set[asyncio.Task[None]] = set()  # send bundles that Redis doesn't take with others
        # By plan, what it has been given since pages were claimed whose links have the priority of before.
        self._priorities: dict[str, int] = {}
        events.subscribe(PlansChanged, self._forget_priorities)
        events.subscribe(PriorityChanged, lambda event: self._priorities.update({event.plan: event.priority}))

    async def offer(
        self,
        seeds: Iterable[Seed],
        frontier: Frontier = "content",
        *,
        edition: int = 0,
        budget: int = 0,
        due_ms: int = 0,
        refused_as: str = "",
    ) -> Offered:
        """Offers seeds and returns what became of them; waits as long as Redis is away or full.

        The seeds that wait here are those of visits under way, because a visit doesn't end before its offers.

        Args:
            edition: Of the page that led to them, as in `OfferTerms`.
            budget: How many followed links each host may have, likewise.
            due_ms: When they come due, likewise.
            refused_as: Why new ones fail at once, likewise.

        Raises:
            UnavailableError: The worker stops, and Redis has taken some of the seeds at most. The next visit of the
                page offers them again.
        """
        by_partition: dict[int, list[Seed]] = defaultdict(list)
        for seed in map(self._prioritized, seeds):
            by_partition[partition_of(seed.host, len(self._leases))].append(seed)
        loop = asyncio.get_running_loop()
        terms = OfferTerms(due_ms, edition, budget, confirmed=True, refused_as=refused_as)
        bundles = [_Bundle(list(map(Proposal.of, own)), terms, loop.create_future()) for own in by_partition.values()]
        for partition, bundle in zip(by_partition, bundles, strict=True):
            key = (frontier, partition)
            self._unsent[key].append(bundle)
            if key not in self._sending:  # each partition has a task of its own: one that is away holds up no other
                name = f"offers to partition {partition}"
                self._sending[key] = tasks.start(self._send(*key), name=name, died=self._events.publish)
        fresh = 0
        refused: list[Seed] = []
        answers = await asyncio.gather(*(bundle.answer for bundle in bundles), return_exceptions=True)
        for own, answer in zip(by_partition.values(), answers, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            fresh += sum(map(answer.count, IS_NEW))
            refused += [seed for seed, of_seed in zip(own, answer, strict=True) if of_seed == OfferAnswer.PLAN_DELETED]
        self._stats.inc_value("frontier/offered", sum(map(len, by_partition.values())))
        self._stats.inc_value("frontier/offered/new", fresh)
        return Offered(fresh, tuple(refused))

    def _forget_priorities(self, event: PlansChanged) -> None:
        """Forgets what a changed plan was given: it comes again, and what is claimed from now on has its own."""
        for plan in [event.plan] if event.plan else [*self._priorities]:
            self._priorities.pop(plan, None)

    def _prioritized(self, seed: Seed) -> Seed:
        """Returns a seed with its plan's newest priority, unless a scorer gave it one."""
        priority = self._priorities.get(seed.plan, seed.priority)
        return seed if seed.why or priority == seed.priority else replace(seed, priority=priority)

    async def ask(self, seed: Seed, *, again: bool = False) -> OfferAnswer:
        """Offers a seed whatever this worker remembers of it; waits as `offer` does.

        Args:
            again: It becomes ready, too, if it was finished for its plan without an item.

        Raises:
            UnavailableError: As `offer`.
        """
        partition, terms = partition_of(seed.host, len(self._leases)), OfferTerms(confirmed=True, again=again)
        tell = partial(self._queues[seed.frontier].offer_to, partition, [Proposal.of(self._prioritized(seed))], terms)
        return OfferAnswer((await self._until_taken(tell, 1))[0])

    async def moved_to(self, seed: Seed) -> str:
        """Returns as `Queue.moved_to`; waits as `offer` does.

        Raises:
            UnavailableError: As `offer`.
        """
        return await self._until_taken(partial(self._queues[seed.frontier].moved_to, seed), 1)

    async def refuse(self, seed: Seed, note: Note, number: int) -> None:
        """Counts pages that can't be offered, as `Queue.refuse`; waits as `offer` does.

        Raises:
            UnavailableError: As `offer`.
        """
        await self._until_taken(partial(self._queues[seed.frontier].refuse, seed, note, number), number)

    async def close(self) -> None:
        """Stops the tasks that send, if there are any left."""
        await tasks.cancel(*self._sending.values(), *self._alone)

    async def _send(self, frontier: Frontier, partition: int) -> None:
        """Sends what waits for a partition, and what comes meanwhile; calls to a partition follow one another."""
        key, bundles = (frontier, partition), list[_Bundle]()
        try:
            while self._unsent[key]:
                if frontier == "content" and sum(len(bundle.proposals) for bundle in self._unsent[key]) < OFFER_BATCH:
                    await asyncio.sleep(WAIT_SECONDS)
                # Some may be cancelled.
                bundles = [bundle for bundle in self._unsent.pop(key) if not bundle.answer.done()]
                for terms in dict.fromkeys(bundle.terms for bundle in bundles):
                    alike = [bundle for bundle in bundles if bundle.terms == terms]
                    await self._send_together(frontier, partition, alike)
        except BaseException as error:
            _fail([*bundles, *self._unsent[key]], error)
            raise
        finally:
            del self._sending[key], self._unsent[key]

    async def _send_together(self, frontier: Frontier, partition: int, bundles: list[_Bundle]) -> None:
        """Sends bundles on the same terms. If what a key holds prevents that, each goes for itself."""
        proposals = [proposal for bundle in bundles for proposal in bundle.proposals]
        terms = bundles[0].terms

        async def offer() -> bytes | None:
            try:
                if frontier == "nav":  # search pages are hardly ever offered twice
                    return await self._queues[frontier].offer_to(partition, proposals, terms)
                owner = self._leases[partition].owner
                answers, counted = await self._known_pages.offer(partition, owner, proposals, terms)
            except ResponseError as error:
                if not is_of_a_key(error):
                    raise
                # As for junk in a host's key, which must not hold up others.
                self._warn(log_events.OFFERS_ONE_BY_ONE, len(proposals), error)
                return None
            if counted:
                self._stats.inc_value("frontier/offered/remembered", counted)
            return answers

        try:
            answers = await self._until_taken(offer, len(proposals))
        except UnavailableError as error:
            _fail(bundles, error)
            return
        if answers is not None:
            _answer(bundles, answers)
            return
        for bundle in bundles:
            task = tasks.start(
                self._send_alone(frontier, partition, bundle), name="offers of a page", died=self._events.publish
            )
            self._alone.add(task)
            task.add_done_callback(self._alone.discard)

    async def _send_alone(self, frontier: Frontier, partition: int, bundle: _Bundle) -> None:
        """Sends one bundle until Redis takes it."""
        offer = partial(self._queues[frontier].offer_to, partition, bundle.proposals, bundle.terms)
        try:
            _answer([bundle], await self._until_taken(offer, len(bundle.proposals)))
        except UnavailableError as error:
            _fail([bundle], error)
        except BaseException as error:
            _fail([bundle], error)
            raise

    async def _until_taken(self, tell: Callable[[], Awaitable[T]], number: int) -> T:
        """Tells one partition of so many offers until Redis takes it.

        A loop of its own: it must note a full Redis, and end when the worker stops.
        """
        while True:
            try:
                answer = await tell()
            except RedisError as error:
                is_full = isinstance(error, OutOfMemoryError)
                if is_full:
                    self._redis_full.note("offers", refused=True)
                else:
                    self._warn(log_events.OFFERS_WAITING, number, error)
                if self._stopping.is_set():
                    raise UnavailableError(f"{number} offers are left to the next visit: {error}") from error
                await asyncio.sleep(FULL_MILLISECONDS / 1000 if is_full else RETRY_SECONDS)
            else:
                self._redis_full.note("offers", refused=False)
                return answer


def _answer(bundles: Sequence[_Bundle], answers: bytes) -> None:
    """Tells each bundle what became of its proposals."""
    start = 0
    for bundle in bundles:
        end = start + len(bundle.proposals)
        if not bundle.answer.done():
            bundle.answer.set_result(answers[start:end])
        start = end


def _fail(bundles: Iterable[_Bundle], error: BaseException) -> None:
    """Tells bundles that they may not have been offered, and why."""
    for bundle in bundles:
        if isinstance(error, asyncio.CancelledError):
            bundle.answer.cancel()
        elif not bundle.answer.done():
            bundle.answer.set_exception(error)
