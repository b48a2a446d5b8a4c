"""The days in a text, with a year or without, in words or in numbers; and on which of several a page was written."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from crawler.extract.dates.calendars import PERSIAN_YEARS, full_year, gregorian
from crawler.extract.dates.cldr_names import MONTHS, PERSIAN_MONTHS, WEEKDAYS, month_of, weekday_of
from crawler.extract.dates.context import YEAR_FIRST, DateContext, UnclearDateError
from crawler.extract.dates.labels import BETWEEN, CJK_WEEKDAY, LABELS, names_any, says_only
from crawler.extract.dates.vocabulary import CHANGED, CJK_WEEKDAYS, RANGES, WORD, WRITTEN, any_of, is_cjk

if TYPE_CHECKING:
    from collections.abc import Iterator

AHEAD = timedelta(days=1)  # a page of a place where it is tomorrow
LEAP_CYCLE = 9  # years, in which each day of the year comes

_year = r"(?P<year>\d{4})(?!\d)"
_ordinal = r"(?:st|nd|rd|th|er|ère|º|ª|o|a|-?го|\.)?"
_WITH_YEAR = (
    re.compile(
        r"(?<!\d)(?<!\d[.\-/])(?:(?P<year>\d{4})\s?[年년/.\-]|(?P<short>\d{2})年)"
        r"\s?(?P<month>\d{1,2})\s?[月월/.\-]\s?(?P<day>\d{1,2})(?!\d)"
        r"\s?[日일號号]?"
    ),
    re.compile(
        rf"(?<![#\d])(?<!\d[.,:/\-])(?P<day>\d{{1,2}}){_ordinal}[\s,./\-]*(?:(?:de|of)\s+)?(?P<month>{WORD})[.,]*[\s./\-]*"
        rf"(?:(?:de|del|of|năm|พ\.ศ\.|ค\.ศ\.)\s*)?,?\s*(?:{_year}|(?:(?<=-)|')(?P<short>\d{{2}})(?!\d)"
        r"|(?<=\s)(?P<shorter>\d{2})(?=\s*(?:$|,|\d{1,2}:)))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<month>{WORD})\.?,?[\s\-]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])[\s,\-]*(?:of\s+|de\s+|năm\s+)?{_year}",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<!\d)(?P<year>\d{{4}}),?[\s./\-]+(?P<month>{WORD})\.?[\s./\-]+(?P<day>\d{{1,2}})(?![\d:])"),
)
_NUMERIC = re.compile(
    r"(?<!\d)(?<!\d[./\-:])(?P<a>\d{1,2})\s?(?P<mark>[./\-])(?P<blank>\s?)(?P<b>\d{1,2})\s?(?P=mark)(?:(?P=blank)|\s(?=\d{4}))"
    r"(?P<c>\d{4}|\d(?=\s+\d{1,2}:\d{2})|\d{2}(?!\s?(?:[:h時时點点시]|Uhr)))(?![\d/\-])(?!\.\d)"
)
# What follows a day without a year must not be a number that could be one.
_WITHOUT_YEAR = (
    re.compile(r"(?<![\d年년])(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})(?!\d)\s?[日일號号]?"),
    re.compile(
        rf"(?<![#\d])(?<!\d[.,:/\-])(?P<day>\d{{1,2}}){_ordinal}[\s,./\-]*(?:(?:de|of)\s+)?(?P<month>{WORD})\.?"
        r"(?=\s*(?:$|[,|·(\-]|(?:\S{1,6}\s+)?\d{1,2}[:h.]))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<month>{WORD})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
        r"(?=\s*(?:$|[,|·(\-](?!\s*\d{2,}(?!:))|(?:\S{1,6}\s+)?\d{1,2}:))",
        re.IGNORECASE,
    ),
)
_CHINESE_MONTH_DAY = re.compile(r"\D{0,30}?(?P<a>\d{2})-(?P<b>\d{2})")  # and nothing behind
_NUMERIC_DAY = re.compile(
    r"(?P<label>\D{0,30}?)(?P<a>\d{1,2})(?P<mark>[./\-])(?P<b>\d{1,2})(?:\.|(?=\D))(?=,?\s+\d{1,2}:\d{2})"
)
_range = any_of(RANGES)
_RANGE_BEFORE = re.compile(
    rf"(?:\d\.?\s?[-\u2013\u2014~/&]"
    rf"|(?<![\d:])\d{{1,2}}{_ordinal}(?:\s+(?:(?:de|of)\s+)?(?P<month>{WORD})(?!\w)\.?)??\s*(?:{_range}))\s*$",
    re.IGNORECASE,
)
# What follows could be a time, which is none from one day to another.
_RANGE_BEHIND = re.compile(
    rf"\s*(?:{_range})\s*(?:\d{{1,2}}(?!\s?[\d:hH時时點点시])(?!\.\d\d(?!\d))(?!\s?(?:Uhr|giờ|[ap]m)\b)|\d{{4}}\s?[./年년\-]"
    rf"|(?P<month>{WORD})\.?\s+\d{{1,2}}(?!\s?[\d:]))",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(rf"{WORD}\s*$")
_SEPARATORS = " \t\xa0.,|()-·"
_word = re.compile(WORD)


@dataclass(frozen=True, slots=True)
class WrittenDay:
    """A day and where it stands in the text."""

    start: int
    end: int
    day: date


def days_in(text: str, context: DateContext) -> list[WrittenDay]:
    """Returns the days in a text, in their order: those with a year, and only if there are none, those without.

    Raises:
        ValueError: A day is none, can't be told for sure, or is one end of a range of days.
    """
    for find in (_with_year, _in_numbers, _without_year):
        days = list(find(text, context))
        if days:
            return sorted(days, key=lambda written: written.start)
    return []


def _with_year(text: str, context: DateContext) -> Iterator[WrittenDay]:
    for form in _WITH_YEAR:
        for match in form.finditer(text):
            groups = match.groupdict()
            short = groups.get("short") or groups.get("shorter")
            name = match["month"].lower().rstrip(".")
            if short and name.isdecimal() and context.primary != "zh":
                raise UnclearDateError  # in Japanese it may be of an era
            is_thai = context.is_thai if name.isdecimal() else "\u0e00" < name < "\u0e7f"
            year = full_year(int(short), context, is_thai=is_thai) if short else int(match["year"])
            is_persian = name in PERSIAN_MONTHS or (name.isdecimal() and context.is_persian)
            month = _month(name, context) or (PERSIAN_MONTHS.get(name) if year in PERSIAN_YEARS else None)
            if month:
                _refuse_range(match)
                day = gregorian(year, month, int(match["day"]), is_thai=is_thai, is_persian=is_persian)
                yield WrittenDay(match.start(), match.end(), day)


def _month(written: str, context: DateContext) -> int | None:
    return int(written) if written.isdecimal() else month_of(written, context.primary)


def _refuse_range(match: re.Match[str]) -> None:
    text = match.string
    beside = _RANGE_BEFORE.search(text[: match.start()]), _RANGE_BEHIND.match(text[match.end() :])
    if any(end and (not end["month"] or is_month(end["month"])) for end in beside):
        raise UnclearDateError


def is_month(name: str) -> bool:
    """Returns whether a word is a month in any language."""
    return name.lower() in MONTHS or name in PERSIAN_MONTHS


def _in_numbers(text: str, context: DateContext) -> Iterator[WrittenDay]:
    """Yields days such as `03/11/2026` or `3.11.26`, in the order that the context decides."""
    for match in _NUMERIC.finditer(text):
        _refuse_range(match)
        yield WrittenDay(match.start(), match.end(), _by_order(match, context))


def _by_order(match: re.Match[str], context: DateContext) -> date:
    """Returns the day of three numbers; of two digits for the year, it may be the first one, too."""
    is_short, has_two_digits = len(match["c"]) <= 2, len(match["a"]) == 2  # noqa: PLR2004 -- digits
    year_last = [day for order in ("cba", "cab") if (day := _day_of(match, order, context))]
    year_first = _day_of(match, "abc", context) if is_short and has_two_digits else None
    if is_short and has_two_digits and context.primary in YEAR_FIRST:
        day, others = year_first, year_last
    elif context.day_first is None and (is_short or len({*year_last}) > 1):
        raise UnclearDateError
    else:
        day = year_last[0 if context.day_first else -1] if year_last else None
        others = [year_first] if year_first else []
        if len(match["c"]) == 1:
            raise UnclearDateError
    is_version = is_short and match["mark"] == "." and _is_version(match, context)
    if day is None or is_version or (is_short and any(other.year > day.year for other in others)):
        raise UnclearDateError
    return day


def _day_of(match: re.Match[str], order: str, context: DateContext) -> date | None:
    """Returns the day of numbers in an order of year, month and day; None if there is no such day."""
    year, month, day = (int(match[name]) for name in order)
    with suppress(ValueError):
        if len(match[order[0]]) <= 2:  # noqa: PLR2004 -- digits
            return date(full_year(year, context, is_thai=context.is_thai), month, day)
        return gregorian(year, month, day, is_thai=context.is_thai, is_persian=context.is_persian)
    return None


def _is_version(match: re.Match[str], context: DateContext) -> bool:
    """Returns whether `3.11.26` is rather a version: in English, or behind the name of something."""
    before = _LAST_WORD.search(match.string[: match.start()])
    name = before[0] if before and before[0][0].isupper() else ""
    return context.primary == "en" or not says_only(name, LABELS | BETWEEN, context.primary)


def _without_year(text: str, context: DateContext) -> Iterator[WrittenDay]:
    """Yields the days of the first form that there is, each as the last one of its kind."""
    for form in _WITHOUT_YEAR:
        named = [(match, _month(match["month"].lower().rstrip("."), context)) for match in form.finditer(text)]
        for match, month in named:
            if month:
                _refuse_range(match)
                yield WrittenDay(match.start(), match.end(), _last(month, int(match["day"]), context))
        if any(month for _, month in named):
            return
    numeric = (context.primary == "zh" and _CHINESE_MONTH_DAY.fullmatch(text)) or _NUMERIC_DAY.match(text)
    if not numeric:
        return
    if not says_only(text[: numeric.start("a")], LABELS, context.primary):
        raise UnclearDateError  # "page 3/4", "v1.2"
    if context.primary not in YEAR_FIRST and context.day_first is None:
        raise UnclearDateError
    is_day_first = context.primary not in YEAR_FIRST and context.day_first
    month, day = (int(numeric[name]) for name in ("ba" if is_day_first else "ab"))
    yield WrittenDay(numeric.start("a"), numeric.end(), _last(month, day, context))


def _last(month: int, day: int, context: DateContext) -> date:
    """Returns the last such day, up to a day ahead because of time zones."""
    latest = context.today + AHEAD
    for year in range(latest.year, latest.year - LEAP_CYCLE, -1):
        with suppress(ValueError):
            if date(year, month, day) <= latest:
                return date(year, month, day)
    raise UnclearDateError


def day_of_writing(text: str, days: list[WrittenDay]) -> WrittenDay:
    """Returns the day on which a page was written, if the text has others.

    Raises:
        UnclearDateError: Nothing says which of them it is.
    """
    ends = [0, *(written.end for written in days)]
    before = [text[end : written.start] for end, written in zip(ends, days, strict=False)]
    behind = text[days[-1].end :]
    is_labelled_behind = _is_label(behind) and not _is_label(before[0])  # `3 Nov 2026 (created), 5 Nov 2026 (changed)`
    labels = [*before[1:], behind] if is_labelled_behind else before
    unchanged = [written for written, label in zip(days, labels, strict=True) if not names_any(label, CHANGED)]
    labelled = [written for written, label in zip(days, labels, strict=True) if names_any(label, WRITTEN)]
    # `2026年11月1日公開 2026年11月3日`
    is_open = len(days) > 1 and is_cjk(before[1]) and not _is_label(before[0] + behind)
    for candidates in (days, unchanged, labelled):
        if len({written.day for written in candidates}) == 1 and (candidates is days or not is_open):
            return candidates[0]
    raise UnclearDateError


def _is_label(text: str) -> bool:
    return names_any(text, CHANGED | WRITTEN)


def refuse_other_weekday(text: str, day: date, language: str = "") -> None:
    """Raises an error if a text names the days of a week, and none of them is the day's.

    Args:
        text: What stands around the day, which has a digit in its place.
        day: The day.
        language: The page's, without its region: it has short names of its own.

    Raises:
        UnclearDateError: Either the day or its weekday is wrong.
    """
    text = text.lower()
    named = {_weekday(match, language) for match in _word.finditer(text)} - {None}
    if not text.isascii():
        named |= {CJK_WEEKDAYS[mark[mark.lastgroup or ""]] for mark in CJK_WEEKDAY.finditer(text)}
    if named and day.weekday() not in named:
        raise UnclearDateError


def _weekday(match: re.Match[str], language: str) -> int | None:
    """Returns which weekday a word is; a short name is one only beside a day: "by Sun Li" names an author."""
    number = weekday_of(match[0], language)
    if number is None or number == WEEKDAYS.get(match[0]):
        return number
    before, behind = match.string[: match.start()].rstrip(_SEPARATORS), match.string[match.end() :].lstrip(_SEPARATORS)
    following = _word.match(behind)
    is_beside = not behind or behind[0].isdigit() or before[-1:].isdigit() or (following and is_month(following[0]))
    return number if is_beside else None
