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
_CLOCK = rf"(?:(?:{'|'.join(_BEFORE_CLOCK)})\d{{1,2}}:\d{{2}}(?::\d{{2}})?)?(?:Z| ?UTC| ?[+-]\d{{2}}:?\d{{2}})?"
# What is cut out, by RE2 and by Python alike.
PATTERNS = (
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{_CLOCK}",
    rf"\d{{1,2}}[/.-]\d{{1,2}}[/.-](?:\d{{4}}|\d{{2}}){_CLOCK}",
    rf"[A-Z][a-z]+ \d{{1,2}}, \d{{4}}{_CLOCK}(?: [AP]M)?",
    rf"\d{{1,2}} [A-Z][a-z]+ \d{{4}}{_CLOCK}",
)
_DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y")
_TIMES = ("", *(f"{before}%H:%M{seconds}" for before in _BEFORE_CLOCK for seconds in ("", ":%S")))
_UTC = ZoneInfo("UTC")


def rule_of(texts: Sequence[str], language: str) -> dict[str, str] | None:
    """Returns the `pattern` and the `format`, where they are needed, by which a date is read in all texts.

    Args:
        texts: Of one element on several pages.
        language: BCP 47 tag of the pages.

    Returns:
        None if some text has no date, or dates that could be read in two ways.
    """
    if all(to_utc(text, _UTC, language=language) for text in texts):
        return {}
    for pattern in PATTERNS:
        found = [re.search(pattern, text) for text in texts]
        dates = [match[0] for match in found if match]
        if len(dates) < len(texts):
            continue
        if all(to_utc(date, _UTC, language=language) for date in dates):
            return {"pattern": f"({pattern})"}
        formats = [form for form in _formats(dates[0]) if all(_reads(date, form) for date in dates)]
        if len(formats) == 1:
            return {"pattern": f"({pattern})", "format": formats[0]}
    return None


def _formats(date: str) -> list[str]:
    separator = re.sub(r"\d", "", date)[:1]
    return [day.replace("/", separator) + clock for day in _DAYS for clock in _TIMES]


def _reads(date: str, form: str) -> bool:
    try:
        return datetime.strptime(date, form).year > 0  # noqa: DTZ007 -- only whether it can be read
    except ValueError:
        return False
