"""The log's last line on claims is true, however seldom it speaks; a clock of the test's own moves."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from crawler.worker.reports import claims_log
from crawler.worker.reports.claims_log import LASTING_SECONDS, SILENT_SECONDS, ClaimsLog

FULL = "Redis is full"


@pytest.fixture
def run(caplog, monkeypatch):
    """Returns a function that ticks for so many seconds with a state, and returns all lines until then."""
    caplog.set_level(logging.INFO, claims_log.__name__)
    now_s = 0.0
    monkeypatch.setattr(claims_log, "time", SimpleNamespace(monotonic=lambda: now_s))
    log = ClaimsLog()

    def run(why_not, seconds=1):
        nonlocal now_s
        for _ in range(seconds):
            log.tick(why_not)
            now_s += 1
        return caplog.messages

    return run


def test_an_outage_that_comes_back_soon_and_stays_is_the_last_line(run):
    assert run(FULL) + run("")[1:] == [f"nothing is claimed: {FULL}", "claims go on"]
    hours = run(FULL, 7_200)
    assert hours == [f"nothing is claimed: {FULL}", "claims go on", f"nothing is claimed: {FULL}"]


def test_what_lasts_is_said_within_its_silence_and_told_from_what_comes_and_goes(run):
    said = [f"nothing is claimed: {FULL}", "claims go on"]
    assert run(FULL) + run("", 60)[1:] == said
    assert run(FULL, int(LASTING_SECONDS)) == said
    assert run(FULL, 2) == [*said, said[0]]


def test_a_state_that_is_over_before_its_silence_is_not_said_again(run):
    run(FULL)
    run("")
    run(FULL, 10)
    assert run("", 2 * int(SILENT_SECONDS)) == [f"nothing is claimed: {FULL}", "claims go on"]


def test_a_node_at_the_edge_of_its_headroom_is_two_lines_each_ten_minutes(run):
    for _ in range(1_800):
        run("its node has no CPU left")
        lines = run("")
    assert len(lines) == 2 * 3_600 / SILENT_SECONDS


def test_what_a_sink_says_of_itself_makes_no_line_of_its_own(run):
    for number in range(int(SILENT_SECONDS)):
        lines = run(f"it waits for kafka (error {number})")
    assert lines == ["nothing is claimed: it waits for kafka (error 0)"]
