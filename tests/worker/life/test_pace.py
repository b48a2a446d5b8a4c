"""Pages start no faster than the CPU has room for that others leave."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest

from crawler.worker.life import pace
from crawler.worker.life.load import Load
from crawler.worker.life.pace import Pace

LIMIT_PERCENT = 90.0
TICK_SECONDS = 0.01


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def sampled(clock, load, pages_per_second):
    """Returns a pace that has seen a load and so many pages for long enough."""
    pace = Pace(LIMIT_PERCENT)
    for _ in range(100):
        for _ in range(pages_per_second):
            pace.ended()
        clock.now += 1.0
        pace.sample(load)
    return pace


def starts(pace, clock, load, seconds, workers=1):
    """Returns when pages started of which there are always more, but 64 at once at most."""
    started_at, until = [], clock.now + seconds
    while clock.now < until:
        for _ in range(64):
            if pace.wait_s():
                break
            pace.starts(load, workers)
            started_at.append(clock.now)
        clock.now += TICK_SECONDS
    return started_at


@pytest.mark.parametrize(
    ("others_percent", "workers", "expected"),
    [
        (0, 1, 9.0),  # a page a second costs 10 %
        (30, 1, 6.0),
        (30, 2, 3.0),
        (88, 1, 0.2),
        (95, 1, 0.2),  # a crawl goes on
    ],
)
def test_pages_start_as_fast_as_what_others_leave_has_room_for(clock, others_percent, workers, expected):
    load = Load(cpu=others_percent + 40, own_cpu=40)
    started_at = starts(sampled(clock, load, pages_per_second=4), clock, load, 100, workers)
    assert len(started_at) == pytest.approx(100 * expected, rel=0.05, abs=2)


def test_a_pause_saves_no_more_than_a_second_s_pages(clock):
    load = Load(cpu=40, own_cpu=40)
    pace = sampled(clock, load, pages_per_second=4)
    clock.now += 60
    assert 9 <= len(starts(pace, clock, load, TICK_SECONDS)) <= 11


def test_what_a_start_costs_is_no_page_s(clock):
    pace = Pace(LIMIT_PERCENT)
    pace.sample(Load(own_cpu=100))
    pace.starts(Load(cpu=100, own_cpu=100), 1)
    assert pace.wait_s() == 0.0
    for _ in range(50):
        pace.ended()
    clock.now += 1.0
    pace.sample(Load(own_cpu=10))
    assert len(starts(pace, clock, Load(cpu=10, own_cpu=10), 1)) > 400


def test_a_node_with_more_pages_than_it_may_crawl_settles_at_its_limit(clock):
    pace, others_percent, page_percent_s = Pace(LIMIT_PERCENT), 60.0, 2.0
    load, queued, shares = Load(), 0.0, []
    for _ in range(120):
        began = clock.now
        queued += len(starts(pace, clock, load, 1.0)[:64])
        done = min(queued, (100 - others_percent) / page_percent_s)
        queued -= done
        for _ in range(round(done)):
            pace.ended()
        newest = Load(cpu=others_percent + done * page_percent_s, own_cpu=done * page_percent_s)
        load = load.smoothed(newest)
        pace.sample(newest)
        shares.append(newest.cpu)
        assert clock.now > began
    assert sum(shares[-60:]) / 60 == pytest.approx(LIMIT_PERCENT, abs=3)
    assert all(abs(after - before) < 20 for before, after in pairwise(shares[-60:]))
