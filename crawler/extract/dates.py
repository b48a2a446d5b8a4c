"""Dates as people write them, converted to UTC. Usual forms are tried first, a hundred times faster than guessing."""

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

_ZONE = r"(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})"
# 2026年11月3日 14:05:06, 2026-11-3 14:05, 2026/11/03, 2026.11.3 下午2:05, 2026년 11월 3일 14시 5분; other text may
# stand before ("发表于 ").
_YEAR_FIRST = re.compile(
    r"(?<!\d)(?P<year>\d{4})\s?[年년/.-]\s?(?P<month>\d{1,2})\s?[月월/.-]\s?(?P<day>\d{1,2})(?!\d)\s?[日일]?"
    r"(?:[\sT,]*(?:[(\uff08]?(?:星期|周)?.[)\uff09]|(?:星期|周).)?"
    r"\s*(?P<half>上午|下午|晚上|凌晨|中午|午前|午後|오전|오후)?\s*(?P<hour>\d{1,2})\s?(?::(?=\s?\d{2})|[时時点시])"
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
        r"(?:[^\W\d_]{2,12}\.?,?\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:de\s+|of\s+)?"
        rf"(?P<month>[^\W\d_]{{3,10}})\.?,?\s+(?:de\s+|del\s+)?(?P<year>\d{{4}}){_TIME}"
    ),
    re.compile(
        r"(?:[^\W\d_]{2,12}\.?,?\s+)?"
        rf"(?P<month>[^\W\d_]{{3,10}})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}}){_TIME}"
    ),
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jän janvier janv enero ene janeiro gennaio gen января янв",
            "february feb februar février févr febrero fevereiro fev febbraio febb февраля фев",
            "march mar märz mrz mars marzo março марта мар",
            "april apr avril avr abril abr aprile апреля апр",
            "may mai mayo maio maggio mag мая май",
            "june jun juni juin junio junho giugno giu июня июн",
            "july jul juli juillet juil julio julho luglio lug июля июл",
            "august aug août agosto ago августа авг",
            "september sep sept septembre septiembre setembro set settembre сентября сен сент",
            "october oct oktober okt octobre octubre outubro out ottobre ott октября окт",
            "november nov novembre noviembre novembro ноября ноя нояб",
            "december dec dezember dez décembre déc diciembre dic dezembro dicembre декабря дек",
        ),
        start=1,
    )
    for name in names.split()
}
_AGO = re.compile(
    r"(?P<count>\d{1,3}|an?)\s*(?P<unit>second|minute|hour|day|week|秒|分钟|分鐘|小时|小時|天|周)s?\s*(?:ago|钟?前)"
)
_UNITS = {
    **dict.fromkeys(("second", "秒"), "seconds"),
    **dict.fromkeys(("minute", "分钟", "分鐘"), "minutes"),
    **dict.fromkeys(("hour", "小时", "小時"), "hours"),
    **dict.fromkeys(("day", "天"), "days"),
    **dict.fromkeys(("week", "周"), "weeks"),
}
_NEAR_DAY = re.compile(
    r"(?P<day>today|yesterday|今天|昨天|前天)(?:,| at)?\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?:\s*(?P<suffix>[ap]m))?"
)
_DAYS_AGO = {"today": 0, "今天": 0, "yesterday": 1, "昨天": 1, "前天": 2}
_WITHOUT_YEAR = re.compile(r"(?<![\d年])\d{1,2}\s?月\s?\d{1,2}\s?日")  # as many forums write this year
_EPOCH = re.compile(r"\d{9,13}(?:\.\d+)?")
_MAIL = re.compile(r"(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})?(?: (?:[+-]\d{4}|GMT|UTC))?")
_NOON, _MIDNIGHT, _MINUTES = 12, 24, 60
# By the word for a half of the day: hours to add to an hour below 12, and the hour that 12 itself becomes.
_HALVES = {
    **dict.fromkeys(("上午", "凌晨", "午前", "오전", "am"), (0, 0)),
    **dict.fromkeys(("中午", "下午", "午後", "오후", "pm"), (_NOON, _NOON)),
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
        _named_month,
        _ago,
        _near_day(zone),
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
    return _moment(match, int(match["month"]), match["half"] or "") if match else None


def _named_month(text: str) -> datetime | None:
    match = next(filter(None, (form.fullmatch(text) for form in _NAMED_MONTHS)), None)
    month = _MONTHS.get(match["month"].lower()) if match else None
    return _moment(match, month) if match and month else None


def _moment(match: re.Match[str], month: int, half: str = "") -> datetime | None:
    """Returns the moment that a match tells in its groups; None if there is no such time of day."""
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    hour = _hour_of_day(hour, half or match["suffix"])
    if hour > _MIDNIGHT or max(minute, second) >= _MINUTES:
        return None
    zone = match["zone"]
    moment = datetime(int(match["year"]), month, int(match["day"]), tzinfo=_offset(zone) if zone else None)
    return moment + timedelta(hours=hour, minutes=minute, seconds=second)  # 24:00 is the next day


def _hour_of_day(hour: int, half: str | None) -> int:
    """Returns an hour of 24, given one of 12 with the word for the half of the day, or one of 24 without."""
    if not half or hour > _NOON:
        return hour
    below, at_twelve = _HALVES[half.lower().replace(".", "")]
    return at_twelve if hour == _NOON else hour + below


def _ago(text: str) -> datetime | None:
    match = _AGO.fullmatch(text.lower())
    if not match:
        return None
    count = int(match["count"]) if match["count"].isdecimal() else 1
    return datetime.now(UTC) - timedelta(**{_UNITS[match["unit"]]: count})


def _near_day(zone: ZoneInfo) -> Callable[[str], datetime | None]:
    """Reads a time of day today or shortly before."""

    def read(text: str) -> datetime | None:
        match = _NEAR_DAY.fullmatch(text.lower())
        if not match:
            return None
        day = datetime.now(zone) - timedelta(days=_DAYS_AGO[match["day"]])
        hour = _hour_of_day(int(match["hour"]), match["suffix"])
        return day.replace(hour=hour, minute=int(match["minute"]), second=0, tzinfo=None)

    return read


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
