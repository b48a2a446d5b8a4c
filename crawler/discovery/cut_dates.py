"""Dates within a longer text or in an attribute, as a rule of a site file reads them: cut out, and by a format.

`See timeline at 02/21/24 12:05:17` can be read in two ways; of several pages, one mostly tells which.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from crawler.extract.dates import to_utc

if TYPE_CHECKING:
    from collections.abc import Sequence

_BEFORE_CLOCK = (" ", ", ", " - ", " at ", "T")
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm]\b)?"  # the half of the day with it: without, 3:05 PM is at night
_CLOCK = rf"(?:(?:{'|'.join(_BEFORE_CLOCK)}){_TIME})?(?:Z| ?UTC| ?[+-]\d{{2}}:?\d{{2}})?"
# What is cut out, by RE2 and by Python alike.
PATTERNS = (
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{_CLOCK}",
    rf"\d{{1,2}}[/.-]\d{{1,2}}[/.-](?:\d{{4}}|\d{{2}}){_CLOCK}",
    rf"[A-Z][a-z]+ \d{{1,2}}, \d{{4}}{_CLOCK}",
    rf"\d{{1,2}} [A-Z][a-z]+ \d{{4}}{_CLOCK}",
)
_DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y")
_HOURS = (("%H", ""), ("%I", " %p"), ("%I", "%p"))  # of the whole day, and of its halves
_TIMES = (
    "",
    *(
        f"{before}{hour}:%M{seconds}{half}"
        for before in _BEFORE_CLOCK
        for seconds in ("", ":%S")
        for hour, half in _HOURS
    ),
)
_in_figures = re.compile(rf"\d{{1,2}}([/-])\d{{1,2}}\1(?:\d{{4}}|\d{{2}})(?:,? {_TIME})?").fullmatch
_UTC = ZoneInfo("UTC")


def rule_of(texts: Sequence[str], language: str) -> dict[str, str] | None:
    """Returns the `pattern` and the `format`, where they are needed, by which a date is read in all texts.

    Where day and month are figures, most texts can be read in two ways, but all of them together only in one.

    Args:
        texts: Of one element on several pages, or in several comments.
        language: BCP 47 tag of the pages.

    Returns:
        None if some text has no date, or dates that could be read in two ways.
    """
    written = [" ".join(text.split()) for text in texts]
    formats = _formats_of(written) if written and all(map(_in_figures, written)) else []
    if len(formats) == 1:
        return {"format": formats[0]}
    if all(to_utc(text, _UTC, language=language) for text in texts):
        return {}
    for pattern in PATTERNS:
        found = [re.search(pattern, text) for text in texts]
        dates = [match[0] for match in found if match]
        if len(dates) < len(texts):
            continue
        if all(to_utc(date, _UTC, language=language) for date in dates):
            return {"pattern": f"({pattern})"}
        formats = _formats_of(dates)
        if len(formats) == 1:
            return {"pattern": f"({pattern})", "format": formats[0]}
    return None


def has_date(written: str) -> bool:
    """Returns whether a text has a date in figures, or with the name of a month, in it."""
    return any(re.search(form, written) for form in PATTERNS)


def _formats_of(dates: Sequence[str]) -> list[str]:
    """Returns the formats by which all of some dates can be read; their separator is that of the first one."""
    separator = re.sub(r"\d", "", dates[0])[:1]
    forms = [day.replace("/", separator) + clock for day in _DAYS for clock in _TIMES]
    return [form for form in forms if all(_reads(date, form) for date in dates)]


def _reads(date: str, form: str) -> bool:
    try:
        return datetime.strptime(date, form).year > 0  # noqa: DTZ007 -- only whether it can be read
    except ValueError:
        return False
