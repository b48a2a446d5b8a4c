"""Dates in the words of twenty languages: `3 ноября 2026 г., 14:05`, `午後2:05`, `vor 3 Stunden`.

What could mean two things is no date, unless something decides for one of them: a wrong date is worse than none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.extract.dates.ago import TimeAgo, time_ago
from crawler.extract.dates.days import day_of_writing, days_in, refuse_other_weekday
from crawler.extract.dates.near import near_day
from crawler.extract.dates.notation import in_one_notation
from crawler.extract.dates.times import with_time

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.extract.dates.context import DateContext
    from crawler.extract.dates.days import WrittenDay


def read(text: str, context: DateContext) -> datetime | TimeAgo | None:
    """Returns the moment that a text tells, with its zone; midnight if it tells a day alone.

    Args:
        text: At most some hundred characters.
        context: Decides what could be read in several ways.

    Returns:
        None if the text tells no date.

    Raises:
        ValueError: The text has a date that is none, or can't be told for sure.
    """
    text = in_one_notation(text)
    days = days_in(text, context)
    if days:
        return _moment(text, days, context)
    return time_ago(text.lower(), context) or near_day(text, context)


def _moment(text: str, days: list[WrittenDay], context: DateContext) -> datetime:
    """Returns the day on which a page was written, with the time of day and the zone that stand beside it."""
    written = day_of_writing(text, days)
    blanked, marked = text, text
    for day in reversed(days):
        length = day.end - day.start
        blanked = blanked[: day.start] + " " * length + blanked[day.end :]
        marked = f"{marked[: day.start]}0{marked[day.end :]}"  # a short month could be a weekday, too
    others = [day for day in days if day.day != written.day]
    if not others:
        refuse_other_weekday(marked, written.day, context.primary)
    start = max((day.end for day in others if day.start < written.start), default=0)
    end = min((day.start for day in others if day.start > written.start), default=len(text))
    return with_time(blanked[start:end], written.day, (written.start - start, written.end - start), context)
