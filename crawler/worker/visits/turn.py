"""A turn of a host that this worker holds: when the next request may start on it, and whether the host is failing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from crawler.base.errors import HostBackoffError
from crawler.frontier.queue import BACKOFF_FIRST_SECONDS
from crawler.frontier.settlement import TurnRelease
from crawler.frontier.turn_answers import NO_TURN

MAX_BACKOFF_WAIT_SECONDS = 10.0  # longest backoff of a host that a request waits for; with a longer one it fails
# What a request says of its host: it answers; it failed at a seed's first try, which may be the page's own fault; it is
# overloaded, as it says itself.
HostSign = Literal["answers", "failures", "overloads"]
SLOW_SECONDS = 1.0  # a turn that can't start a request for longer is slow: other seeds are claimed beside its own


@dataclass(slots=True, eq=False, repr=False)
class Turn:
    """The permission to send one request at a time to a host, from when it is acquired until it is released.

    Attributes:
        host: The host, or `@ADDRESS` for a turn of an IP address (ip_budget.py).
        token: Identifies the turn in the frontier.
        partition: The frontier's partition that holds the host.
        delay_s: Seconds between the starts of two requests.
        crawl_delay_s: The longest Crawl-delay of the host that this worker has heard of; 0: none.
        changes: How often the host's politeness has changed, or may have, since the turn was acquired.
        failing: The last request that said something of the host wasn't answered well.
        released: The turn was released: nothing may be sent on it any more.
    """

    host: str
    token: int
    partition: int
    delay_s: float
    crawl_delay_s: float = field(default=0.0, init=False)
    changes: int = field(default=0, init=False)
    failing: bool = field(default=False, init=False)
    released: bool = field(default=False, init=False)
    _backoff_until: float = field(default=0.0, init=False)  # when the backoff ends, by the event loop's clock
    # How many requests said what, since the frontier was last told.
    _signs: dict[HostSign, int] = field(default_factory=dict, init=False)
    # The number of changes after which the frontier has said when this turn may be used; and when that is, by the loop.
    _heeded_changes: int = field(default=0, init=False)
    _not_before: float = field(default=0.0, init=False)
    _last_start: float | None = field(
        default=None, init=False
    )  # of a request, by the loop's clock; None: there is none
    _queued: int = field(default=0, init=False)  # requests that wait until the one before them is answered
    # Held from a request's start to its answer.
    _in_use: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    # -- Pace ---------------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether a request may start at once, so that `start` wouldn't wait."""
        return not self._in_use.locked() and not self._queued and not self.pause_s()

    @property
    def slow(self) -> bool:
        """Whether the present pause, or the answer to the last request, takes longer than SLOW_SECONDS."""
        return self.pause_s() > SLOW_SECONDS or (self._in_use.locked() and self.elapsed_s() > SLOW_SECONDS)

    def pause_s(self) -> float:
        """Returns the seconds until the next request may start, by the host's delay and backoff; 0: now."""
        delay_s = 0.0 if self._last_start is None else self._last_start + self.delay_s - _now()
        others_s = self._not_before - _now() if self._not_before else 0.0
        return max(0.0, delay_s, others_s, self.backoff_s)

    async def start(self) -> None:
        """Waits until a request may start on this turn, and counts it as started. `finish` must follow.

        Raises:
            HostBackoffError: The host's backoff is longer than MAX_BACKOFF_WAIT_SECONDS; nothing was started.
        """
        self._queued += 1
        try:
            await self._in_use.acquire()
        finally:
            self._queued -= 1
        try:
            await self.start_again()
        except BaseException:
            self._in_use.release()
            raise

    async def start_again(self) -> None:
        """Waits until the request under way may be sent once more, and counts it as started.

        Raises:
            HostBackoffError: As `start`.
        """
        while pause_s := self.pause_s():
            if self.backoff_s > MAX_BACKOFF_WAIT_SECONDS:
                raise HostBackoffError(self.host, self.backoff_s)
            await asyncio.sleep(pause_s)
        self.mark_start()

    def mark_start(self) -> None:
        """Counts a request as started now."""
        self._last_start = _now()

    def delay_start(self, seconds: float) -> None:
        """Counts the last request as started later by `seconds`: the host may have received it only then."""
        if self._last_start is not None and seconds > 0:
            self._last_start += seconds

    def elapsed_s(self) -> float:
        """Returns the seconds since the last request started; 0 when none has started."""
        return 0.0 if self._last_start is None else _now() - self._last_start

    def finish(self) -> None:
        """Says that the request is answered or has failed: the next one may start when the delay has passed."""
        self._in_use.release()

    # -- Changes of politeness ----------------------------------------------------------------------------------------
    # A host may have fewer turns than when this one was acquired, since a site was changed or robots.txt asks for a
    # Crawl-delay. The turn mustn't be used then before the frontier has said when.

    @property
    def must_ask(self) -> bool:
        """Whether the frontier must be asked when this turn may be used."""
        return self.changes != self._heeded_changes

    def change_politeness(self) -> None:
        """Notes that the host's politeness may be another one by now."""
        self.changes += 1

    def slow_down(self, crawl_delay_s: float) -> None:
        """Notes that the host asks for a Crawl-delay; one that is no longer than known changes nothing."""
        if crawl_delay_s > self.crawl_delay_s:
            self.crawl_delay_s = crawl_delay_s
            self.changes += 1

    def heed_politeness(self, changes: int, delay_s: float, wait_s: float) -> None:
        """Notes what the frontier has said, when it was asked after so many `changes`.

        Args:
            delay_s: Seconds between the starts of two requests from now on.
            wait_s: Seconds until the turn may be used.
        """
        self._heeded_changes = changes
        self.delay_s = delay_s
        self._not_before = _now() + wait_s

    # -- The host's health --------------------------------------------------------------------------------------------

    @property
    def backoff_s(self) -> float:
        """Seconds for which nothing may be sent to the host, because it asked for a pause or is failing; 0: none."""
        return max(0.0, self._backoff_until - _now()) if self._backoff_until else 0.0

    def back_off(self, seconds: float) -> None:
        """Begins a backoff of `seconds`; one that lasts longer already stays as it is."""
        if seconds > 0:
            self._backoff_until = max(self._backoff_until, _now() + seconds)

    def record(self, sign: HostSign) -> None:
        """Records what a request says of the host. Whoever records anything but an answer reports it at once.

        An overload begins a backoff. What else it leads to the frontier decides, which hears of the host's other turns.
        """
        self._signs[sign] = self._signs.get(sign, 0) + 1
        self.failing = sign != "answers"
        if sign == "overloads":
            self.back_off(max(self.delay_s, BACKOFF_FIRST_SECONDS))

    # -- What the frontier is told ------------------------------------------------------------------------------------

    def release(self) -> TurnRelease:
        """Releases the turn; returns what the frontier must be told of it."""
        self.released = True
        return self._summary(self.token)

    def report(self) -> TurnRelease:
        """Returns what the frontier must be told of the host's health; the turn is kept."""
        return self._summary(NO_TURN)

    def _summary(self, token: int) -> TurnRelease:
        age_ms = -1 if self._last_start is None else int(self.elapsed_s() * 1000)
        backoff_ms = int(self.backoff_s * 1000)
        signs, self._signs = self._signs, {}
        return TurnRelease(self.host, token, age_ms, backoff_ms, **signs)


def _now() -> float:
    return asyncio.get_running_loop().time()
