"""What came back for a worker's requests, on its way into the hours of the crawl."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from frontier.driver import content

from crawler.base import reasons
from crawler.base.events import Events
from crawler.frontier.keys import Keys
from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.telemetry import hour_answers
from crawler.telemetry.history import HOUR
from crawler.telemetry.hour_answers import OTHERS, AnswerCounts
from crawler.worker.claiming.claiming import SeedSettled
from crawler.worker.reports import answer_counts as module
from crawler.worker.reports.answer_counts import AnswerTally, Traffic

KEYS = Keys("answers")
NOW_S = 1_800_000_000 // HOUR * HOUR
OWNER = "node-1:2:3:a"
PAGE = Traffic(1_000, 100, 0.25, 2.0)


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def tally(events):
    return AnswerTally(KEYS, events, HOUR)


@pytest.fixture
def told(redis):
    """Returns what Redis has been told in this hour."""
    redis_text = lambda by: (redis.get(KEYS.hour_answers(by, NOW_S)) or b"").decode()  # noqa: E731 -- read where it is used

    def lines(by):
        return {line.split()[0]: AnswerCounts(*map(int, line.split()[1:])) for line in redis_text(by).splitlines()}

    return lines


def test_each_request_is_counted_by_status_host_plan_and_node(redis, events, tally, told):
    tally.count("a.test", "city", "200", PAGE)
    tally.count("a.test", "city", "301", Traffic(200, 100, 0.05, 2.0))
    tally.count("b.test", "storm", "503", Traffic(10, 90, 0.1, 0))
    tally.count("b.test", "storm", reasons.TIMEOUT, Traffic(0, 90, 0, 0))
    tally.count("b.test", "storm", reasons.DNS, Traffic(0, 0, 0, 0))
    events.publish(SessionRenewed(redis, OWNER, NOW_S))
    assert told("host") == {
        "a.test": AnswerCounts(2, ok=1, redirects=1, bytes_in=1_200, bytes_out=200, answer_ms=300, delay_ms=4_000),
        "b.test": AnswerCounts(3, errors=1, timeouts=1, lost=1, bytes_in=10, bytes_out=180, answer_ms=100),
    }
    assert told("plan") == {"city": told("host")["a.test"], "storm": told("host")["b.test"]}
    assert told("node") == {"node-1": told("host")["a.test"] + told("host")["b.test"]}
    assert {name: counts.requests for name, counts in told("status").items()} == dict.fromkeys(
        ("200", "301", "503", "timeout", "dns"), 1
    )


def test_pages_that_redirect_too_often_are_counted_as_they_fail(redis, events, tally, told):
    for operation, reason in (
        ("fail", reasons.TOO_MANY_REDIRECTS),
        ("fail", reasons.TIMEOUT),
        ("retry", reasons.TIMEOUT),
    ):
        claimed = SimpleNamespace(seed=content(1))
        events.publish(SeedSettled(SimpleNamespace(operation=operation, reason=reason, claimed=claimed)))
    events.publish(SessionRenewed(redis, OWNER, NOW_S))
    assert told("status") == {"too-many-redirects": AnswerCounts(too_many_redirects=1)}
    assert told("host") == {content(1).host: AnswerCounts(too_many_redirects=1)}


def test_it_tells_now_and_then_and_as_the_session_ends(redis, events, tally, told):
    tally.count("a.test", "city", "200", PAGE)
    events.publish(SessionRenewed(redis, OWNER, NOW_S))
    tally.count("a.test", "city", "200", PAGE)
    events.publish(SessionRenewed(redis, OWNER, NOW_S + 59))
    assert told("status")["200"].requests == 1
    events.publish(SessionEnding(redis, OWNER, NOW_S + 59))
    assert told("status")["200"].requests == 2


def test_a_session_that_ends_before_it_is_renewed_tells_in_the_hour_of_its_end(redis, events, tally, told):
    tally.count("a.test", "city", "200", PAGE)
    events.publish(SessionEnding(redis, OWNER, NOW_S))
    assert told("status")["200"].requests == 1


def test_so_many_are_counted_and_so_many_told_and_the_rest_together(redis, events, tally, told, monkeypatch):
    monkeypatch.setattr(module, "MAX_COUNTED", 3)
    monkeypatch.setattr(module, "MAX_NAMES_TOLD", 1)
    for host in ("a.test", "b.test", "b.test", "c.test", "d.test", "e.test"):
        tally.count(host, "city", "200", PAGE)
    events.publish(SessionRenewed(redis, OWNER, NOW_S))
    assert {name: counts.requests for name, counts in told("host").items()} == {"b.test": 2, OTHERS: 4}
    assert told("status")["200"].requests == told("node")["node-1"].requests == 6


def test_where_nothing_is_kept_nothing_is_told(redis, events):
    tally = AnswerTally(KEYS, events, 0)
    tally.count("a.test", "city", "200", PAGE)
    events.publish(SessionRenewed(redis, OWNER, NOW_S))
    assert redis.keys() == []
    assert hour_answers.BY == ("status", "host", "plan", "node")
