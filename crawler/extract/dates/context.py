"""What decides between the meanings of a date: the time zone of its site, the language of its page, and today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.extract.dates.vocabulary import TABLES

if TYPE_CHECKING:
    from datetime import date, datetime
    from zoneinfo import ZoneInfo

YEAR_FIRST = frozenset({"zh", "ja", "ko"})  # languages that write dates in numbers so, be the year left out
_DAY_FIRST, _DAY_FIRST_ENGLISH, _MONTH_FIRST_REGIONS, _DAY_FIRST_ZONES, _MONTH_FIRST_ZONES = (
    tuple(TABLES[key].split())
    for key in (
        "day_first_languages", "day_first_english", "month_first_regions", "day_first_zones", "month_first_zones",
    )
)  # fmt: skip


class UnclearDateError(ValueError):
    """A text has a date that can't be told for sure."""


@dataclass(frozen=True, slots=True)
class DateContext:
    """What is known about a date beside its text.

    Attributes:
        zone: Time zone of the site.
        language: BCP 47 tag of the page; empty for none.
        now: The moment to which relative dates refer.
    """

    zone: ZoneInfo
    language: str
    now: datetime

    @property
    def primary(self) -> str:
        """The language without its region, in small letters."""
        return self._subtags[0]

    @property
    def today(self) -> date:
        """The day where the site is."""
        return self.now.astimezone(self.zone).date()

    @property
    def is_thai(self) -> bool:
        """Whether years may be Buddhist."""
        return self.primary == "th" or self.zone.key == "Asia/Bangkok"

    @property
    def is_persian(self) -> bool:
        """Whether years may be of the Persian calendar."""
        return self.primary == "fa" or self.zone.key == "Asia/Tehran"

    @property
    def day_first(self) -> bool | None:
        """Whether 03/04 is in April; None if that isn't known, or if language and zone disagree."""
        votes = {self._order_of_language(), self._order_of_zone()} - {None}
        return votes.pop() if len(votes) == 1 else None

    @property
    def _subtags(self) -> list[str]:
        return self.language.lower().replace("_", "-").split("-")

    def _order_of_language(self) -> bool | None:
        primary, *regions = self._subtags
        if any(region in _MONTH_FIRST_REGIONS for region in regions):
            return False if primary == "en" else None
        if primary == "en":
            return True if any(region in _DAY_FIRST_ENGLISH for region in regions) else None
        return True if primary in _DAY_FIRST else None

    def _order_of_zone(self) -> bool | None:
        if self.zone.key.startswith(_MONTH_FIRST_ZONES):
            return False
        return True if self.zone.key.startswith(_DAY_FIRST_ZONES) else None
