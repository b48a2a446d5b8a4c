"""What goes wrong with pages, in a few lines: by host, how often and why, with an address of each to look at.

At DEBUG each page has a line of its own. At INFO the log must stay readable whatever a host does: a dead one fails as
many pages a second as a good one answers.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.base import log_events
from crawler.base.errors import short
from crawler.worker.visits.visit import FetchFailed, VisitEnded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
HOSTS_SECONDS = 60.0  # how often it is looked which hosts have failed often
MAX_HOSTS = 5  # most hosts that are told each time, the worst first
OFTEN = 10  # failures of a host, since it was last told, that earn it a line of its own
OTHERS_SECONDS = 600.0  # how often one line tells of all other failures: some pages are gone on any host
MAX_REMEMBERED_HOSTS = 10_000  # most hosts that are counted, in some 500 bytes each; all further ones count as one
FURTHER_HOSTS = "further hosts"
COUNTED = ("retry", "fail", "postpone")  # the outcomes that count; a release says nothing of the page


@dataclass(slots=True)
class HostFailures:
    """What failed at one host since it was last told of.

    Attributes:
        since_s: When the first failure was noted.
        url: Of the first failure.
        error_text: What the error of the first failure says; empty: no more than its reason.
        total: How many failures there were: the log looks at it each second, for thousands of hosts.
        reasons: How often which reason was given; together they are the total.
    """

    since_s: float
    url: str
    error_text: str
    total: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def count(self, reason: str) -> None:
        """Notes one more failure."""
        self.total += 1
        self.reasons[reason] += 1


class FailureLog:
    """Counts what goes wrong, and says so now and then: `tick` must be called about once a second."""

    def __init__(self, events: Events) -> None:
        self._hosts: dict[str, HostFailures] = {}
        self._hosts_told_s = self._others_told_s = -math.inf  # the very first failure is told at once
        events.subscribe(VisitEnded, self._visit_ended)
        events.subscribe(FetchFailed, self._fetch_failed)

    def tick(self) -> None:
        """Says what has to be said by now."""
        if not self._hosts:
            return
        now_s = time.monotonic()
        if now_s >= self._hosts_told_s + HOSTS_SECONDS and (often := self._often()):
            self._hosts_told_s = now_s
            for host in often[:MAX_HOSTS]:
                self._say(host, (self._hosts.pop(host),))
        if now_s >= self._others_told_s + OTHERS_SECONDS and (others := self._others(now_s)):
            self._others_told_s = now_s
            self._say_together(others)

    def close(self) -> None:
        """Says all that wasn't said yet."""
        for host in self._often()[:MAX_HOSTS]:
            self._say(host, (self._hosts.pop(host),))
        if self._hosts:
            self._say_together([*self._hosts])

    def _visit_ended(self, event: VisitEnded) -> None:
        visit, settlement = event.visit, event.settlement
        if settlement.operation in COUNTED:
            self._note(visit.seed.host, settlement.reason, visit.seed.url, visit.error_text)
        elif settlement.operation == "release":
            _log_each(settlement.reason, visit.seed.url, visit.error_text)

    def _fetch_failed(self, event: FetchFailed) -> None:
        self._note(event.host, f"{event.what} {event.reason}", event.url, event.error_text)

    def _note(self, host: str, reason: str, url: str, error_text: str) -> None:
        error_text = "" if reason.endswith(error_text) else error_text  # an error that says no more than its reason
        _log_each(reason, url, error_text)
        if host not in self._hosts and len(self._hosts) >= MAX_REMEMBERED_HOSTS:
            host = FURTHER_HOSTS
        if host not in self._hosts:
            self._hosts[host] = HostFailures(time.monotonic(), url, short(error_text))
        self._hosts[host].count(reason)

    def _often(self) -> list[str]:
        """Returns the hosts that have failed often, the worst first."""
        often = [host for host, failures in self._hosts.items() if failures.total >= OFTEN]
        return sorted(often, key=lambda host: -self._hosts[host].total)

    def _others(self, now_s: float) -> list[str]:
        """Returns the hosts that have failed seldom, or have waited in vain for a line of their own."""
        return [
            host
            for host, failures in self._hosts.items()
            if failures.total < OFTEN or now_s >= failures.since_s + OTHERS_SECONDS
        ]

    def _say_together(self, hosts: list[str]) -> None:
        where = hosts[0] if len(hosts) == 1 else f"{len(hosts):,} hosts"
        self._say(where, [self._hosts.pop(host) for host in hosts])

    def _say(self, where: str, failures: Sequence[HostFailures]) -> None:
        """Writes the line about one host, or several."""
        first = min(failures, key=lambda of_host: of_host.since_s)
        reasons = sum((of_host.reasons for of_host in failures), Counter())
        counted = ", ".join(f"{reason} {number:,}" for reason, number in reasons.most_common())
        total = reasons.total()
        number = f"{total:,} failure{'' if total == 1 else 's'}"
        explanation = f" ({first.error_text})" if first.error_text else ""
        seconds = max(1.0, time.monotonic() - first.since_s)  # a tick is a second
        logger.info(log_events.PAGES_FAILED, where, number, seconds, counted, first.url, explanation)


def _log_each(reason: str, url: str, error_text: str) -> None:
    logger.debug("%s: %s%s", reason, url, f" ({error_text})" if error_text else "")
