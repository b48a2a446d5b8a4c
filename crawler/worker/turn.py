"""One held turn of a host: when its next request may start, and how the host fares. No network, no framework."""

from __future__ import annotations

import asyncio

from crawler.errors import LeftAloneError
from crawler.frontier.queue import BACKOFF_FIRST_SECONDS, BACKOFF_LONGEST_SECONDS, NO_TURN
from crawler.frontier.settlement import TurnRelease

# A page under way waits so long for a host that wants to be left alone; what it still fetches then does without.
PATIENCE_SECONDS = 10.0
SLOW_SECONDS = 1.0  # seeds on a turn that stands still for longer don't keep the worker from claiming others


class Turn:
    """One held turn of a host.

    Attributes:
        turn: Its token.
        delay_s: Seconds between two starts.
        released: It was released: nothing may be sent on it any more.
    """

    __slots__ = (
        "_change",
        "_failures",
        "_last_start",
        "_least",
        "_left_until",
        "_queued",
        "_sending",
        "delay_s",
        "host",
        "partition",
        "released",
        "turn",
    )

    def __init__(self, host: str, turn: int, partition: int, delay_s: float) -> None:
        self.host = host
        self.turn = turn
        self.partition = partition
        self.delay_s = delay_s
        self.released = False
        self._left_until = 0.0
        self._failures = 0  # by the host's fault, less what went well since
        self._change = 0  # what the frontier hasn't been told of it
        self._least = 0
        self._last_start: float | None = None
        self._queued = 0  # that wait for the request on its way
        self._sending = asyncio.Lock()

    @property
    def leave_s(self) -> float:
        """How long the host still wants to be left alone, in s; 0: it doesn't. Setting it never shortens that."""
        return max(0.0, self._left_until - _now()) if self._left_until else 0.0

    @leave_s.setter
    def leave_s(self, seconds: float) -> None:
        if seconds > 0:
            self._left_until = max(self._left_until, _now() + seconds)

    @property
    def ails(self) -> bool:
        """Whether more requests failed lately, by the host's fault, than went well since."""
        return self._failures > 0

    def fared(self, *, well: bool) -> None:
        """Notes how a request went; after one that failed by the host's fault the host is left alone for a while."""
        step = -1 if well else 1
        self._change += step
        self._least = max(0, self._least + step)
        self._failures = max(0, self._failures + step)
        if not well:
            first_s = max(self.delay_s, BACKOFF_FIRST_SECONDS)
            self.leave_s = min(first_s * 2.0 ** (self._failures - 1), BACKOFF_LONGEST_SECONDS)

    def pause_s(self) -> float:
        """Returns the seconds until the next request may start; 0: now."""
        paced_s = 0.0 if self._last_start is None else self._last_start + self.delay_s - _now()
        return max(0.0, paced_s, self.leave_s)

    @property
    def free(self) -> bool:
        """Whether `start` wouldn't wait."""
        return not self._sending.locked() and not self._queued and not self.pause_s()

    async def start(self) -> None:
        """Waits until a request may be sent on this turn, and counts it as sent. `done` must follow.

        Raises:
            LeftAloneError: The host wants to be left alone for longer than PATIENCE_SECONDS.
        """
        self._queued += 1
        try:
            await self._sending.acquire()
        finally:
            self._queued -= 1
        try:
            while pause := self.pause_s():
                self._check_left_alone()
                await asyncio.sleep(pause)
        except BaseException:
            self._sending.release()
            raise
        self.sent()

    def sent(self) -> None:
        """Counts the request as sent now."""
        self._last_start = _now()

    def took_s(self) -> float:
        """Returns how long ago the last request was sent; 0 when none was."""
        return 0.0 if self._last_start is None else _now() - self._last_start

    @property
    def slow(self) -> bool:
        """Whether nothing can be sent for a while: an answer or a pause takes longer than SLOW_SECONDS."""
        return self.pause_s() > SLOW_SECONDS or (self._sending.locked() and self.took_s() > SLOW_SECONDS)

    def came_late(self, seconds: float) -> None:
        """Counts the last request as sent so much later: the host may have got it only then."""
        if self._last_start is not None and seconds > 0:
            self._last_start += seconds

    def done(self) -> None:
        """Lets the next request of this turn start."""
        self._sending.release()

    def release(self) -> TurnRelease:
        """Gives the turn up; returns what the frontier must know of it."""
        self.released = True
        return self._told(self.turn)

    def news(self) -> TurnRelease:
        """Returns how the host is, while the turn is kept."""
        return self._told(NO_TURN)

    def _told(self, turn: int) -> TurnRelease:
        since_start_ms = -1 if self._last_start is None else int((_now() - self._last_start) * 1000)
        told = TurnRelease(self.host, turn, since_start_ms, int(self.leave_s * 1000), self._change, self._least)
        self._change = self._least = 0
        return told

    def _check_left_alone(self) -> None:
        if self.leave_s > PATIENCE_SECONDS:
            raise LeftAloneError(self.host, self.leave_s)


def _now() -> float:
    return asyncio.get_running_loop().time()
