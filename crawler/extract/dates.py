"""Dates as sites write them, converted to UTC: those for programs, usual forms by one pattern each, then any words."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from crawler.extract import written_dates
from crawler.extract.date_words import HALVES, MONTHS, SHORT_WEEKDAYS, UNITS, WEEKDAYS

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

MAX_DATE_CHARACTERS = 100  # a longer text is no date, and looking for one takes time for each word
YEARS = range(1970, 2100)  # any other year is an unset field or a page number
# How many parts of a second an epoch counts, by its digits at most: 12 of ms are of 1973 to 2001.
EPOCH_PARTS = {11: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}

# 2026年11月3日 14:05:06, 2026-11-3 14:05, 2026/11/03, 2026.11.3 下午2:05, 2026년 11월 3일 14시 5분;
# but for a label before, nothing beside.
_ZONE = r"(?:(?P<zone>Z|UTC|GMT|\+\d{2}:?\d{2})(?!\s?[+\d-]))"  # a minus may mean a range of hours
_YEAR_FIRST = re.compile(
    r"(?:(?:发布|发表|發表|發佈|投稿|公開|작성|등록|[Pp]ublished|[Pp]osted)?"
    r"\s?(?:于|於|时间|時間|日期|日時?|일시?|on|at)?\s?[:\uff1a]?\s*)"
    r"(?P<year>\d{4})\s?[年년/.-]\s?(?P<month>\d{1,2})\s?[月월/.-]\s?(?P<day>\d{1,2})(?!\d)\s?[日일]?"
    r"(?:[\sT,]*(?:[(\uff08]?(?:星期|周)?.[)\uff09]|(?:星期|周).)?"
    r"\s*(?P<half>上午|下午|午前|午後|오전|오후)?\s*(?P<hour>\d{1,2})\s?(?::(?=\s?\d{2})|[时時点點시])"
    r"\s?(?:(?P<minute>\d{1,2})(?!\d)\s?[分분]?)?(?::?(?P<second>\d{2})[秒초]?)?"
    rf"(?:\.\d+)?\s*(?P<suffix>[AaPp][Mm])?\s*{_ZONE}?)?",
)
# Tuesday, November 3, 2026 2:05 PM; 3. November 2026, 14:05 Uhr; le 3 novembre 2026 à 14h05; 3 de noviembre de 2026;
# and nothing else beside. \u0433 is short for the Russian word for year.
_TIME = (
    r"(?:\s?\u0433\.?)?(?:,?\s*(?:at|um|à|às|a las|alle|в)?"
    r"\s*(?P<hour>\d{1,2})\s?[:h]\s?(?P<minute>\d{2})(?::(?P<second>\d{2}))?"
    rf"\s*(?P<suffix>[AaPp]\.?[Mm]\b)?(?:\s?Uhr)?\s*{_ZONE}?)?\.?"
)
_NAMED_MONTHS = (
    re.compile(
        r"(?:(?P<weekday>[^\W\d_]{2,12})\.?,?\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:de\s+|of\s+)?"
        rf"(?P<month>[^\W\d_]{{3,10}})\.?,?\s+(?:de\s+|del\s+)?(?P<year>\d{{4}}){_TIME}"
    ),
    re.compile(
        r"(?:(?P<weekday>[^\W\d_]{2,12})\.?,?\s+)?"
        rf"(?P<month>[^\W\d_]{{3,10}})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}}){_TIME}"
    ),
)
_WEEKDAYS = WEEKDAYS.keys() | SHORT_WEEKDAYS["en"].keys()
# A day and a T or a space before the time: Python takes any character there, a zone's sign too.
_ISO = re.compile(r"\d{4}-?(?:\d{2}-?\d{2}|W\d{2}-?\d)(?:[T ]\d.*)?")
_HOUR_RANGE = re.compile(r" \d{2}:\d{2}-\d{2}:\d{2}$")  # 2026-11-03 09:00-10:00
_ISO_DAY_WITH_ZONE = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2})(?P<zone>Z|[+-]\d{2}:\d{2})")  # as XML Schema has it
_TOGETHER = re.compile(r"(?P<day>(?:19|20)\d{2}[01]\d[0-3]\d)(?P<time>[0-2]\d[0-5]\d(?:[0-5]\d)?)")
_EPOCH = re.compile(r"(?:\d{9,13}|\d{16}|\d{19})(?:\.\d+)?")
_ASP_NET = re.compile(r"\\?/Date\((?P<milliseconds>-?\d{1,14})(?:[+-]\d{4})?\)\\?/")  # its zone is for show
# The usual ones; others are read as words.
_AGO = re.compile(
    r"(?P<count>\d{1,3})\s?(?:(?P<cjk>秒|分钟?|小时|時間|天|분|시간)\s?[前전]|(?P<unit>second|minute|hour|day)s? ago)"
)
_MAIL = re.compile(r"(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})?(?: (?:[+-]\d{4}|GMT|UTC))?")
# What tells a time of day, where a date turns out to be at midnight.
_TIME_OF_DAY = re.compile(r"\d\s?[:hH时時点點시]|\d{9}|T\d\d|[ap]\.?m\b|, midnight$", re.IGNORECASE)
_SHIFT = timedelta(seconds=1)  # of the present, by which a relative date shows itself


class Day(str):
    """An instant of which only the day is known: it is the start of that day in the time zone of its page."""

    __slots__ = ()


class Guess(str):
    """An instant that may be some hours off, or days: it was told relative to the present."""

    __slots__ = ()


def to_utc(
    value: str | float, zone: ZoneInfo, pattern: str = "", *, language: str = "", now: datetime | None = None
) -> str | None:
    """Returns a date as UTC ISO 8601, `2026-11-03T06:05:06Z`.

    Args:
        value: A date as written, or an epoch in s, ms, us or ns.
        zone: Time zone of a date that names none.
        pattern: strptime format that is tried first; empty for none.
        language: BCP 47 tag of the page, which with the zone decides between day and month; empty if it names none.
        now: To which relative dates refer, with a zone; None for the present.

    Returns:
        None if the value is no date, one that could be read in two ways, or one outside `YEARS`. A `Day` if it tells no
        time of day, a `Guess` if it tells how long ago it was.
    """
    text = str(value).strip()
    if not text or len(text) > MAX_DATE_CHARACTERS:
        return None
    now = now or datetime.now(UTC)

    def evidence() -> written_dates.Evidence:
        return written_dates.Evidence(zone, language, now)

    def by_pattern(text: str) -> datetime | None:
        return datetime.strptime(text, pattern) if pattern else None  # noqa: DTZ007 -- the zone is added below

    def ago(text: str) -> datetime | None:
        match = _AGO.fullmatch(text)
        return now - int(match["count"]) * UNITS[match["cjk"] or match["unit"]] if match else None

    def in_words(text: str) -> datetime | None:
        return written_dates.read(text, evidence())

    for read in (by_pattern, _by_iso, _by_number, _year_first, ago, _by_mail, _named_month, in_words):
        try:
            moment = read(text)
            if moment is None:
                continue
            is_relative = read is ago or (read is in_words and _is_relative(text, moment, evidence()))
            known = Guess if is_relative else _known(moment, text, pattern if read is by_pattern else "")
            moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
            moment = moment.astimezone(UTC)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
        if moment.year in YEARS:
            return known(moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return None


def _is_relative(text: str, moment: datetime, evidence: written_dates.Evidence) -> bool:
    """Returns whether a date in words moves with the present: `3 hours ago` does, `yesterday, 14:05` does not."""
    later = replace(evidence, now=evidence.now + _SHIFT)
    return written_dates.read(text, later) == moment + _SHIFT


def _known(moment: datetime, text: str, pattern: str) -> type[str]:
    """Returns `Day` for a moment whose text tells no time of day.

    Args:
        pattern: strptime format in which it was read; empty for none.
    """
    is_midnight = moment.hour == moment.minute == moment.second == 0
    if not is_midnight or _TIME_OF_DAY.search(text) or any(part in pattern for part in ("%H", "%I", "%X", "%c")):
        return str
    return Day


def _by_number(text: str) -> datetime | None:
    """Reads an epoch, ASP.NET's `/Date(...)/`, and a day and its time written together, `20261103140500`."""
    if match := _ASP_NET.fullmatch(text):
        return datetime.fromtimestamp(int(match["milliseconds"]) / 1_000, UTC)
    if not _EPOCH.fullmatch(text) and not _TOGETHER.fullmatch(text):
        return None
    if match := _TOGETHER.fullmatch(text):  # as an epoch, it would be in 1976 or after 2100
        return datetime.fromisoformat(f"{match['day']}T{match['time']}")
    digits = len(text.partition(".")[0])
    parts = next(parts for digits_max, parts in EPOCH_PARTS.items() if digits <= digits_max)
    return datetime.fromtimestamp(float(text) / parts, UTC)


def _by_iso(text: str) -> datetime | None:
    if _ISO.fullmatch(text) and not _HOUR_RANGE.search(text):
        return datetime.fromisoformat(text)
    match = _ISO_DAY_WITH_ZONE.fullmatch(text)
    return datetime.fromisoformat(f"{match['day']}T00:00{match['zone']}") if match else None


def _year_first(text: str) -> datetime | None:
    match = _YEAR_FIRST.fullmatch(text)
    return _moment(match, int(match["month"]), match["half"] or "") if match else None


def _named_month(text: str) -> datetime | None:
    match = next(filter(None, (form.fullmatch(text) for form in _NAMED_MONTHS)), None)
    if not match or (match["weekday"] and match["weekday"].lower() not in _WEEKDAYS):
        return None
    month = MONTHS.get(match["month"].lower())
    return _moment(match, month) if month else None


def _moment(match: re.Match[str], month: int, half: str = "") -> datetime:
    """Returns the moment that a match tells in its groups."""
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    half = (half or match["suffix"] or "").lower().replace(".", "")
    passed = written_dates.time_of_day(hour, minute, second, HALVES[half] if half else None)
    zone = match["zone"]
    moment = datetime(int(match["year"]), month, int(match["day"]), tzinfo=_offset(zone) if zone else None)
    written_dates.refuse_other_weekday(match.string, moment)
    return moment + passed


def _by_mail(text: str) -> datetime | None:
    """Reads RFC 5322, as in HTTP headers and feeds. Anything else, the library might misread (PM as AM)."""
    if not _MAIL.fullmatch(text):
        return None
    moment = parsedate_to_datetime(text)
    written_dates.refuse_other_weekday(text, moment)
    return moment


def _offset(zone: str) -> Any:
    return UTC if zone in ("Z", "UTC", "GMT") else datetime.strptime(zone, "%z").tzinfo
