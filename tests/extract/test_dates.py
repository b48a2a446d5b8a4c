"""Dates as people write them become UTC, and nothing else does."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from crawler.extract.dates import to_utc

SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-03T06:05:00Z",
        "2026-11-03T14:05:00+08:00",
        "2026-11-03T14:05+0800",
        "2026-11-03 14:05",
        "2026-11-03 14:05:00.123",
        "2026-11-3 14:05:00",
        "2026/11/3 14:05",
        "2026/11/03 02:05 PM",
        "2026.11.3 14:05",
        "2026年11月3日 14:05",
        "2026年11月03日14时05分",
        "2026 年 11 月 3 日 下午 2:05",
        "2026年11月3日 (星期二) 14:05",
        "2026年11月3日 星期二 14:05:00",
        "发表于 2026-11-3 14:05",
        "２０２６年１１月３日 １４:０５",
        "Tue, 03 Nov 2026 06:05:00 GMT",
        "3 Nov 2026 14:05",
        "3 November 2026, at 14:05.",
        "November 3, 2026 2:05 PM",
        "06:05, 3 November 2026 (UTC)",
        1793685900,
        "1793685900",
        1793685900000,
        1793685900.5,
    ],
)
def test_one_moment_written_in_many_ways(written):
    assert to_utc(written, SHANGHAI) == "2026-11-03T06:05:00Z"


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2026-11-03", "2026-11-02T16:00:00Z"),
        ("20261103", "2026-11-02T16:00:00Z"),
        ("2026年11月3日", "2026-11-02T16:00:00Z"),
        ("2026-11-03 24:00", "2026-11-03T16:00:00Z"),
        ("2026-11-03 上午12:05", "2026-11-02T16:05:00Z"),
        ("2026-11-03 下午12:05", "2026-11-03T04:05:00Z"),
        ("2026-11-03 晚上12:05", "2026-11-03T16:05:00Z"),
        ("2026-11-03 凌晨2:05", "2026-11-02T18:05:00Z"),
    ],
)
def test_days_without_a_time_and_halves_of_days(written, utc):
    assert to_utc(written, SHANGHAI) == utc


def test_a_pattern_decides_what_is_ambiguous():
    assert to_utc("03.11.2026 14:05", SHANGHAI, "%d.%m.%Y %H:%M") == "2026-11-03T06:05:00Z"
    assert to_utc("11.03.2026 14:05", SHANGHAI, "%m.%d.%Y %H:%M") == "2026-11-03T06:05:00Z"


def test_a_date_without_a_year_is_its_last_occurrence():
    now = datetime.now(SHANGHAI)
    for days in (3, 200, 360):
        then = now - timedelta(days=days)
        found = to_utc(f"{then.month}月{then.day}日 12:00", SHANGHAI)
        assert found == f"{then:%Y-%m-%d}T04:00:00Z"


def test_relative_dates_count_from_now():
    hours = datetime.now(SHANGHAI) - datetime.fromisoformat(to_utc("3小时前", SHANGHAI))
    assert timedelta(hours=2.9) < hours < timedelta(hours=3.1)
    assert to_utc("3 hours ago", SHANGHAI) is not None


@pytest.mark.parametrize(
    "written",
    ["", "  ", "foo", "5", "2026", "10:30", "page 3", "5 comments", "2026-13-45", "99999999999999999", "0", 0, -5, True,
     float("inf"), float("nan"), 10**30, "0001-01-01", "9999-12-31 23:59", "2026-11-03 99:99", "1" * 5_000, "\x00",
     "$(id)", "2026-02-30"],
)  # fmt: skip
def test_anything_else_is_no_date(written):
    assert to_utc(written, SHANGHAI) is None
