"""Writes `crawler/extract/dates/cldr_names.json`: what Unicode's CLDR calls months, weekdays and units of time.

`python -m testbed.cldr_names` takes it from Babel. The crawler reads the file instead of Babel, whose locales would
take 26 MB of memory and 0.2 s in each process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from babel import Locale
from babel.localedata import load

from crawler.extract.dates.vocabulary import AGO, SINCE, spelt

FILE = Path(__file__).parent.parent / "crawler" / "extract" / "dates" / "cldr_names.json"
# Regions have names of their own in some languages.
LOCALES = (
    "en de de_AT fr es es_PE pt pt_PT it nl pl ru uk tr id vi th hi ar ar_DZ ar_MA ar_SY fa cs hr sv zh zh_Hant ja ko "
    "el hu"
).split()
NUMBERED = ("zh", "ja", "ko")  # languages whose months and weekdays are numbers or marks
CALENDARS = {
    "months": ("months", "wide"),
    "short_months": ("months", "abbreviated"),
    "weekdays": ("days", "wide"),
    "short_weekdays": ("days", "abbreviated"),
}
UNITS = ("second", "minute", "hour", "day", "week", "month", "year")
ONE_ALONE = ("ru", "uk", "pl", "cs", "hr", "ar")  # languages in which `hour ago` is one hour ago


def cldr_names() -> str:
    """Returns the names as JSON, by language and kind: a kind a line."""
    kinds: dict[str, dict[str, list[list[str]]]] = {}
    for tag in LOCALES:
        names = _unit_names(tag) | ({} if tag[:2] in NUMBERED else _calendar_names(tag))
        for kind, lists in kinds.setdefault(tag[:2], names).items():
            lists[:] = [sorted({*own, *more}) for own, more in zip(lists, names[kind], strict=True)]
    return json.dumps(kinds, ensure_ascii=False, indent=None).replace("]], ", "]],\n").replace("}, ", "},\n") + "\n"


def _calendar_names(tag: str) -> dict[str, list[list[str]]]:
    """Returns the names of months from January and of weekdays from Monday, as they stand in a date and alone."""
    names = {}
    for kind, (calendar, width) in CALENDARS.items():
        contexts = getattr(Locale.parse(tag), calendar)
        tables = [contexts[context][width] for context in ("format", "stand-alone")]
        names[kind] = [[spelt(table[number]).removeprefix("วัน") for table in tables] for number in sorted(tables[0])]
    return names


def _unit_names(tag: str) -> dict[str, list[list[str]]]:
    """Returns the names of units from the second: as they are counted, and those of one or two without a number."""
    fields = load(tag)["date_fields"]
    names: dict[str, list[list[str]]] = {kind: [[] for _ in UNITS] for kind in ("units", "short_units", "one", "two")}
    for place, unit in enumerate(UNITS):
        for category, pattern in fields[unit]["past"].items():
            name = _without_marks(pattern)
            names["units" if "{0}" in pattern else category][place].append(name)
            if category == "one" and tag[:2] in ONE_ALONE:
                names["one"][place] += name, name.partition("_")[0]
        brief = map(_without_marks, fields.get(f"{unit}-short", {}).get("past", {}).values())
        names["short_units"][place] += (name for name in brief if len(name) > 1)  # one letter has several meanings
    return names


def _without_marks(pattern: str) -> str:
    """Returns the unit in a pattern of CLDR such as `{0} hours ago`."""
    name = spelt(pattern.replace("{0}", ""))
    for mark in sorted(SINCE, key=len, reverse=True):
        name = name.removeprefix(f"{mark}_")
    for mark in sorted(AGO, key=len, reverse=True):
        name = name.removesuffix(mark)
    return name.strip("_.")


def main() -> int:
    """Writes the file."""
    FILE.write_text(cldr_names(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
