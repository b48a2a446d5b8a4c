"""What came back for this worker's requests since it last told: it goes into the hours of the whole crawl."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from crawler.base import reasons
from crawler.frontier.owners import owner_node
from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.telemetry import hour_answers
from crawler.telemetry.hour_answers import NOTHING, OTHERS, AnswerCounts, busiest
from crawler.worker.claiming.claiming import SeedSettled
from crawler.worker.visits.outcomes import BAD_ANSWERS, NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

    from crawler.base.events import Events
    from crawler.frontier.keys import Keys
    from crawler.telemetry.hour_answers import By

TELL_SECONDS = 60  # how often it is told, which takes Redis some 2 ms: for 200 nodes 0.7 % of a core
MAX_NAMES_TOLD = 50  # most hosts, plans and statuses that are told each time, the busiest; the rest together
MAX_COUNTED = 10_000  # most hosts by plan and answer that are counted until then, in some 4 MB
TIMEOUTS = frozenset({reasons.TIMEOUT, reasons.PAGE_TIMEOUT})
UNANSWERED = NO_ANSWER | BAD_ANSWERS | TIMEOUTS | {reasons.TOO_LARGE}  # reasons of requests without a whole answer
_CLASSES = {"2": "ok", "3": "redirects", "4": "refused", "5": "errors"}


class Traffic(NamedTuple):
    """What one request cost.

    Attributes:
        bytes_in: Of what came.
        bytes_out: Of what was sent.
        answer_s: How long the answer took to begin; 0: none came.
        delay_s: The pause that its host is given before the next.
    """

    bytes_in: int
    bytes_out: int
    answer_s: float
    delay_s: float


class AnswerTally:
    """Counts on the event loop, and tells after a renewal of the session, in the session's thread.

    Args:
        kept_s: STATS_HOURS in seconds; 0: nothing is kept.
    """

    def __init__(self, keys: Keys, events: Events, kept_s: int) -> None:
        self._keys = keys
        self._kept_s = kept_s
        self._lock = threading.Lock()
        # By host, plan and what came: requests, bytes in and out, and ms of answers and delays.
        self._counts: dict[tuple[str, str, str], list[float]] = {}
        self._told_s = 0  # when it was told last, by the partitions' clocks
        if kept_s:
            events.subscribe(SeedSettled, self._settled)
            events.subscribe(SessionRenewed, lambda event: self._renewed(event.redis, event.name, event.now_s))
            events.subscribe(SessionEnding, lambda event: self._tell(event.redis, event.name, event.now_s))

    def count(self, host: str, plan: str, came: str, traffic: Traffic) -> None:
        """Counts a request.

        Args:
            came: The status of its answer, or the reason why there is none.
        """
        self._add((host, plan, came), 1, *traffic)

    def _settled(self, event: SeedSettled) -> None:
        """Counts a page that redirected too often: its requests were counted as they were answered."""
        if event.settlement.operation == "fail" and event.settlement.reason == reasons.TOO_MANY_REDIRECTS:
            seed = event.settlement.claimed.seed
            self._add((seed.host, seed.plan, reasons.TOO_MANY_REDIRECTS), 1, 0, 0, 0, 0)

    def _add(self, key: tuple[str, str, str], *numbers: float) -> None:
        with self._lock:
            sums = self._counts.get(key)
            if sums is None:
                if len(self._counts) >= MAX_COUNTED:
                    key = OTHERS, OTHERS, key[2]
                sums = self._counts.setdefault(key, [0] * len(numbers))
            for place, number in enumerate(numbers):
                sums[place] += number

    def _renewed(self, redis: Redis, name: str, now_s: int) -> None:
        if now_s >= self._told_s + TELL_SECONDS:
            self._told_s = now_s
            self._tell(redis, name, now_s)

    def _tell(self, redis: Redis, owner: str, now_s: int) -> None:
        """Adds what was counted; what Redis doesn't get of it is lost. Blocking."""
        with self._lock:
            counted, self._counts = self._counts, {}
        if not counted:
            return
        sums: dict[By, dict[str, AnswerCounts]] = {"status": {}, "host": {}, "plan": {}, "node": {}}
        for (host, plan, came), numbers in counted.items():
            counts = _counts(came, numbers)
            names: dict[By, str] = {"status": came, "host": host, "plan": plan, "node": owner_node(owner)}
            for by, name in names.items():
                sums[by][name] = sums[by].get(name, NOTHING) + counts
        told = {by: busiest(names, MAX_NAMES_TOLD) for by, names in sums.items()}
        hour_answers.add(redis, self._keys, now_s, told, self._kept_s)


def _counts(came: str, numbers: Sequence[float]) -> AnswerCounts:
    """Returns what was counted of requests for which the same came."""
    times, bytes_in, bytes_out, answer_s, delay_s = numbers
    if came == reasons.TOO_MANY_REDIRECTS:
        return AnswerCounts(too_many_redirects=int(times))
    kind = "timeouts" if came in TIMEOUTS else _CLASSES.get(came[0], "lost")
    return AnswerCounts(
        requests=int(times),
        bytes_in=int(bytes_in),
        bytes_out=int(bytes_out),
        answer_ms=round(answer_s * 1000),
        delay_ms=round(delay_s * 1000),
    )._replace(**{kind: int(times)})
