"""When plans will be done, by the pace of their sites of late; of crawls that are played by a clock of their own."""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from dataclasses import replace
from itertools import count

import pytest
from cluster.test_troubles import overview

from crawler.cluster.plan_progress import STEP_SECONDS, time_left
from crawler.frontier.ledger import Account

BEGIN_S = 1_000_000 * STEP_SECONDS
RETRY_SECONDS, TRIES_MAX = 15, 4
LAST_TRIES_SECONDS = 150  # a site's last pages may wait for their tries for so long, which its pace doesn't tell


class PlayedSite:
    """A site that is asked once in `delay_s`, in turn for search pages and for content pages.

    Args:
        searches: Each of so many `pages`, of which each has so many `results`.
        known: The share of results that are known.
        fails: The share of tries that fail.
        begins_s: From when on it is asked.
        away_s: From when to when it isn't.
        later_delay_s: From when on it has another delay, and which.
    """

    def __init__(
        self,
        delay_s,
        searches,
        results,
        *,
        pages=1,
        known=0.0,
        fails=0.0,
        begins_s=0,
        away_s=(0, 0),
        later_delay_s=None,
    ):
        self.delay_s, self.results, self.pages, self.known, self.fails = delay_s, results, pages, known, fails
        self.away_s, self.later_delay_s = range(*away_s), later_delay_s
        self.accounts = {"nav": Account(offered=searches, ready=searches), "content": Account()}
        self._due = {"nav": deque([(1, 0)] * searches), "content": deque()}  # page of its search, tries before
        self._waiting = []
        self._next_s, self._turns, self._random = begins_s, count(), random.Random(7)

    def is_done(self):
        return not any(account.ready for account in self.accounts.values())

    def play(self, now_s, counted):
        """Plays a second; what ended in it is added to `counted`."""
        if self.later_delay_s and now_s == self.later_delay_s[0]:
            self.delay_s = self.later_delay_s[1]
        while self._waiting and self._waiting[0][0] <= now_s:
            _due_s, _number, frontier, seed = heapq.heappop(self._waiting)
            self._due[frontier].append(seed)
        while self._next_s <= now_s and now_s not in self.away_s and any(self._due.values()):
            self._next_s = max(self._next_s, now_s - 1) + self.delay_s
            number = next(self._turns)
            frontiers = [frontier for frontier, seeds in self._due.items() if seeds]
            frontier = frontiers[number % len(frontiers)]
            page, tries = self._due[frontier].popleft()
            if self._random.random() >= self.fails:
                self._finish(frontier, page, counted)
            elif tries + 1 < TRIES_MAX:
                due_s = now_s + RETRY_SECONDS * 2**tries * self._random.uniform(0.75, 1.25)
                heapq.heappush(self._waiting, (due_s, number, frontier, (page, tries + 1)))
            else:
                self._end(frontier, "failed", counted)

    def _end(self, frontier, how, counted):
        account = self.accounts[frontier]
        setattr(account, how, getattr(account, how) + 1)
        account.ready -= 1
        counted[how] += 1

    def _finish(self, frontier, page, counted):
        self._end(frontier, "finished", counted)
        if frontier == "nav":
            for _ in range(self.results):
                self.accounts["content"].offered += 1
                if self._random.random() < self.known:
                    self.accounts["content"].known += 1
                else:
                    self._add("content", 0)
            if page < self.pages:
                self.accounts["nav"].offered += 1
                self._add("nav", page + 1)

    def _add(self, frontier, page):
        self.accounts[frontier].ready += 1
        self._due[frontier].append((page, 0))


def played(sites):
    """Plays a crawl; returns its seconds, and what was told at the middle of each minute: second -> time left."""
    steps, told, now_s = [], {}, 0
    while not all(site.is_done() for site in sites.values()):
        if now_s % STEP_SECONDS == 0:
            steps.append((BEGIN_S + now_s, Counter()))
        for name, site in sites.items():
            counted = Counter()
            site.play(now_s, counted)
            steps[-1][1].update({f"site:{name}:{how}": number for how, number in counted.items()})
        now_s += 1
        if now_s % STEP_SECONDS == STEP_SECONDS // 2:
            at = replace(overview(), at_ms=(BEGIN_S + now_s) * 1000)
            at.ledger.update({("p", name): site.accounts for name, site in sites.items()})
            told[now_s] = time_left(at, steps[-60:])["p"]
    return now_s, told


@pytest.mark.parametrize(
    ("sites", "slowest"),
    [
        ({"a": PlayedSite(1, 10, 20)}, "a"),
        ({"a": PlayedSite(0.5, 50, 20), "slow": PlayedSite(10, 20, 20), "c": PlayedSite(1, 50, 30)}, "slow"),
        ({"a": PlayedSite(1, 50, 40), "late": PlayedSite(2, 50, 30, begins_s=1_500)}, "late"),
        ({"a": PlayedSite(1, 50, 40, fails=0.2), "b": PlayedSite(3, 20, 40, fails=0.3)}, "b"),
        ({"a": PlayedSite(1, 20, 3, pages=20), "b": PlayedSite(5, 20, 10, pages=3)}, "b"),
        ({"a": PlayedSite(2, 400, 2, known=0.3), "b": PlayedSite(1, 10, 10)}, "a"),  # searches go on to the end
        ({"a": PlayedSite(1, 100, 20, known=0.8)}, "a"),
        ({"a": PlayedSite(120, 10, 5), "b": PlayedSite(1, 10, 20)}, "a"),
        ({"a": PlayedSite(1, 50, 40, later_delay_s=(900, 5))}, "a"),
        ({"a": PlayedSite(1, 50, 60, away_s=(1_800, 2_700))}, "a"),
        ({"a": PlayedSite(1, 50, 20), "late": PlayedSite(2, 200, 2, begins_s=900, fails=0.1)}, "late"),
    ],
)
def test_in_the_second_half_it_is_right_within_a_factor_of_two_and_names_the_site(sites, slowest):
    whole_s, told = played(sites)
    second_half = {now_s: left for now_s, left in told.items() if whole_s / 2 <= now_s < whole_s}
    for now_s, left in second_half.items():
        assert left.site == slowest
        if whole_s - now_s > LAST_TRIES_SECONDS:
            assert 0.5 < left.seconds / (whole_s - now_s) < 2, now_s
    assert second_half


def of(ledger, steps, **states):
    at = overview()
    at.ledger.update(ledger)
    at.plan_states.update(states)
    return {plan: tuple(left) for plan, left in time_left(at, steps).items()}


def waits(ready):
    return {"nav": Account(), "content": Account(ready=ready)}


STEPS = [(3_360, {"site:b:failed": 2}), (3_420, {}), (3_480, {"site:a:finished": 60, "site:b:failed": 6}), (3_540, {})]


def test_the_slowest_site_and_all_that_waits_there_count():
    ledger = {("p", "a"): waits(100), ("p", "b"): waits(10), ("q", "b"): waits(20), ("r", "a"): waits(0)}
    left = of(ledger, STEPS)
    assert left == {"p": (900.0, "b"), "q": (900.0, "b"), "r": (0.0, "")}  # b ends 6 within 180 s, and 30 wait there


def test_what_waits_for_its_next_run_is_not_waited_for():
    nav = Account(offered=3, ready=3, notes={"waiting": 3, "visits": 3})
    assert of({("p", "a"): {"nav": nav, "content": Account()}}, STEPS) == {"p": (0.0, "")}


def test_there_is_no_telling():
    ledger = {("still", "c"): waits(1), ("paused", "a"): waits(5), ("p", "a"): waits(5)}
    assert of(ledger, STEPS[2:3], paused="paused") == {"still": (None, "c"), "paused": (None, ""), "p": (5.0, "a")}
    assert of({("p", "a"): waits(5)}, STEPS[:1]) == of({("p", "a"): waits(5)}, []) == {"p": (None, "a")}
