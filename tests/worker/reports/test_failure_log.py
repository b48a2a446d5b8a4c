"""What goes wrong is told in a few lines, whatever goes wrong; a clock of the test's own moves."""

from __future__ import annotations

import logging
import re
from types import SimpleNamespace

import pytest

from crawler.base.events import Events
from crawler.config.crawl_settings import VALUES
from crawler.frontier.settlement import Settlement
from crawler.worker.reports import failure_log
from crawler.worker.reports.failure_log import FailureLog
from crawler.worker.visits.visit import FetchFailed, VisitEnded

HOUR_SECONDS = 3_600
LOGSTATS_LINES = HOUR_SECONDS // VALUES["LOGSTATS_INTERVAL"]  # Scrapy's own
OTHER_LINES = (
    105  # a worker's first and last, its statistics among them: tests/end_to_end/test_log_lines.py prints them
)
LINES_MAX = 200  # in an hour


class Worker:
    """A worker of which nothing is real but how it tells what went wrong; its clock stands until `run` moves it."""

    def __init__(self, caplog, monkeypatch):
        caplog.set_level(logging.INFO, failure_log.__name__)
        self._caplog, self.now_s = caplog, 0.0
        self.events = Events()
        monkeypatch.setattr(failure_log, "time", SimpleNamespace(monotonic=lambda: self.now_s))
        self.log = FailureLog(self.events)

    @property
    def lines(self):
        return [record.getMessage() for record in self._caplog.records]

    def fail(self, url, reason="dns", operation="retry", error_text=""):
        seed = SimpleNamespace(host=url.split("/")[2], url=url)
        settlement = Settlement(operation, SimpleNamespace(), reason=reason)
        self.events.publish(VisitEnded(SimpleNamespace(seed=seed, error_text=error_text), settlement))

    def run(self, seconds, each_second=lambda _second: None):
        for second in range(seconds):
            self.now_s += 1
            each_second(second)
            self.log.tick()


@pytest.fixture
def worker(caplog, monkeypatch):
    return Worker(caplog, monkeypatch)


def test_the_first_failure_is_told_at_once_with_its_address_and_its_error(worker):
    worker.fail("http://a.test/1", error_text="no address of a.test")
    worker.run(1)
    assert worker.lines == ["a.test: 1 failure in 1 s (dns 1), such as http://a.test/1 (no address of a.test)"]


def test_a_dead_host_is_one_line_a_minute_with_counts_by_reason(worker):
    def fail(second):
        for number in range(35):
            worker.fail(f"http://a.test/{second}-{number}", "timeout" if number < 5 else "dns")

    worker.run(1, fail)
    worker.run(60, fail)
    assert worker.lines == [
        "a.test: 35 failures in 1 s (dns 30, timeout 5), such as http://a.test/0-0",
        "a.test: 2,100 failures in 59 s (dns 1,800, timeout 300), such as http://a.test/0-0",
    ]


def test_an_hour_in_which_a_host_is_dead_and_some_pages_of_many_are_gone_stays_under_200_lines(worker):
    def fail(second):
        worker.fail(f"http://h{second % 500}.test/{second}", "http-404", "fail")
        worker.fail(f"http://dead.test/{second}")

    worker.run(HOUR_SECONDS, fail)
    worker.log.close()
    assert len(worker.lines) + LOGSTATS_LINES + OTHER_LINES <= LINES_MAX
    assert told(worker) == 2 * HOUR_SECONDS


def test_however_many_hosts_are_dead_the_lines_are_bounded(worker):
    hosts = failure_log.MAX_REMEMBERED_HOSTS + 100

    def fail(second):
        for number in range(second % 20, hosts, 20):
            worker.fail(f"http://h{number}.test/{second}")

    worker.run(300, fail)
    worker.log.close()
    assert len(worker.lines) <= 6 * failure_log.MAX_HOSTS + 3
    assert told(worker) == 300 * hosts // 20


def test_what_pages_need_counts_too_and_a_release_does_not(worker):
    worker.events.publish(FetchFailed("a.test", "robots.txt", "timeout", "http://a.test/robots.txt", ""))
    worker.events.publish(FetchFailed("b.test", "media", "http-404", "http://b.test/x.png", ""))
    worker.fail("http://c.test/1", "stopped", "release")
    worker.fail("http://c.test/2", "", "finish")
    worker.run(1)
    assert worker.lines == [
        "2 hosts: 2 failures in 1 s (robots.txt timeout 1, media http-404 1), such as http://a.test/robots.txt"
    ]


def test_each_page_is_a_line_for_debugging(worker, caplog):
    caplog.set_level(logging.DEBUG, failure_log.__name__)
    worker.fail("http://a.test/1", error_text="no address")
    worker.fail("http://a.test/2", "stopped", "release")
    assert worker.lines == ["dns: http://a.test/1 (no address)", "stopped: http://a.test/2"]


def told(worker):
    """Returns how many failures the lines tell of."""
    told = [
        re.match(r"[^:]+: ([\d,]+) failures? in \d+ s \(([^)]*)\), such as ", line).groups() for line in worker.lines
    ]
    totals = [number(total) for total, _ in told]
    assert totals == [sum(number(reason.rpartition(" ")[2]) for reason in reasons.split(", ")) for _, reasons in told]
    return sum(totals)


def number(text):
    return int(text.replace(",", ""))
