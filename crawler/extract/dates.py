"""Dates as people write them, converted to UTC. Exact formats are tried first, a hundred times faster than guessing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

MAX_DATE_CHARACTERS = 100  # a longer text is no date, and guessing takes time for each word
YEARS = range(1970, 2100)  # any other year is an unset field or a page number
MILLISECONDS_FROM = 100_000_000_000  # a larger epoch counts ms; in seconds it would be the year 5138
LANGUAGES = ["zh", "en", "ja", "ko", "ru", "de", "fr", "es", "pt", "it"]

# 2026年11月3日 14:05:06, 2026-11-3 14:05, 2026/11/03, 2026.11.3 下午2:05; other text may stand before ("发表于 ")
_YEAR_FIRST = re.compile(
    r"(?<!\d)(?P<year>\d{4})\s?(?:年|[-/.])\s?(?P<month>\d{1,2})\s?(?:月|[-/.])\s?(?P<day>\d{1,2})(?!\d)\s?日?"
    r"(?:[\sT,]*(?:[(\uff08]?(?:星期|周)?.[)\uff09]|(?:星期|周).)?\s*(?P<half>上午|下午|晚上|凌晨|中午)?\s*"
    r"(?P<hour>\d{1,2})\s?[:时点]\s?(?P<minute>\d{2})?分?(?::?(?P<second>\d{2})秒?)?"
    r"(?:\.\d+)?\s*(?P<suffix>[AaPp][Mm])?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?",
)
_WITHOUT_YEAR = re.compile(r"(?<![\d年])\d{1,2}\s?月\s?\d{1,2}\s?日")  # as many forums write this year
_EPOCH = re.compile(r"\d{9,13}(?:\.\d+)?")
_MAIL = re.compile(r"(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})?(?: (?:[+-]\d{4}|GMT|UTC))?")
_NOON, _MIDNIGHT, _MINUTES = 12, 24, 60
# By the word for a half of the day: hours to add to an hour below 12, and the hour that 12 itself becomes.
_HALVES = {
    **dict.fromkeys(("上午", "凌晨", "am"), (0, 0)),
    **dict.fromkeys(("中午", "下午", "pm"), (_NOON, _NOON)),
    "晚上": (_NOON, _MIDNIGHT),
}


def to_utc(value: str | float, zone: ZoneInfo, pattern: str = "") -> str | None:
    """Returns a date as UTC ISO 8601, `2026-11-03T06:05:06Z`.

    Args:
        value: A date as written, or an epoch in s or ms.
        zone: Time zone of a date that names none.
        pattern: strptime format that is tried first; empty for none.

    Returns:
        None if the value is no date, or one outside `YEARS`.
    """
    text = str(value).strip()
    if not text or len(text) > MAX_DATE_CHARACTERS:
        return None
    for read in (
        _by_pattern(pattern),
        _by_epoch,
        datetime.fromisoformat,
        _year_first,
        _without_year,
        _by_mail,
        _guess(zone),
    ):
        try:
            moment = read(text)
            if moment is None:
                continue
            moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
            moment = moment.astimezone(UTC)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
        if moment.year in YEARS:
            return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return None


def _by_pattern(pattern: str) -> Callable[[str], datetime | None]:
    return lambda text: datetime.strptime(text, pattern) if pattern else None  # noqa: DTZ007 -- the zone is added later


def _by_epoch(text: str) -> datetime | None:
    if not _EPOCH.fullmatch(text):
        return None
    seconds = float(text)
    return datetime.fromtimestamp(seconds / 1_000 if seconds >= MILLISECONDS_FROM else seconds, UTC)


def _without_year(text: str) -> datetime | None:
    """Reads a date without a year as its last occurrence, up to a day ahead because of time zones."""
    match = _WITHOUT_YEAR.search(text)
    if not match:
        return None
    now = datetime.now()  # noqa: DTZ005 -- compared with another naive date
    moment = _year_first(f"{now.year}年{text[match.start() :]}")
    if moment and moment.replace(tzinfo=None) > now + timedelta(days=1):
        moment = moment.replace(year=now.year - 1)
    return moment


def _year_first(text: str) -> datetime | None:
    match = _YEAR_FIRST.search(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (
        int(match[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")
    )
    half = match["half"] or (match["suffix"] or "").lower()
    if half and hour <= _NOON:
        below, at_twelve = _HALVES[half]
        hour = at_twelve if hour == _NOON else hour + below
    if hour > _MIDNIGHT or max(minute, second) >= _MINUTES:
        return None
    zone = match["zone"]
    moment = datetime(year, month, day, tzinfo=_offset(zone) if zone else None)
    return moment + timedelta(hours=hour, minutes=minute, seconds=second)  # 24:00 is the next day


def _by_mail(text: str) -> datetime | None:
    """Reads RFC 5322, as in HTTP headers and feeds. Anything else, the library might misread (PM as AM)."""
    return parsedate_to_datetime(text) if _MAIL.fullmatch(text) else None


def _offset(zone: str) -> Any:
    return UTC if zone in ("Z", "UTC", "GMT") else datetime.strptime(zone, "%z").tzinfo


def _guess(zone: ZoneInfo) -> Callable[[str], datetime | None]:
    """Reads words and relative dates: `3 hours ago`, `昨天 12:30`, `5 November 2026`."""
    return lambda text: _date_parser(zone.key).get_date_data(text).date_obj


@cache
def _date_parser(zone: str) -> Any:
    from dateparser.date import DateDataParser

    settings = {"TIMEZONE": zone, "RETURN_AS_TIMEZONE_AWARE": True, "REQUIRE_PARTS": ["month", "day"]}
    settings["PREFER_DATES_FROM"] = "past"  # for a date without a year
    return DateDataParser(languages=LANGUAGES, settings=settings)
