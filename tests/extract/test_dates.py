"""Dates as people write them become UTC, and nothing else does."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml

from crawler.extract.dates import Day, cldr_names, to_utc, vocabulary

SHANGHAI = ZoneInfo("Asia/Shanghai")
TABLE = yaml.safe_load(Path(__file__).with_name("dates.yaml").read_text(encoding="utf-8"))
TABLE_NOW = datetime(2026, 11, 10, 4, tzinfo=UTC)
MIN_RIGHT_SHARE = 0.95  # of the table; the others are empty
MIN_NOTATIONS, LANGUAGES = 900, 23


def test_notations_of_many_languages_are_read_right_or_not_at_all():
    read = [
        (text, moment, to_utc(text, ZoneInfo(zone), language=language, now=TABLE_NOW) or "")
        for language, zone, text, moment in TABLE
    ]
    assert len(read) >= MIN_NOTATIONS
    assert len({language[:2] for language, *_ in TABLE if language}) == LANGUAGES
    assert [(text, moment, found) for text, moment, found in read if found not in (moment, "")] == []
    assert sum(found == moment for _, moment, found in read) >= MIN_RIGHT_SHARE * len(read)


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
        "Tuesday, November 3rd, 2026 at 2:05 p.m.",
        "Nov 3, 2026, 14:05",
        "Dienstag, 3. November 2026, 14:05 Uhr",
        "le 3 novembre 2026 à 14h05",
        "3 de noviembre de 2026, 14:05",
        "3 novembre 2026 alle 14:05",
        "3 ноября 2026 г. в 14:05",
        "2026년 11월 3일 14시 5분",
        "2026년 11월 3일 (화) 오후 2:05",
        "2026年11月3日(火) 14時05分",
        "2026年11月3日 午後2時5分",
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
        ("2026年11月3日14時", "2026-11-03T06:00:00Z"),
        ("Nov 3, 2026", "2026-11-02T16:00:00Z"),
        ("3. Mai 2026 12:05 AM", "2026-05-02T16:05:00Z"),
    ],
)
def test_days_without_a_time_and_halves_of_days(written, utc):
    assert to_utc(written, SHANGHAI) == utc


def test_a_pattern_decides_what_is_ambiguous():
    assert to_utc("03.11.2026 14:05", SHANGHAI, "%d.%m.%Y %H:%M") == "2026-11-03T06:05:00Z"
    assert to_utc("11.03.2026 14:05", SHANGHAI, "%m.%d.%Y %H:%M") == "2026-11-03T06:05:00Z"


def test_a_date_of_another_form_than_the_pattern_is_read_as_without_it():
    assert type(to_utc("2026-11-03", SHANGHAI, "%d/%m/%Y %H:%M")) is Day
    assert type(to_utc("2026/11/03 00:00", SHANGHAI, "%d/%m/%Y")) is str
    assert type(to_utc("03/11/2026 0000", SHANGHAI, "%d/%m/%Y %H%M")) is str
    assert type(to_utc("03/11/2026", SHANGHAI, "%d/%m/%Y")) is Day


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
    ("written", "unit"),
    [("vor 5 Minuten", "minute"), ("3 days, 2 hours ago", "hour"), ("yesterday, 14:05", None), ("2w ago", "week"),
     ("för 3 dagar sedan", "day"), ("před 2 lety", "year")],
)  # fmt: skip
def test_a_length_of_time_ago_is_a_guess_with_the_unit_that_was_counted(written, unit):
    assert getattr(to_utc(written, SHANGHAI), "unit", None) == unit


@pytest.mark.parametrize("written", ["Marvel 3 2026", "Decision 12, 2026", "3 Augsburg 2026", "31 November 2026"])
def test_a_word_that_is_no_month_makes_no_date(written):
    assert to_utc(written, SHANGHAI) is None


@pytest.mark.parametrize(
    "written",
    ["", "  ", "foo", "5", "2026", "10:30", "page 3", "5 comments", "2026-13-45", "99999999999999999", "0", 0, -5, True,
     float("inf"), float("nan"), 10**30, "0001-01-01", "9999-12-31 23:59", "2026-11-03 99:99", "1" * 5_000, "\x00",
     "$(id)", "2026-02-30", "2026/11/03 24:30", "2026-11-3 24:00:01", "2026年11月3日24时30分", "3 Nov 2026 24:30",
     "kemar\u0131n"],
)  # fmt: skip
def test_anything_else_is_no_date(written):
    assert to_utc(written, SHANGHAI) is None


_NAMES = "MONTHS PERSIAN_MONTHS WEEKDAYS SHORT_WEEKDAYS UNITS COUNTED_UNITS".split()
_WORDS = "HALVES NEAR_DAYS ZONES COUNTS NOW RANGES CLOCK PART".split()
_TABLES = [*(getattr(cldr_names, name) for name in _NAMES), *(getattr(vocabulary, name) for name in _WORDS)]
# Small letters, each with what is taken for it where case is ignored.
_ALIKE = {"i": "\u0131", "s": "\u017f", "k": "\u212a", "в": "\u1c80", "д": "\u1c81", "о": "\u1c82", "с": "\u1c83"}


@pytest.mark.parametrize("around", ["{}", "3 {} 2026 2:05", "3 {} ago", "vor {} день"])
def test_a_word_in_unusual_letters_and_blanks_makes_a_date_or_none(around):
    for word in {word for table in _TABLES for word in table}:
        for written in {word, word.upper(), *(word.replace(one, other) for one, other in _ALIKE.items())}:
            for blank in (" ", "\t", "\xa0") if "_" in written else ("_",):
                to_utc(around.format(written.replace("_", blank)), SHANGHAI)


def test_any_blank_may_stand_within_a_word_of_several_parts():
    assert to_utc("hari\tini", SHANGHAI) == to_utc("hari ini", SHANGHAI) is not None
    assert to_utc("3 de noviembre de 2026, 2:05 de\tla\ttarde", SHANGHAI) == "2026-11-03T06:05:00Z"


@pytest.mark.parametrize(
    ("language", "zone", "day"),
    [
        ("en-US", "UTC", "2026-03-04"),
        ("en-GB", "UTC", "2026-04-03"),
        ("de", "UTC", "2026-04-03"),
        ("", "Europe/Berlin", "2026-04-03"),
        ("en", "America/New_York", "2026-03-04"),
        ("en-US", "Europe/London", None),
        ("en", "UTC", None),
        ("", "UTC", None),
    ],
)
def test_day_or_month_first_is_known_by_language_and_zone_or_not_at_all(language, zone, day):
    found = to_utc("03/04/2026 12:00", ZoneInfo(zone), language=language)
    assert (found and found[:10]) == day


@pytest.mark.parametrize(
    "written",
    ["Monday, November 3, 2026", "Mon, 03 Nov 2026 06:05:00 GMT", "2026-11-03 (月) 14:05", "2026年11月3日 星期一 14:05",
     "Montag, 03.11.2026", "lunedì 3 novembre 2026", "30 اسفند 1404"],
)  # fmt: skip
def test_what_contradicts_itself_or_leaves_the_day_open_is_no_date(written):
    assert to_utc(written, ZoneInfo("Europe/Rome")) is None


@pytest.mark.parametrize(
    ("written", "day"),
    [("Tuesday, November 3, 2026", "2026-11-03"), ("2026-11-03 (火) 24:00", "2026-11-04"),
     ("发布时间：2026-11-03 14:05", "2026-11-03"), ("by Sun Li, 3 November 2026", "2026-11-03"),
     ("30 اسفند 1403", "2025-03-20")],
)  # fmt: skip
def test_a_weekday_and_a_leap_day_that_fit_are_read(written, day):
    assert (to_utc(written, ZoneInfo("UTC")) or "")[:10] == day


@pytest.mark.parametrize(
    ("language", "month"), [("pl", "11"), ("hr", "10"), ("hr-HR", "10"), ("", None), ("en", None), ("sl", None)]
)
def test_a_name_of_two_months_is_the_one_of_the_language(language, month):
    found = to_utc("3. listopada 2026", ZoneInfo("UTC"), language=language, now=datetime(2026, 11, 24, 12, tzinfo=UTC))
    assert (found and found[5:7]) == month


@pytest.mark.parametrize(
    ("written", "kind"),
    [("Nov 3, 2026 · 3 min read", Day), ("Issue 5, November 3, 2026", Day), ("The Morning News, Nov 3, 2026", Day),
     ("朝鲜日报 2026年11月3日", Day), ("2026年11月3日 来源：晚报", Day), ("Midi Libre, 3 novembre 2026", Day),
     ("November 1, 2026 | Updated: 14:05", type(None)),
     ("3 November 2026 at 5", type(None)), ("Nov 3, 2026 · 3h ago", type(None))],
)  # fmt: skip
def test_a_day_alone_is_one_only_where_no_time_is_told(written, kind):
    assert type(to_utc(written, ZoneInfo("UTC"))) is kind


@pytest.mark.parametrize("between", sorted(vocabulary.RANGES))
def test_a_range_of_days_is_no_date_whichever_word_it_has(between):
    for form in ("3 {} 5 November 2026", "3 Nov {} 5 Dec 2026", "3 November 2026 {} 5 December", "3.11. {} 5.11.2026"):
        written = form.format(between.replace("_", " "))
        assert to_utc(written, ZoneInfo("UTC"), language="de") is None, written
