"""Names of months, weekdays and units of time by Unicode's CLDR, with spellings of sites beside them.

`cldr_names.json` has CLDR's, as `testbed/cldr_names.py` writes it: by language and kind, of months from January, of
weekdays from Monday, of units from the second.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from crawler.extract.dates.vocabulary import FOLDER, TABLES, by_word

if TYPE_CHECKING:
    from crawler.base.item import TimeUnit

LENGTHS: dict[TimeUnit, timedelta] = {
    "second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1),
    "day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30), "year": timedelta(days=365),
}  # fmt: skip
PERSIAN_MONTHS = {name: number for number, name in enumerate(TABLES["persian_months"].split(), start=1)}
_OWN_PAGES = {"cs", "hr"}  # languages whose short months are words elsewhere, as in `15 Pro 2026`
_CLDR: dict[str, dict[str, list[list[str]]]] = json.loads(FOLDER.joinpath("cldr_names.json").read_text("utf-8"))


def _cldr(kind: str) -> dict[str, dict[str, int]]:
    """Returns the places of CLDR's names of a kind, by name and language."""
    places: dict[str, dict[str, int]] = {}
    for language, kinds in _CLDR.items():
        for place, names in enumerate(kinds.get(kind, [])):
            for name in names:
                places.setdefault(name, {})[language] = place
    return places


def _units(kind: str) -> dict[str, TimeUnit]:
    return {name: [*LENGTHS][min(places.values())] for name, places in _cldr(kind).items()}


def _months() -> dict[str, dict[str, int]]:
    """Returns the number of each month, by name and language; of the language `""` where it has one meaning."""
    wide, short = _cldr("months"), _cldr("short_months")
    months = {name: {"": number} for name, number in by_word(TABLES["months"]).items()}
    for name in wide.keys() | short.keys():
        numbers = {language: place + 1 for language, place in (wide.get(name, {}) | short.get(name, {})).items()}
        if len({*numbers.values()}) == 1 and (name in wide or not numbers.keys() <= _OWN_PAGES):
            numbers[""] = min(numbers.values())
        months[name] = numbers
    return months


MONTHS = _months()
UNITS = _units("short_units") | _units("units") | by_word(TABLES["units"])
# Units that say "one" or "two" by themselves: Slavic accusatives, and Arabic's singular and dual.
COUNTED_UNITS = {
    name: (count, unit) for count, kind in enumerate(("one", "two"), start=1) for name, unit in _units(kind).items()
}
WEEKDAYS = {name: min(places.values()) for name, places in _cldr("weekdays").items()} | by_word(TABLES["weekdays"])
SHORT_WEEKDAYS = _cldr("short_weekdays")
for _language, _rows in TABLES["short_weekdays"].items():
    for _name, _number in by_word(_rows).items():
        SHORT_WEEKDAYS.setdefault(_name, {})[_language] = _number


def month_of(name: str, language: str) -> int | None:
    """Returns the number of a month; None if the name is none, or of another one in a language but the page's.

    Args:
        name: In small letters.
        language: The page's, without its region; empty if it names none.
    """
    numbers = MONTHS.get(name, {})
    return numbers.get(language) or numbers.get("")


def weekday_of(name: str, language: str) -> int | None:
    """Returns which weekday a name is, from Monday as 0; short ones are those of a language, or English."""
    name = name.removeprefix("วัน").removesuffix("ที่")  # Thai for day, and for the date behind it
    short = SHORT_WEEKDAYS.get(name, {})
    return WEEKDAYS.get(name, short.get(language, short.get("en")))
