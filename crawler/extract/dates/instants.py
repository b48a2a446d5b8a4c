"""Dates as sites write them, converted to UTC: those for programs by one form each, then any words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Self

from crawler.base import crawl_time
from crawler.extract.dates import in_words
from crawler.extract.dates.ago import TimeAgo
from crawler.extract.dates.context import DateContext
from crawler.extract.dates.days import refuse_other_weekday

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from crawler.base.item import TimeUnit

MAX_DATE_CHARACTERS = 100  # a longer text is no date, and looking for one takes time for each word
YEARS = range(1970, 2100)  # any other year is an unset field or a page number
# How many parts of a second an epoch counts, by its digits at most: 12 of ms are of 1973 to 2001.
EPOCH_PARTS = {11: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}

# A day and a T or a space before the time: Python takes any character there, a zone's sign too.
_ISO = re.compile(r"\d{4}-?(?:\d{2}-?\d{2}|W\d{2}-?\d)(?:[T ]\d.*)?")
_HOUR_RANGE = re.compile(r" \d{2}:\d{2}-\d{2}:\d{2}$")  # 2026-11-03 09:00-10:00
_ISO_DAY_WITH_ZONE = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2})(?P<zone>Z|[+-]\d{2}:\d{2})")  # as XML Schema has it
_TOGETHER = re.compile(r"(?P<day>(?:19|20)\d{2}[01]\d[0-3]\d)(?P<time>[0-2]\d[0-5]\d(?:[0-5]\d)?)")
_EPOCH = re.compile(r"(?:\d{9,13}|\d{16}|\d{19})(?:\.\d+)?")
_ASP_NET = re.compile(r"\\?/Date\((?P<milliseconds>-?\d{1,14})(?:[+-]\d{4})?\)\\?/")  # its zone is for show
_MAIL = re.compile(r"(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})?(?: (?:[+-]\d{4}|GMT|UTC))?")
# What tells a time of day, where a date turns out to be at midnight.
_TIME_OF_DAY = re.compile(r"\d\s?[:hH时時点點시]|\d{9}|T\d\d|[ap]\.?m\b|, midnight$", re.IGNORECASE)


class Day(str):
    """An instant of which only the day is known: it is the start of that day in the time zone of its page."""

    __slots__ = ()


class Guess(str):
    """An instant that may be some hours off, or days: it was told by how long ago it was.

    Attributes:
        unit: The smallest unit that was counted.
    """

    __slots__ = ("unit",)

    unit: TimeUnit

    def __new__(cls, instant: str, unit: TimeUnit = "day") -> Self:
        """Returns an instant, counted in a unit."""
        guess = super().__new__(cls, instant)
        guess.unit = unit
        return guess


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
    context = DateContext(zone, language, now or crawl_time.now())

    def by_pattern(text: str) -> datetime | None:
        return datetime.strptime(text, pattern) if pattern else None  # noqa: DTZ007 -- the zone is added below

    def by_words(text: str) -> datetime | TimeAgo | None:
        return in_words.read(text, context)

    for read in (by_pattern, _by_iso, _by_number, _by_mail, by_words):
        try:
            reading = read(text)
            if reading is None:
                continue
            moment = reading.moment if isinstance(reading, TimeAgo) else reading
            has_time = _has_time(moment, text, pattern if read is by_pattern else "")
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
        if moment.year in YEARS:
            instant = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
            if isinstance(reading, TimeAgo):
                return Guess(instant, reading.unit)
            return instant if has_time else Day(instant)
    return None


def _has_time(moment: datetime, text: str, pattern: str) -> bool:
    """Returns whether a text tells a time of day.

    Args:
        moment: What was read of it.
        text: As written.
        pattern: strptime format in which it was read; empty for none.
    """
    is_midnight = moment.hour == moment.minute == moment.second == 0
    return (
        not is_midnight
        or _TIME_OF_DAY.search(text) is not None
        or any(part in pattern for part in ("%H", "%I", "%X", "%c"))
    )


def _by_number(text: str) -> datetime | None:
    """Reads an epoch, ASP.NET's `/Date(...)/`, and a day and its time written together, `20261103140500`."""
    if match := _ASP_NET.fullmatch(text):
        return datetime.fromtimestamp(int(match["milliseconds"]) / 1_000, UTC)
    if match := _TOGETHER.fullmatch(text):  # as an epoch, it would be in 1976 or after 2100
        return datetime.fromisoformat(f"{match['day']}T{match['time']}")
    if not _EPOCH.fullmatch(text):
        return None
    digits = len(text.partition(".")[0])
    parts = next(parts for digits_max, parts in EPOCH_PARTS.items() if digits <= digits_max)
    return datetime.fromtimestamp(float(text) / parts, UTC)


def _by_iso(text: str) -> datetime | None:
    if _ISO.fullmatch(text) and not _HOUR_RANGE.search(text):
        return datetime.fromisoformat(text)
    match = _ISO_DAY_WITH_ZONE.fullmatch(text)
    return datetime.fromisoformat(f"{match['day']}T00:00{match['zone']}") if match else None


def _by_mail(text: str) -> datetime | None:
    """Reads RFC 5322, as in HTTP headers and feeds. Anything else, the library might misread (PM as AM)."""
    if not _MAIL.fullmatch(text):
        return None
    moment = parsedate_to_datetime(text)
    refuse_other_weekday(text, moment)
    return moment
