"""A visit: what a worker does with one claimed seed, from its first request to the settlement that ends its claim.

The visits of a lane, which is a turn of their host, run one after the other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar

from crawler.base import reasons
from crawler.base.errors import PageTimeoutError, SessionLostError
from crawler.frontier.settlement import Operation, Settlement
from crawler.worker.visits.deadline import Deadline
from crawler.worker.visits.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from scrapy.http import Headers

    from crawler.base.events import Events
    from crawler.base.models import Claimed, Seed
    from crawler.base.reasons import HandBack, Note, Reason
    from crawler.frontier.settlement import BudgetUse
    from crawler.worker.visits.visit_scope import VisitScope

T = TypeVar("T")
Why = TypeVar("Why", bound=str)
# How much of an answer's body a visit keeps to be shown. It is cut shorter only once secrets are hidden, since half of
# a secret wouldn't be recognised.
BODY_BYTES = 4_096


class PageFetched(NamedTuple):
    """Event: a visit needs nothing more from its own host; its lane may start the next visit."""

    visit: Visit


class VisitEnded(NamedTuple):
    """Event: a visit has ended with this settlement. Published once for each visit that isn't abandoned."""

    visit: Visit
    settlement: Settlement


class FetchFailed(NamedTuple):
    """Event: what a page needs beside itself, such as its host's robots.txt or an image, could not be had.

    Attributes:
        host: That was asked.
        what: It is; `joined` for a further page of an item, `rendering` for what a rendered page loads.
        reason: Why it could not be had.
        url: Its address.
        error_text: What the error says; empty: no more than the reason.
    """

    host: str
    what: Literal["joined", "media", "rendering", "robots.txt"]
    reason: Reason
    url: str
    error_text: str


class AnswerHead(NamedTuple):
    """The beginning of an answer; taking it costs less than a microsecond.

    Attributes:
        body: Its first `BODY_BYTES`.
    """

    url: str
    status: int
    headers: Headers
    body: bytes


@dataclass(slots=True, eq=False, repr=False)
class Lane(Turn):
    """A turn with the visits that run on it.

    Attributes:
        not_started: Visits, in the order they were claimed.
        current: The visit whose page is being fetched; None: there is none.
    """

    not_started: deque[Visit] = field(default_factory=deque, init=False)
    current: Visit | None = field(default=None, init=False)

    @classmethod
    def of(cls, seeds: Sequence[Claimed], events: Events) -> Self:
        """Returns the lane of the seeds that were claimed on one turn, with a visit for each."""
        first = seeds[0]
        lane = cls(first.seed.host, first.turn, first.partition, first.delay_s)
        lane.not_started.extend(Visit(seed, lane, events) for seed in seeds)
        return lane


@dataclass(slots=True, eq=False, repr=False)
class Visit:
    """The visit of one claimed seed. Publishes `PageFetched` and `VisitEnded`, each once.

    A visit consists of parts: the page's callback, each item on its way to the sinks, each follow-up request. It ends
    when all parts have ended. Its outcome is a finish unless `end_as` was called before. When its deadline
    passes, requests under way are cancelled and no more are made; items that exist by then are still delivered.

    Attributes:
        deadline: For all that the visit fetches. It is paused while a sink has an item.
        started: A request other than robots.txt's was sent for it; before that, a refusal doesn't count as a try.
        error_text: What the error says for which it ends in vain; empty: no more than the settlement's reason.
        note: What the ledger counts beside a finish, such as `redirected`; empty: none.
        moved_to: Canonical URL of the page that is crawled in the place of this one; empty: none is.
        items: How many items it has yielded under the page's own `id`.
        use: What it uses of the budgets of these plans; None: they have none, or weren't asked yet.
        editions: Plan -> the first edition by whose word the page was judged; None: by none so far.
        scope: The scopes of these plans; None: they have none, or it isn't known yet.
        seeds: The page as each plan wants it that isn't left out; the first plan's first.
        leads_on: The page leads to further pages, or has yielded more than items under its own `id`.
        has_gaps: An item lacks what another visit may have.
        is_low_yield: It is a search page that isn't worth a request, nor are those behind it.
        answer: The last one of its host, for people to look at if it fails; None: there was none.
    """

    claimed: Claimed
    lane: Lane
    _events: Events
    started: bool = field(default=False, init=False)
    note: Note | Literal[""] = field(default="", init=False)
    moved_to: str = field(default="", init=False)
    error_text: str = field(default="", init=False)
    items: int = field(default=0, init=False)
    leads_on: bool = field(default=False, init=False)
    has_gaps: bool = field(default=False, init=False)
    is_low_yield: bool = field(default=False, init=False)
    answer: AnswerHead | None = field(default=None, init=False)
    use: BudgetUse | None = field(default=None, init=False)
    editions: dict[str, int] | None = field(default=None, init=False)
    scope: VisitScope | None = field(default=None, init=False)
    seeds: tuple[Seed, ...] = field(init=False)
    deadline: Deadline = field(init=False)
    _left_out: frozenset[str] = field(default=frozenset(), init=False)  # all visits share this one
    # No set: thousands of visits wait, and each would take 216 bytes.
    _running: list[asyncio.Future[Any]] = field(default_factory=list, init=False)
    _open: int = field(default=1, init=False)  # parts that haven't ended; the first is the page's callback
    _fetching: int = field(default=1, init=False)  # how many of these parts may still fetch from the visit's host
    _settlement: Settlement | None = field(default=None, init=False)
    _fetched: bool = field(default=False, init=False)
    _ended: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.seeds = self.claimed.seeds
        self.deadline = Deadline(self._cancel_fetches)

    @property
    def seed(self) -> Seed:
        """The seed that is visited, as the first plan wants it that isn't left out."""
        return self.seeds[0]

    @property
    def ended(self) -> bool:
        """Whether the visit was settled, released or abandoned; what still runs for it has no effect any more."""
        return self._ended

    @property
    def fetching(self) -> bool:
        """Whether it may still fetch something."""
        return not self._ended and (not self._fetched or bool(self._running))

    # -- Fetching -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises unless the visit may fetch.

        Raises:
            SessionLostError: It was settled, released or abandoned.
            PageTimeoutError: Its deadline has passed.
        """
        if self._ended:
            raise SessionLostError("the visit has ended")
        if self.deadline.passed:
            raise PageTimeoutError("the page's time is up")

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine that fetches, or waits to fetch; it is cancelled when the visit may fetch no more.

        Raises:
            SessionLostError: As `check`.
            PageTimeoutError: As `check`.
            Exception: What the coroutine raised.
        """
        try:
            self.check()
        except BaseException:
            coroutine.close()
            raise
        return await self.wait(asyncio.ensure_future(coroutine))

    async def wait(self, under_way: asyncio.Future[T]) -> T:
        """As `run`, for a future that needs no task of its own; call `check` before."""
        self._running.append(under_way)
        try:
            return await under_way
        except asyncio.CancelledError:
            self.check()
            raise  # the visit may still fetch: somebody else cancelled it
        finally:
            self._running.remove(under_way)

    # -- Parts and the end --------------------------------------------------------------------------------------------

    def end_as(self, operation: Operation, reason: Reason, amount_ms: int = 0) -> bool:
        """Has the visit end with anything but `finish`, when its parts have ended. Only the first call has an effect.

        Args:
            reason: For the ledger.
            amount_ms: Delay until the next try, of `retry` and `postpone`.

        Returns:
            Whether this call had an effect.
        """
        if self._settlement is not None:
            return False
        self._settlement = Settlement(operation, self.claimed, amount_ms, reason)
        return True

    def judged_by(self, seed: Seed, edition: int) -> None:
        """Notes by which edition of a plan the page is judged: by another one, it may be to be judged anew."""
        self.editions = self.editions or {}
        self.editions.setdefault(seed.plan, edition)

    def leave_out(self, *seeds: Seed) -> None:
        """Leaves plans to a visit of their own: what this one finds isn't for them, or didn't reach them.

        Args:
            seeds: The page as they want it; not all of `seeds`, for at least one plan must have something of a visit.
        """
        self._left_out |= {seed.plan for seed in seeds}
        self.seeds = tuple(seed for seed in self.seeds if seed.plan not in self._left_out)

    def agree(self, refusing: Mapping[Seed, Why]) -> Why:
        """Returns why one plan refuses the page, if all do, and leaves those out that have another reason."""
        why = next(iter(refusing.values()))
        self.leave_out(*(seed for seed, other in refusing.items() if other != why))
        return why

    def begin_part(self, *, fetches: bool) -> None:
        """Begins a part; `fetches`: it may still fetch from the visit's host, until `end_fetch`."""
        self._open += 1
        if fetches:
            self._fetching += 1

    def end_fetch(self) -> None:
        """Says that a part needs nothing more from the visit's host; after the last one the lane may go on."""
        self._fetching -= 1
        if self._fetching <= 0:
            self._publish_fetched()

    def end_part(self) -> None:
        """Ends a part; after the last one the visit ends."""
        self._open -= 1
        if self._open == 0 and not self._ended:
            self._publish_fetched()
            finish = Settlement(
                "finish",
                self.claimed,
                reason=self.note,
                tellable=self._tellable,
                left_out=self._left_out,
                moved_to=self.moved_to,
            )
            self._end(replace(self._settlement, left_out=self._left_out) if self._settlement else finish)

    @property
    def _tellable(self) -> bool:
        """Whether a plan that asks for the page later needs no more than to be told of the page's item.

        Of a search page: whether it is of a scheduled run, and needn't be known for long.
        """
        is_one_item = self.items == 1 and not self.leads_on and not self.has_gaps
        return self.claimed.delivered or (is_one_item and not self.note) or bool(self.claimed.seed.run)

    def release(self, reason: HandBack = reasons.STOPPED) -> None:
        """Ends the visit as if its seed had not been tried, whatever still runs for it; `reason` is for statistics."""
        self.end_at_once("release", reason)

    def end_at_once(self, operation: Operation, reason: Reason, amount_ms: int = 0) -> None:
        """Ends the visit without waiting for its parts, which have no effect any more.

        Its lane isn't told: whoever ends visits so has the lane go on, or releases it.

        Args:
            reason: As for `end_as`.
            amount_ms: Likewise.
        """
        if not self._ended:
            self._fetched = True  # so that PageFetched isn't published
            self._end(Settlement(operation, self.claimed, amount_ms, reason))

    def abandon(self) -> None:
        """Ends the visit without an event: the session was lost, and other workers may claim the seed."""
        self._fetched = True
        self._stop()

    def _publish_fetched(self) -> None:
        if not self._fetched:
            self._fetched = True
            self._events.publish(PageFetched(self))

    def _end(self, settlement: Settlement) -> None:
        self._stop()
        if self.use is not None:
            self.use.items = self.items
            settlement = replace(settlement, use=self.use)
        if self.editions is not None:
            settlement = replace(settlement, editions=self.editions)
        self._events.publish(VisitEnded(self, settlement))

    def _stop(self) -> None:
        self._ended = True
        self.deadline.stop()
        self._cancel_fetches()

    def _cancel_fetches(self) -> None:
        for fetch in tuple(self._running):
            fetch.cancel()
