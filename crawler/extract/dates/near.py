"""Days told by their distance from today: `yesterday, 14:05`, `Friday at 14:05`."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from crawler.extract.dates.cldr_names import weekday_of
from crawler.extract.dates.labels import CJK_WEEKDAY, LABELS, says_only
from crawler.extract.dates.times import has_time, with_time
from crawler.extract.dates.vocabulary import CJK_WEEKDAYS, NEAR_DAYS, WORD, any_of, spelt

if TYPE_CHECKING:
    from crawler.extract.dates.context import DateContext

# Of small letters: to ignore case also takes letters such as the Turkish \u0131 for those of a word in the table.
_NEAR_DAY = re.compile(rf"(?<![a-z\u00c0-\u04ff\u0600-\u06ff]){any_of(NEAR_DAYS)}(?![a-z\u00c0-\u04ff\u0600-\u06ff])")


def near_day(text: str, context: DateContext) -> datetime | None:
    """Returns the moment of a text that names today, one of the two days before, or a weekday with a time of day.

    Raises:
        ValueError: It has a time that can't be told for sure.
    """
    near = [(match.span(), NEAR_DAYS[spelt(match[0])]) for match in _NEAR_DAY.finditer(text.lower())]
    if len(near) == 1:
        ((at, days),) = near
        return _moment(text, at, context.today - timedelta(days=days), context)
    weekdays = [(match.span(), CJK_WEEKDAYS[match[match.lastgroup or ""]]) for match in CJK_WEEKDAY.finditer(text)]
    names = re.finditer(WORD, text.lower())
    weekdays += [
        (name.span(), number) for name in names if (number := weekday_of(name[0], context.primary)) is not None
    ]
    if len(weekdays) != 1:
        return None
    ((at, weekday),) = weekdays
    days = (context.today.weekday() - weekday) % 7  # today's own has two meanings
    is_told = days and has_time(text)
    return _moment(text, at, context.today - timedelta(days=days), context) if is_told else None


def _moment(text: str, at: tuple[int, int], day: date, context: DateContext) -> datetime | None:
    """Returns a day with the time beside it; None if other words or numbers there could change what it says."""
    blanked = text[: at[0]] + " " * (at[1] - at[0]) + text[at[1] :]
    is_alone = says_only(blanked, LABELS, context.primary) and (has_time(blanked) or not re.search(r"\d", blanked))
    return with_time(blanked, day, at, context) if is_alone else None
