"""Days in the calendar of their language, and years of two digits."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from crawler.extract.dates.context import UnclearDateError

if TYPE_CHECKING:
    from crawler.extract.dates.context import DateContext

MONTHS_A_YEAR = 12
BUDDHIST_YEARS, BUDDHIST_OFFSET = range(2500, 2600), 543
PERSIAN_YEARS, PERSIAN_OFFSET_DAYS = range(1340, 1500), 226_895
LONG_PERSIAN_MONTHS = 6  # those of 31 days; the others have 30, and the last 29 but in leap years


def gregorian(year: int, month: int, day: int, *, is_thai: bool, is_persian: bool) -> date:
    """Returns a day, of another calendar if it may be of that and its year shows it.

    Raises:
        ValueError: There is no such day.
    """
    if is_persian and year in PERSIAN_YEARS:
        return _from_persian(year, month, day)
    return date(year - BUDDHIST_OFFSET if is_thai and year in BUDDHIST_YEARS else year, month, day)


def full_year(short: int, context: DateContext, *, is_thai: bool) -> int:
    """Returns the last year that ends in two digits, up to the next one; of both calendars if it may be Buddhist."""
    latest = context.now.year + 1
    year = latest - (latest - short) % 100
    return max(year, latest - (latest + BUDDHIST_OFFSET - short) % 100) if is_thai else year


def _from_persian(year: int, month: int, day: int) -> date:
    """Returns a day of the Persian calendar, whose leap years repeat after 33 until 1502."""
    before = _persian_days_before(year, month)
    following = (year, month + 1) if month < MONTHS_A_YEAR else (year + 1, 1)
    if not (1 <= month <= MONTHS_A_YEAR and 1 <= day <= _persian_days_before(*following) - before):
        raise UnclearDateError
    return date.fromordinal(PERSIAN_OFFSET_DAYS + before + day - 1)


def _persian_days_before(year: int, month: int) -> int:
    leap_years = (8 * year + 21) // 33
    return 365 * (year - 1) + leap_years + 30 * (month - 1) + min(month - 1, LONG_PERSIAN_MONTHS)
