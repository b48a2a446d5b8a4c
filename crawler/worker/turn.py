"""One turn of a host that this worker holds: when its next request may start, and whether the host is failing."""

from __future__ import annotations

import asyncio

from crawler.errors import HostBackoffError
from crawler.frontier.queue import BACKOFF_FIRST_SECONDS, BACKOFF_LONGEST_SECONDS, NO_TURN
from crawler.frontier.settlement import TurnRelease

# How long a request waits for a host that has asked for a pause, or keeps failing. For a longer one it fails.
PATIENCE_SECONDS = 10.0
# A turn that can't start a request for longer than this is slow: its seeds don't keep the worker from claiming others.
SLOW_SECONDS = 1.0


class Turn:
    """The permission for one request at a time to a host, from its acquisition to its release.

    Attributes:
        host: The host, or `@ADDRESS` for a turn of an address (ip_budget.py).
        token: What the frontier knows this turn by.
        partition: The frontier's partition that holds the host.
        delay_s: Seconds between two starts of requests.
        released: Nothing may be sent on it any more.
    """

    __slots__ = (
        "_backoff_until",
        "_error_change",
        "_error_least",
        "_errors",
        "_in_use",
        "_last_start",
        "_waiting",
        "delay_s",
        "host",
        "partition",
        "released",
        "token",
    )

    def __init__(self, host: str, token: int, partition: int, delay_s: float) -> None:
        self.host = host
        self.token = token
        self.partition = partition
        self.delay_s = delay_s
        self.released = False
        self._backoff_until = 0.0  # by the event loop's clock
        self._errors = 0  # requests that failed by the host's fault, less those that went well since; at least 0
        # What the frontier is yet to be told of errors, see TurnRelease's `change` and `least`.
        self._error_change = 0
        self._error_least = 0
        self._last_start: float | None = None  # by the event loop's clock
        self._waiting = 0  # requests that wait until the one before them has its answer
        self._in_use = asyncio.Lock()  # held from a request's start to its answer

    # -- Pace ---------------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether a request may start at once: `start` wouldn't wait."""
        return not self._in_use.locked() and not self._waiting and not self.pause_s()

    @property
    def slow(self) -> bool:
        """Whether no request can start for a while: a pause or an answer takes longer than SLOW_SECONDS."""
        return self.pause_s() > SLOW_SECONDS or (self._in_use.locked() and self.elapsed_s() > SLOW_SECONDS)

    def pause_s(self) -> float:
        """Returns the seconds until the next request may start, by the host's delay and backoff; 0: now."""
        delay_s = 0.0 if self._last_start is None else self._last_start + self.delay_s - _now()
        return max(0.0, delay_s, self.backoff_s)

    async def start(self) -> None:
        """Waits until a request may start on this turn, and counts it as started. `finish` must follow.

        Raises:
            HostBackoffError: The host's backoff is longer than PATIENCE_SECONDS; nothing was started.
        """
        self._waiting += 1
        try:
            await self._in_use.acquire()
        finally:
            self._waiting -= 1
        try:
            while pause_s := self.pause_s():
                self._refuse_long_backoff()
                await asyncio.sleep(pause_s)
        except BaseException:
            self._in_use.release()
            raise
        self.mark_start()

    def _refuse_long_backoff(self) -> None:
        if self.backoff_s > PATIENCE_SECONDS:
            raise HostBackoffError(self.host, self.backoff_s)

    def mark_start(self) -> None:
        """Counts a request as started now."""
        self._last_start = _now()

    def delay_start(self, seconds: float) -> None:
        """Counts the last request as started `seconds` later than marked: the host may have received it only then."""
        if self._last_start is not None and seconds > 0:
            self._last_start += seconds

    def elapsed_s(self) -> float:
        """Returns the seconds since the last request started; 0 when none did."""
        return 0.0 if self._last_start is None else _now() - self._last_start

    def finish(self) -> None:
        """Ends what `start` began: the next request may start when the delay has passed."""
        self._in_use.release()

    # -- The host's health --------------------------------------------------------------------------------------------

    @property
    def failing(self) -> bool:
        """Whether more requests failed lately, by the host's fault, than went well since."""
        return self._errors > 0

    @property
    def backoff_s(self) -> float:
        """Seconds for which nothing more may be sent to the host, as it asked or for its errors; 0: none."""
        return max(0.0, self._backoff_until - _now()) if self._backoff_until else 0.0

    def back_off(self, seconds: float) -> None:
        """Sends nothing for `seconds` from now; a backoff that lasts longer already stays as it is."""
        if seconds > 0:
            self._backoff_until = max(self._backoff_until, _now() + seconds)

    def record(self, *, success: bool) -> None:
        """Counts a request's result; one that failed by the host's fault begins a backoff, longer each time."""
        step = -1 if success else 1
        self._error_change += step
        self._error_least = max(0, self._error_least + step)
        self._errors = max(0, self._errors + step)
        if not success:
            first_s = max(self.delay_s, BACKOFF_FIRST_SECONDS)
            self.back_off(min(first_s * 2.0 ** (self._errors - 1), BACKOFF_LONGEST_SECONDS))

    # -- What the frontier is told ------------------------------------------------------------------------------------

    def release(self) -> TurnRelease:
        """Gives the turn up; returns what the frontier must know of it."""
        self.released = True
        return self._summary(self.token)

    def report(self) -> TurnRelease:
        """Returns what the frontier must know of the host's health, while the turn is kept."""
        return self._summary(NO_TURN)

    def _summary(self, token: int) -> TurnRelease:
        age_ms = -1 if self._last_start is None else int(self.elapsed_s() * 1000)
        backoff_ms = int(self.backoff_s * 1000)
        summary = TurnRelease(self.host, token, age_ms, backoff_ms, self._error_change, self._error_least)
        self._error_change = self._error_least = 0
        return summary


def _now() -> float:
    return asyncio.get_running_loop().time()
